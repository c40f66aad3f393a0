/* SPDX-License-Identifier: Apache-2.0 */
/* A grant: reports the true state of a held lock to its holder. */

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "lock/count.h"
#include "lock/heartbeat.h"
#include "lock/holds.h"
#include "lock/locks.h"
#include "lock/steps.h"

#define TO(state)        ZKR__BIT(ZKR_GRANT_##state)
#define ROW(state, next) [ZKR_GRANT_##state] = { #state, next }

/* clang-format off */
static const struct zkr__sm_state table[] = {
    [0] = { "NOT YET", TO(HELD) },
    ROW(HELD,      TO(SUSPENDED) | TO(UNSURE) | TO(LOST) | TO(RELEASED)),
    ROW(SUSPENDED, TO(HELD) | TO(UNSURE) | TO(LOST) | TO(RELEASED)),
    ROW(UNSURE,    TO(HELD) | TO(LOST) | TO(RELEASED)),
    ROW(LOST,      0),
    ROW(RELEASED,  0),
};
/* clang-format on */

static void post_locked(struct zkr_grant *g) ZKR__LOCKED
{
    if (!zkr__notice_is_due(&g->notice))
        zkr__claim_ref(zkr__grant_claim(g)); /* until it has run */
    zkr__dispatch_post_locked(zkr__grant_claim(g)->session, &g->notice);
}

void zkr__grant_tell_locked(struct zkr_grant *g, enum zkr_grant_event_kind kind)
{
    if (g->fn == NULL)
        return;
    g->events[zkr__ring_push(&g->latest)] = (struct zkr__grant_event){
        .kind = (uint8_t)kind,
        .loss = (uint8_t)zkr__loss_locked(g),
        .state = (uint8_t)g->sm.state,
    };
    post_locked(g);
}

static void run_listener(struct zkr__notice *notice)
{
    struct zkr_grant *g = ZKR__CONTAINER(notice, struct zkr_grant, notice);
    struct zkr_session *s = zkr__grant_claim(g)->session;
    struct zkr_grant_event event;
    zkr_grant_fn fn;
    void *user;
    unsigned slot;

    zkr__session_lock(s);
    fn = g->fn;
    user = g->user;
    bool any = zkr__ring_pop(&g->latest, &slot);
    if (any) {
        event.loss = (enum zkr_loss)g->events[slot].loss;
        event.kind = (enum zkr_grant_event_kind)g->events[slot].kind;
        event.state = (enum zkr_grant_state_kind)g->events[slot].state;
    }
    if (g->latest.count > 0)
        post_locked(g);
    zkr__session_unlock(s);
    if (fn != NULL && any)
        fn(g, &event, user);
    zkr__claim_unref(zkr__grant_claim(g));
}

static bool is_in_doubt(const struct zkr_grant *g)
{
    return g->sm.state == ZKR_GRANT_SUSPENDED ||
           g->sm.state == ZKR_GRANT_UNSURE;
}

/* Those that are to be asked about are in a list of their own: each of
 * thousands is answered by itself. */
static void note_doubt_locked(struct zkr_grant *g) ZKR__LOCKED
{
    struct zkr__claim *c = zkr__grant_claim(g);

    zkr__list_remove(&c->doubted);
    if (is_in_doubt(g))
        zkr__list_append(&zkr__locks_of(c->session)->doubted, &c->doubted);
}

static void move_locked(struct zkr_grant *g, enum zkr_grant_state_kind state,
                        const char *why) ZKR__LOCKED
{
    zkr__sm_move(&g->sm, (int)state, why);
    note_doubt_locked(g);
    zkr__grant_tell_locked(g, ZKR_GRANT_STATE_CHANGED);
    zkr__claim_tell_observer_locked(zkr__grant_claim(g));
}

void zkr__grant_init(struct zkr_grant *g)
{
    g->sm =
        (struct zkr__sm){ 0, table, "grant", zkr__grant_claim(g)->lock->path };
    zkr__notice_init(&g->notice, run_listener);
    zkr__release_init(g);
}

