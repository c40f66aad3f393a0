/* SPDX-License-Identifier: Apache-2.0 */
/* The leader latch: a claim that waits without a caller, and is made again
 * after each loss.
 *
 * Nothing of it depends on the dispatcher, but for what is told to the
 * listener: the participant observes its claim under the session lock, and
 * begins the next campaign on the timer thread. */
#include <zkrecipes/leader.h>

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "lock/claim.h"
#include "lock/holds.h"
#include "lock/lockable.h"
#include "session/timer_thread.h"

struct zkr_leader {
    zkr_lockable face; /* set once, as the next three */
    const struct zkr__recipe *recipe;
    zkr_leader_fn fn; /* NULL: nobody listens */
    void *user;
    /* under the session lock */
    struct zkr__ref ref;      /* the user's, and one for each thread inside */
    struct zkr__claim *claim; /* of this campaign or term; NULL: none. A term
                                 that was lost stays until `again`. */
    struct zkr__observer observer;
    struct zkr__timer again; /* for the next campaign */
    struct zkr__cond changed;
    int error; /* how the campaign has failed; ZKR_OK: it has not */
    struct zkr__notice notice;
    struct {           /* to the listener: */
        int64_t token; /* of the term that it knows of; 0: of none */
        bool acts;     /* GAINED was the last event of it */
        bool failed;   /* the error */
    } told;
};

#define LAYOUTS (ZKR_KAZOO_LAYOUT | ZKR_SELECTOR_LAYOUT)
#define FLAGS   (ZKR_PERSISTENT_PARENTS | ZKR_KAZOO_LAYOUT)

static const char noun[] = "election";

/* Curator's LeaderLatch. */
static const struct zkr__recipe as_latch = {
    .noun = noun,
    .way = &zkr__in_a_queue,
    .marker = { [ZKR__LAYOUT_CURATOR] = ZKR__CURATOR_LATCH,
                [ZKR__LAYOUT_KAZOO] = ZKR__KAZOO_LOCK },
    .markers = ZKR__LATCH_MARKERS,
    .flags = FLAGS,
    .waits_for = zkr__nearest_any,
};

/* Curator's LeaderSelector, which campaigns by the nodes of a mutex. */
static const struct zkr__recipe as_selector = {
    .noun = noun,
    .way = &zkr__in_a_queue,
    .marker = { [ZKR__LAYOUT_CURATOR] = ZKR__CURATOR_LOCK },
    .markers = ZKR__MUTEX_MARKERS,
    .flags = FLAGS,
    .waits_for = zkr__nearest_any,
};

static const struct zkr__lockable_type election = { .noun = noun };

static int check(const zkr_leader *l)
{
    return zkr__lockable_check(l == NULL ? NULL : &l->face, &election);
}

static bool has_term(const zkr_leader *l)
{
    return l->claim != NULL && zkr__grant_is_ours(&l->claim->grant);
}

static bool is_leader_locked(const zkr_leader *l) ZKR__LOCKED
{
    return l->claim != NULL && zkr__grant_is_held_locked(&l->claim->grant);
}

static bool is_granted(const struct zkr__claim *c)
{
    return c->outcome.decided && c->outcome.rc == ZKR_OK;
}

/* Something may have to be told, or somebody may wait for it. */
static void changed_locked(zkr_leader *l) ZKR__LOCKED
{
    zkr__cond_wake(&l->changed);
    if (l->fn != NULL)
        zkr__dispatch_post_locked(l->face.session, &l->notice);
}

/* -- campaigns ------------------------------------------------------------ */

static void on_again(struct zkr__timer *timer);

/* A claim that failed has ended the campaign, because it has repeated by itself
 * what can be repeated. When a term is over the next campaign begins, but not
 * inside of this step of the claim. */
static void on_changed(struct zkr__observer *observer)
{
    zkr_leader *l = ZKR__CONTAINER(observer, zkr_leader, observer);
    struct zkr_session *s = l->face.session;
    const struct zkr__claim *c = l->claim;

    zkr__session_assert_locked(s);
    if (c->outcome.decided && c->outcome.rc != ZKR_OK)
        l->error = c->outcome.rc;
    else if (c->outcome.decided && !has_term(l) &&
             !zkr__timer_is_armed(&l->again))
        zkr__timer_thread_arm_locked(s, &l->again, zkr__clock_now(), on_again);
    changed_locked(l);
}

