/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of listeners: they must be told each change of a state, once, in
 * order.
 *
 * The judge sees each change where the library makes it, in zkr__sm_move(), and
 * notes it for the listener that is registered at that moment. A listener that
 * falls too far behind must be told of the latest only. */

#include "oracle.h"

#define REVOKE "__REVOKE__"

struct change {
    struct change *next;
    int state;
    uint64_t epoch;
    int64_t session_id;
    bool
        optional; /* the session has been closed: nobody may be there to tell */
};

struct told {
    struct told *next;
    const char *what;
    int process;
    const struct zkr__sm *sm;
    const struct attempt *attempt; /* of a grant: */
    zkr_grant *grant;
    int64_t asked_since; /* its node has the request; or 0 */
    bool asked;
    zkr_session *session;    /* or of a session: */
    const zkr_session *of;   /* through which it is told */
    zkr_listener **listener; /* NULL there: not registered yet */
    zkr_grant_fn grant_fn;
    zkr_session_fn session_fn;
    void *user;
    struct change present; /* when it was registered */
    bool begun;            /* the present state has been considered */
    struct change *due;    /* not told yet, the oldest first */
    struct change latest;  /* that has been told */
    bool behind;           /* some may have been left out */
    bool ends;
    bool ended;
};

static OF_SCHEDULE struct told *all;

static struct change change_of(const struct told *t, int state)
{
    struct change c = { .state = state, .optional = t->of->dispatch.stop };

    if (t->session != NULL) {
        c.epoch = t->session->epoch;
        c.session_id = t->session->id;
    }
    return c;
}

static void add(struct told *t, struct change c)
{
    struct change **end = &t->due;
    int count = 1;

    for (; *end != NULL; count++)
        end = &(*end)->next;
    *end = arena_new(sizeof(**end));
    **end = c;
    t->behind = t->behind || count > ZKR__RING_MAX;
}

/* The first event is the present state; of a grant, unless it is held. */
static void begin(struct told *t)
{
    if (t->begun)
        return;
    t->begun = true;
    t->present.optional = t->of->dispatch.stop;
    if (t->session != NULL || t->present.state != ZKR_GRANT_HELD)
        add(t, t->present);
}

static const char *name_of(const struct told *t, int state)
{
    return t->sm->table[state].name;
}

static bool is_same(const struct change *a, const struct change *b)
{
    return a->state == b->state && a->epoch == b->epoch &&
           a->session_id == b->session_id;
}

static void check(struct told *t, struct change c)
{
    WRONG_IF(t->ended, "process %d: a listener is told of %s after its end",
             t->process, name_of(t, c.state));
    begin(t);
    const struct change *due = t->due;
    t->latest = c;
    if (t->behind)
        return;
    WRONG_IF(due == NULL,
             "process %d: a listener is told of %s, which did not happen",
             t->process, name_of(t, c.state));
    t->due = due->next;
    WRONG_IF(!is_same(&c, due),
             "process %d: a listener is told of %s, epoch %llu, instead "
             "of %s, epoch %llu",
             t->process, name_of(t, c.state), (unsigned long long)c.epoch,
             name_of(t, due->state), (unsigned long long)due->epoch);
}

static void on_grant(zkr_grant *grant, const struct zkr_grant_event *e,
                     void *user)
{
    struct told *t = user;

    if (e->kind == ZKR_GRANT_STATE_CHANGED) {
        check(t, (struct change){ .state = (int)e->state });
    } else {
        WRONG_IF(t->ended, "process %d: a listener is asked after its end",
                 t->process);
        WRONG_IF(!oracle_was_written(t->attempt->node->path, REVOKE, 0),
                 "attempt %d is asked by nobody", t->attempt->number);
        t->asked = true;
    }
    if (t->grant_fn != NULL)
        t->grant_fn(grant, e, t->user);
}

static void on_session(zkr_session *session, const struct zkr_session_event *e,
                       void *user)
{
    struct told *t = user;

    check(t, (struct change){ .state = (int)e->state,
                              .epoch = e->epoch,
                              .session_id = e->session_id });
    if (t->session_fn != NULL)
        t->session_fn(session, e, t->user);
}