void zkr__grant_begin_locked(struct zkr_grant *g)
{
    if (zkr__grant_claim(g)->role->for_caller)
        zkr__hold_begin_locked(zkr__grant_claim(g));
    move_locked(g, ZKR_GRANT_HELD, "granted");
    zkr__grant_watch_set_later_locked(g);
    zkr__heartbeat_start_locked(zkr__grant_claim(g)->session);
}

void zkr__grant_end_locked(struct zkr_grant *g, enum zkr_grant_state_kind state)
{
    move_locked(g, state, "end");
    zkr__count_grant_locked(zkr__grant_claim(g), state);
    zkr__cond_wake(&zkr__grant_claim(g)->changed);
}

void zkr__claim_stop_holding(struct zkr__claim *c)
{
    (void)zkr__op_cancel_locked(&c->confirm);
    if (!zkr__list_empty(&c->place.ask))
        zkr__line_unask_locked(c);
    if (c->grant.own != NULL)
        zkr__grant_watch_stop_locked(&c->grant);
}

void zkr__grant_doubt_locked(struct zkr_grant *g,
                             enum zkr_grant_state_kind state, const char *why)
{
    if (g->sm.state == ZKR_GRANT_HELD ||
        (g->sm.state == ZKR_GRANT_SUSPENDED && state == ZKR_GRANT_UNSURE)) {
        move_locked(g, state, why);
        zkr__count_grant_locked(zkr__grant_claim(g), state);
        zkr__role_tell_locked(zkr__grant_claim(g), ZKR__ROLE_DOUBTED, state);
    }
}

/* Tells whether the doubt is over, and not for an instant only: answers that
 * have waited for the end of a stall prove a lease that has almost run out.
 * UNSURE ends also where all answers are that slow. */
static bool is_over_doubt(const struct zkr_grant *g,
                          const struct zkr_session *s)
{
    return is_in_doubt(g) && zkr__heartbeat_is_good(s) &&
           (g->sm.state == ZKR_GRANT_UNSURE || !zkr__heartbeat_is_late(s));
}

/* A committed write found our node, so nobody else was granted in between. */
void zkr__grant_found_locked(struct zkr_grant *g, int rc)
{
    struct zkr__claim *c = zkr__grant_claim(g);

    if (!zkr__grant_is_ours(g))
        return;
    if (rc == ZKR_OK) {
        if (is_over_doubt(g, c->session))
            move_locked(g, ZKR_GRANT_HELD, "confirmed by a committed write");
        zkr__heartbeat_good_locked(c->session);
    } else if (rc == ZKR_ZNONODE) {
        zkr__claim_lost_locked(c, ZKR_LOSS_DELETED);
    } else if (zkr__error_outcome(rc) == ZKR__DONE) {
        zkr__log(ZKR_LOG_WARNING, "cannot confirm that we hold %s: %s",
                 c->node->path, zkr_strerror(rc));
    }
}

void zkr__grant_confirmed(struct zkr__claim *c, const struct zkr__news *news)
{
    struct zkr_grant *g = &c->grant;
    int rc = news->rc;
    enum zkr__outcome outcome = zkr__error_outcome(rc);

    note_doubt_locked(g);
    if (outcome == ZKR__UNKNOWN || outcome == ZKR__NOT_DONE)
        zkr__grant_resume_locked(g); /* by another write */
    g->confirms++;
    g->confirmed = rc;
    zkr__cond_wake(&c->changed);
    zkr__grant_found_locked(g, rc);
}

void zkr__grant_resume_locked(struct zkr_grant *g)
{
    if (is_in_doubt(g))
        zkr__confirm_start_locked(zkr__grant_claim(g), ZKR__RETRY_ALWAYS);
}

int zkr__grant_check_handle(const struct zkr_grant *g)
{
    if (g == NULL)
        return zkr__fail(ZKR_EINVAL, "grant is NULL");
    return zkr__session_check(zkr__grant_claim(g)->session, "grant");
}