static int campaign_locked(zkr_leader *l) ZKR__LOCKED
{
    int rc = zkr__claim_new(l->face.lock, l->recipe, &zkr__alone, ZKR__WAIT,
                            NULL, &l->claim);

    if (rc != ZKR_OK)
        return rc;
    l->claim->observer = &l->observer;
    zkr__claim_start_locked(l->claim);
    return ZKR_OK;
}

/* The claim is not ours any more; NULL: there was none. */
static struct zkr__claim *detach_locked(zkr_leader *l) ZKR__LOCKED
{
    struct zkr__claim *c = l->claim;

    zkr__timer_thread_disarm_locked(l->face.session, &l->again);
    l->claim = NULL;
    l->error = ZKR_OK;
    if (c != NULL)
        c->observer = NULL;
    return c;
}

/* The program may have handles of the grant: they do not prolong the term. */
static void end_term_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (zkr__grant_is_ours(&c->grant)) {
        (void)zkr__hold_drop_locked(c);
        zkr__claim_release_locked(c);
    }
    zkr__grant_free_locked(&c->grant);
}

/* Gives up what it is on its way to, or has. */
static void drop_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (c == NULL)
        return;
    zkr__claim_give_up_locked(c, ZKR_ECANCELED, "left");
    if (is_granted(c))
        end_term_locked(c);
    else
        zkr__claim_unref(c);
}

static void begin_again_locked(zkr_leader *l) ZKR__LOCKED
{
    int rc = l->face.session->over;

    drop_locked(detach_locked(l));
    if (rc == ZKR_OK)
        rc = campaign_locked(l);
    if (rc != ZKR_OK)
        l->error = rc;
    changed_locked(l);
}

static void on_again(struct zkr__timer *timer)
{
    zkr_leader *l = ZKR__CONTAINER(timer, zkr_leader, again);

    zkr__session_assert_locked(l->face.session);
    begin_again_locked(l);
}

/* Other threads that pass by do the same, because the timer thread ends with
 * the session. */
static void go_on_locked(zkr_leader *l) ZKR__LOCKED
{
    if (zkr__timer_is_armed(&l->again))
        begin_again_locked(l);
}

int zkr_leader_campaign(zkr_leader *l)
{
    int rc = check(l);

    if (rc != ZKR_OK)
        return rc;
    struct zkr_session *s = l->face.session;
    zkr__session_lock(s);
    if (s->over != 0) {
        rc = zkr__fail(s->over, "%s '%s': the session is %s", noun,
                       l->face.lock->path, zkr__sm_name(&s->sm));
    } else if (l->claim == NULL || l->error != ZKR_OK) {
        drop_locked(detach_locked(l));
        l->told.failed = false;
        rc = campaign_locked(l);
    }
    zkr__session_unlock(s);
    return rc;
}

/* Of a term, the node is gone when it returns, if it waits. */
static int leave(zkr_leader *l, bool waits)
{
    struct zkr__claim *c = NULL;
    int rc = check(l);

    if (rc != ZKR_OK)
        return rc;
    struct zkr_session *s = l->face.session;
    zkr__session_lock(s);
    if (!waits || !has_term(l))
        drop_locked(detach_locked(l));
    else if (zkr__dispatch_inside_locked(s))
        rc = zkr__fail(ZKR_EDEADLK, "a callback cannot wait for a release");
    else
        c = detach_locked(l);
    changed_locked(l);
    zkr__session_unlock(s);
    if (c != NULL) {
        rc = zkr_grant_release(&c->grant);
        zkr_grant_free(&c->grant);
    }
    return rc;
}

int zkr_leader_leave(zkr_leader *l)
{
    return leave(l, true);
}

int zkr_leader_leave_async(zkr_leader *l)
{
    return leave(l, false);
}

/* -- what it tells -------------------------------------------------------- */

static void free_leader(struct zkr__ref *ref)
{
    zkr_leader *l = ZKR__CONTAINER(ref, zkr_leader, ref);
    struct zkr__lock *lock = l->face.lock;

    free(l);
    zkr__lock_unref(lock);
}

/* The sentence of the error, for this thread. */
static int explain_locked(const zkr_leader *l) ZKR__LOCKED
{
    if (l->claim != NULL && l->claim->outcome.rc == l->error)
        zkr__outcome_tell(l->claim->outcome.rc, l->claim->outcome.detail);
    else
        (void)zkr__fail(l->error, "%s '%s': the campaign has ended", noun,
                        l->face.lock->path);
    return l->error;
}