static bool is_registered(const struct told *t)
{
    if (t->grant != NULL)
        return t->grant->fn == on_grant && t->grant->user == t;
    return *t->listener != NULL;
}

WRAP(void, zkr__sm_move, (struct zkr__sm * sm, int to, const char *why))
{
    __real_zkr__sm_move(sm, to, why);
    if (strcmp(sm->what, "claim") == 0) {
        ways_taken(why);
        held_moved(ZKR__CONTAINER(sm, struct zkr__claim, sm), to);
    }
    for (struct told *t = all; t != NULL; t = t->next) {
        if (t->sm != sm || t->ended)
            continue;
        if (!is_registered(t)) {
            t->present = change_of(t, to);
            continue;
        }
        begin(t);
        add(t, change_of(t, to));
    }
}

void told_of_grant(const struct attempt *a, zkr_grant *grant, zkr_grant_fn fn,
                   void *user)
{
    struct told *t = ARENA_NEW(
        struct told, .next = all, .of = zkr__grant_claim(grant)->session,
        .process = a->process, .sm = &grant->sm, .attempt = a, .grant = grant,
        .grant_fn = fn, .user = user);

    all = t;
    t->present = change_of(t, grant->sm.state);
    WRONG_IF(zkr_grant_listen(grant, on_grant, t) != ZKR_OK,
             "process %d cannot listen to a grant", a->process);
}

void told_of_session(struct process *p, zkr_session_fn fn, void *user)
{
    zkr_session *session = p->session;
    struct told *t =
        ARENA_NEW(struct told, .next = all, .of = session, .process = p->number,
                  .sm = &session->sm, .listener = &p->listener,
                  .session = session, .session_fn = fn, .user = user);

    all = t;
    p->listener = NULL;
    t->present = change_of(t, session->sm.state);
    if (zkr_session_listen(session, on_session, t, &p->listener) != ZKR_OK)
        t->ended = true; /* no memory */
}

static bool is_of(const struct told *t, const void *object)
{
    return !t->ended && (t->grant == object || t->session == object);
}

void told_ends(const void *object)
{
    for (struct told *t = all; t != NULL; t = t->next)
        t->ends = t->ends || is_of(t, object);
}

void told_ended(const void *object)
{
    for (struct told *t = all; t != NULL; t = t->next)
        t->ended = t->ended || is_of(t, object);
}

void told_free_grant(zkr_grant *grant)
{
    told_ends(grant);
    zkr_grant_free(grant);
    told_ended(grant);
}

void told_free_listener(struct process *p)
{
    told_ends(p->session);
    zkr_listener_free(p->listener);
    told_ended(p->session);
    p->listener = NULL;
}

/* It learns of it by its node, which it watches, unless there was no memory for
 * that. */
static void judge_asked(struct told *t)
{
    const struct attempt *a = t->attempt;

    if (t->asked || world.scarce || a->grant == NULL || !is_there(a->node) ||
        strcmp(tree_data(a->node, ensemble.committed)->bytes, REVOKE) != 0)
        t->asked_since = 0;
    else if (t->asked_since == 0)
        t->asked_since = sim_now;
    else if (oracle_is_well(t->process, t->asked_since))
        world_fail("attempt %d is asked to give back, and not told", a->number);
}

static void judge(struct told *t)
{
    begin(t);
    if (t->behind) { /* it has handled the events that were left for it */
        struct change *last = t->due;

        while (last->next != NULL)
            last = last->next;
        if (is_same(&t->latest, last))
            t->due = NULL;
        t->behind = false;
    }
    WRONG_IF(t->due != NULL && !t->due->optional,
             "process %d: a listener is not told of %s", t->process,
             name_of(t, t->due->state));
    if (t->grant != NULL)
        judge_asked(t);
}

void told_quiet(void)
{
    for (struct told *t = all; t != NULL; t = t->next) {
        if (!t->ends && !t->ended && is_registered(t) &&
            !fiber_stopped[t->process])
            judge(t);
    }
}