void zkr__grant_lock(const struct zkr_grant *g)
{
    zkr__session_lock(zkr__grant_claim(g)->session);
}

void zkr__grant_unlock(const struct zkr_grant *g)
{
    zkr__session_unlock(zkr__grant_claim(g)->session);
}

int zkr__grant_explain(struct zkr_grant *g, int rc)
{
    const struct zkr__claim *c = zkr__grant_claim(g);
    bool lost = g->sm.state == ZKR_GRANT_LOST;

    return zkr__fail(
        rc, "%s '%s', token %lld: %s%s%s", c->recipe->noun, c->lock->path,
        (long long)c->node->token,
        zkr_grant_state_name((enum zkr_grant_state_kind)g->sm.state),
        lost ? ": " : "", lost ? zkr_loss_text(zkr__loss_locked(g)) : "");
}

/* With a lease the clock decides, also for a process that was stopped. */
bool zkr__grant_is_held_locked(const struct zkr_grant *g)
{
    const struct zkr_session *s = zkr__grant_claim(g)->session;

    if (g->sm.state != ZKR_GRANT_HELD && g->sm.state != ZKR_GRANT_SUSPENDED)
        return false;
    return zkr__session_has_lease(s) ? zkr__heartbeat_is_proven_for(s, 0)
                                     : g->sm.state == ZKR_GRANT_HELD;
}

static int judge_locked(struct zkr_grant *g) ZKR__LOCKED
{
    if (zkr__grant_is_held_locked(g))
        return ZKR_OK;
    switch ((enum zkr_grant_state_kind)g->sm.state) {
    case ZKR_GRANT_HELD:
    case ZKR_GRANT_SUSPENDED:
        if (zkr__session_has_lease(zkr__grant_claim(g)->session))
            zkr__grant_doubt_locked(g, ZKR_GRANT_UNSURE,
                                    "the lease has run out");
        return zkr__grant_explain(g, ZKR_EUNSURE);
    case ZKR_GRANT_UNSURE:
        return zkr__grant_explain(g, ZKR_EUNSURE);
    case ZKR_GRANT_LOST:
        return zkr__grant_explain(g, ZKR_ELOST);
    case ZKR_GRANT_RELEASED:
        break;
    }
    return zkr__grant_explain(g, ZKR_ENOTHELD);
}

int zkr_grant_check(zkr_grant *g)
{
    int rc = zkr__grant_check_handle(g);

    if (rc != ZKR_OK)
        return rc;
    zkr__grant_lock(g);
    rc = judge_locked(g);
    zkr__grant_unlock(g);
    return rc;
}

bool zkr_grant_is_held(const zkr_grant *g)
{
    if (zkr__grant_check_handle(g) != ZKR_OK)
        return false;
    zkr__grant_lock(g);
    bool held = zkr__grant_is_held_locked(g);
    zkr__grant_unlock(g);
    return held;
}

int64_t zkr_grant_valid_until(zkr_grant *g)
{
    int64_t until = 0;

    if (zkr__grant_check_handle(g) != ZKR_OK)
        return 0;
    zkr__grant_lock(g);
    struct zkr_session *s = zkr__grant_claim(g)->session;
    if (zkr__grant_is_ours(g) && g->sm.state != ZKR_GRANT_UNSURE &&
        zkr__session_has_lease(s))
        until = zkr__lease_until(&s->lease) / ZKR__MS;
    zkr__grant_unlock(g);
    return until;
}

/* Waits for an answer to a question that was asked after the call. One that was
 * asked before it may be under way; `first` is its number. */
static int verify_unlocks(struct zkr_grant *g, int64_t deadline) ZKR__UNLOCKS
{
    struct zkr__claim *c = zkr__grant_claim(g);
    uint64_t first = g->confirms + zkr__confirm_is_under_way(c);

    for (;;) {
        if (!zkr__grant_is_ours(g))
            return judge_locked(g);
        if (g->confirms > first && g->confirmed == ZKR_OK)
            return judge_locked(g);
        if (g->confirms > first &&
            zkr__error_outcome(g->confirmed) == ZKR__DONE)
            return zkr__grant_explain(g, g->confirmed);
        zkr__confirm_start_locked(c, ZKR__RETRY_ALWAYS);
        if (!zkr__cond_wait(&c->changed, &c->session->lock, deadline))
            return zkr__reason_explain_locked(
                c->session, zkr__grant_explain(g, ZKR_EUNSURE));
    }
}