/* Finds the next event that the listener has not been told of. */
static bool next_event_locked(zkr_leader *l,
                              struct zkr_leader_event *e) ZKR__LOCKED
{
    int64_t token = has_term(l) ? l->claim->node->token : 0;
    bool acts =
        is_leader_locked(l) && l->claim->grant.sm.state == ZKR_GRANT_HELD;

    *e = (struct zkr_leader_event){ .token = l->told.token };
    if (l->told.token != 0 && l->told.token != token) {
        e->kind = ZKR_LEADER_LOST;
        l->told.token = 0;
        l->told.acts = false;
    } else if (acts && !l->told.acts) {
        e->kind = ZKR_LEADER_GAINED;
        e->token = l->told.token = token;
        l->told.acts = true;
    } else if (l->told.acts && !acts) {
        e->kind = ZKR_LEADER_SUSPENDED;
        l->told.acts = false;
    } else if (l->error != ZKR_OK && !l->told.failed) {
        e->kind = ZKR_LEADER_FAILED;
        e->error = explain_locked(l);
        l->told.failed = true;
    }
    return e->kind != 0;
}

static void run_listener(struct zkr__notice *notice)
{
    zkr_leader *l = ZKR__CONTAINER(notice, zkr_leader, notice);
    struct zkr_session *s = l->face.session;
    struct zkr_leader_event event;

    zkr__session_lock(s);
    zkr__ref_take(&l->ref); /* the callback may free it */
    go_on_locked(l);
    bool any = next_event_locked(l, &event);
    if (any)
        zkr__dispatch_post_locked(s, notice); /* there may be more */
    zkr__session_unlock(s);
    if (any)
        l->fn(l, &event, l->user);
    zkr__ref_drop(&l->ref);
}

bool zkr_leader_is_leader(const zkr_leader *l)
{
    if (check(l) != ZKR_OK)
        return false;
    zkr__session_lock(l->face.session);
    bool leads = is_leader_locked(l);
    zkr__session_unlock(l->face.session);
    return leads;
}

/* Names the one before us. */
static int fail_wait_locked(const zkr_leader *l, int rc,
                            const char *what) ZKR__LOCKED
{
    char text[ZKR__HINDRANCE_MAX];

    zkr__claim_hindrance_locked(l->claim, text);
    return zkr__fail(rc, "%s '%s': %s%s", noun, l->face.lock->path, what, text);
}

static int wait_unlocks(zkr_leader *l, int64_t timeout_ms) ZKR__UNLOCKS
{
    struct zkr_session *s = l->face.session;
    int64_t deadline = zkr__session_deadline(s, timeout_ms);
    const char *path = l->face.lock->path;
    bool in_time = true;

    if (zkr__dispatch_inside_locked(s))
        return zkr__fail(ZKR_EDEADLK, "%s '%s': a callback cannot wait", noun,
                         path);
    for (;;) {
        go_on_locked(l);
        if (is_leader_locked(l))
            return ZKR_OK;
        if (l->error != ZKR_OK)
            return explain_locked(l);
        if (l->claim == NULL)
            return zkr__fail(ZKR_ECANCELED, "%s '%s': it does not campaign",
                             noun, path);
        if (timeout_ms == 0 &&
            zkr__claim_in_state(l->claim, ZKR__CLAIM_WAITING))
            return fail_wait_locked(l, ZKR_EBUSY, "others come first");
        if (!in_time)
            return fail_wait_locked(
                l, timeout_ms == 0 ? ZKR_ZOPERATIONTIMEOUT : ZKR_ETIMEDOUT,
                "deadline passed");
        in_time = zkr__cond_wait(&l->changed, &s->lock, deadline);
    }
}

int zkr_leader_wait(zkr_leader *l, int64_t timeout_ms)
{
    int rc = check(l);

    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(l->face.session);
    zkr__ref_take(&l->ref);
    rc = wait_unlocks(l, timeout_ms);
    zkr__session_unlock(l->face.session);
    zkr__ref_drop(&l->ref);
    return rc;
}

int zkr_leader_grant(zkr_leader *l, zkr_grant **ret_grant)
{
    int rc = ZKR__OUTPUT(ret_grant);

    if (rc == ZKR_OK)
        rc = check(l);
    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(l->face.session);
    if (!has_term(l)) {
        rc = zkr__fail(ZKR_ENOTHELD, "%s '%s': it does not lead", noun,
                       l->face.lock->path);
    } else if (l->claim->hold.handles > ZKR__DEPTH_MAX) {
        rc = zkr__fail(ZKR_EOVERFLOW, "%s '%s': %u handles of its grant", noun,
                       l->face.lock->path, ZKR__DEPTH_MAX);
    } else {
        l->claim->hold.handles++;
        *ret_grant = &l->claim->grant;
    }
    zkr__session_unlock(l->face.session);
    return rc;
}

/* -- the object ----------------------------------------------------------- */

static int load(const char *path, const struct zkr_leader_opts *opts,
                struct zkr_leader_opts *o)
{
    int rc = zkr__opts_load(o, sizeof(*o), sizeof(*o), opts, noun);

    if (rc != ZKR_OK)
        return rc;
    if ((o->flags & LAYOUTS) == LAYOUTS)
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': two layouts", noun, path);
    if (o->reserved != 0 || (o->id == NULL && o->id_size != 0))
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': %s", noun, path,
                         o->reserved != 0 ? "reserved is not zero"
                                          : "the id is NULL");
    if (o->id_size > ZKR_LEADER_ID_MAX)
        return zkr__fail(ZKR_ETOOLONG,
                         "%s '%.300s': the id is longer than %d bytes", noun,
                         path, ZKR_LEADER_ID_MAX);
    return ZKR_OK;
}

static int make_lock(zkr_session *session, const char *path,
                     const struct zkr_leader_opts *o,
                     const struct zkr__recipe *recipe,
                     struct zkr__lock **ret_lock)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;

    opts.label = o->label;
    opts.flags = o->flags & ~ZKR_SELECTOR_LAYOUT;
    int rc = zkr__lock_new(session, noun, path, NULL, &opts, recipe, ret_lock);
    if (rc != ZKR_OK || o->id == NULL)
        return rc;
    rc = zkr__lock_set_data(*ret_lock, o->id, o->id_size);
    if (rc != ZKR_OK)
        zkr__lock_free(*ret_lock);
    return rc;
}

/* Takes a reference of the lock, which lives until the last callback ends. */
static zkr_leader *make(struct zkr__lock *lock,
                        const struct zkr__recipe *recipe, zkr_leader_fn fn,
                        void *user)
{
    zkr_leader *l = calloc(1, sizeof(*l));

    if (l == NULL)
        return NULL;
    zkr__lock_ref(lock);
    zkr__lockable_init(&l->face, &election, lock->session, false);
    l->face.lock = lock;
    l->recipe = recipe;
    l->fn = fn;
    l->user = user;
    zkr__ref_init(&l->ref, free_leader);
    l->observer.changed = on_changed;
    zkr__notice_init(&l->notice, run_listener);
    return l;
}

int zkr_leader_new(zkr_session *session, const char *path,
                   const struct zkr_leader_opts *opts, zkr_leader_fn fn,
                   void *user, zkr_leader **ret_leader)
{
    struct zkr_leader_opts o;
    struct zkr__lock *lock;
    int rc = ZKR__OUTPUT(ret_leader);

    if (rc == ZKR_OK)
        rc = load(path, opts, &o);
    if (rc != ZKR_OK)
        return rc;
    const struct zkr__recipe *recipe =
        (o.flags & ZKR_SELECTOR_LAYOUT) != 0 ? &as_selector : &as_latch;
    rc = make_lock(session, path, &o, recipe, &lock);
    if (rc != ZKR_OK)
        return rc;
    *ret_leader = make(lock, recipe, fn, user);
    if (*ret_leader != NULL)
        return ZKR_OK;
    zkr__lock_free(lock);
    return zkr__no_memory(noun, path);
}

/* Nothing is told after the withdrawal, because the lock is kept from there to
 * the end of what could be told. */
void zkr_leader_free(zkr_leader *l)
{
    if (check(l) != ZKR_OK)
        return;
    zkr__session_lock(l->face.session);
    (void)zkr__dispatch_withdraw_unlocks(l->face.session, &l->notice);
    l->fn = NULL;
    drop_locked(detach_locked(l));
    changed_locked(l);
    zkr__session_unlock(l->face.session);
    zkr__lock_free(l->face.lock);
    zkr__ref_drop(&l->ref);
}

int zkr_leader_stats(zkr_leader *l, struct zkr_counters *ret_counters)
{
    return zkr_lockable_stats(l == NULL ? NULL : &l->face, ret_counters);
}

const char *zkr_leader_path(const zkr_leader *l)
{
    return l == NULL ? NULL : l->face.lock->path;
}