int zkr_grant_verify(zkr_grant *g, int64_t timeout_ms)
{
    int rc = zkr__grant_check_handle(g);

    if (rc != ZKR_OK)
        return rc;
    zkr__grant_lock(g);
    struct zkr_session *s = zkr__grant_claim(g)->session;
    if (zkr__dispatch_inside_locked(s))
        rc = zkr__fail(ZKR_EDEADLK, "a callback cannot wait for an answer");
    else
        rc = verify_unlocks(g, zkr__session_deadline(s, timeout_ms));
    zkr__grant_unlock(g);
    return rc;
}

enum zkr_grant_state_kind zkr_grant_state(zkr_grant *g)
{
    enum zkr_grant_state_kind state;

    if (zkr__grant_check_handle(g) != ZKR_OK)
        return ZKR_GRANT_LOST;
    zkr__grant_lock(g);
    state = (enum zkr_grant_state_kind)g->sm.state;
    zkr__grant_unlock(g);
    return state;
}

enum zkr_loss zkr_grant_loss(zkr_grant *g)
{
    if (zkr__grant_check_handle(g) != ZKR_OK)
        return ZKR_LOSS_NONE;
    zkr__grant_lock(g);
    enum zkr_loss loss = zkr__loss_locked(g);
    zkr__grant_unlock(g);
    return loss;
}

const char *zkr_grant_state_name(enum zkr_grant_state_kind state)
{
    if (state < ZKR_GRANT_HELD || state > ZKR_GRANT_RELEASED)
        return "UNKNOWN";
    return table[state].name;
}

int64_t zkr_grant_token(zkr_grant *g)
{
    return g == NULL ? 0 : zkr__grant_claim(g)->node->token;
}

uint64_t zkr_grant_handoff(zkr_grant *g)
{
    return g == NULL ? 0 : zkr__grant_claim(g)->cohort.handoff;
}

uint32_t zkr_grant_depth(zkr_grant *g)
{
    uint32_t depth;

    if (zkr__grant_check_handle(g) != ZKR_OK)
        return 0;
    zkr__grant_lock(g);
    depth = zkr__grant_claim(g)->hold.depth;
    zkr__grant_unlock(g);
    return depth;
}

const char *zkr_grant_node(zkr_grant *g)
{
    return g == NULL ? NULL
                     : zkr__grant_claim(g)->node->path +
                           strlen(zkr__grant_claim(g)->session->hosts.chroot);
}

const char *zkr_grant_record(zkr_grant *g)
{
    return g == NULL ? NULL : zkr__grant_claim(g)->node->record->data;
}

int zkr_grant_listen(zkr_grant *g, zkr_grant_fn fn, void *user)
{
    int rc = zkr__grant_check_handle(g);

    if (rc != ZKR_OK)
        return rc;
    zkr__grant_lock(g);
    bool was_due = zkr__dispatch_withdraw_unlocks(zkr__grant_claim(g)->session,
                                                  &g->notice);
    g->latest.count = 0;
    g->fn = fn;
    g->user = user;
    if (fn != NULL && g->sm.state != ZKR_GRANT_HELD)
        zkr__grant_tell_locked(g, ZKR_GRANT_STATE_CHANGED);
    if (fn != NULL && g->revoke_requested && zkr__grant_is_ours(g))
        zkr__grant_tell_locked(g, ZKR_GRANT_REVOKE_REQUESTED);
    if (fn != NULL)
        zkr__grant_watch_set_locked(g, ZKR__ZK_GET);
    zkr__grant_unlock(g);
    if (was_due)
        zkr__claim_unref(zkr__grant_claim(g));
    return ZKR_OK;
}
