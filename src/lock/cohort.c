/* SPDX-License-Identifier: Apache-2.0 */
/* A cohort: the claims of one lock that take it from each other, with one node
 * among them.
 *
 * Purpose. Threads of one process that take a lock in turns cost the servers a
 * create and a delete each. Here the first sends a delegate, a claim that no
 * caller has made; it goes through the queue as every claim does. With its node
 * one member after the other has the lock, without a request.
 *
 * Invariants. There is one delegate at most, and while it is HELD there is one
 * holder at most; the holder's `node` is that of the delegate, of which it has
 * a reference. A member is in `waiting` while it is WAITING. A member is HELD
 * only while its delegate is, and both are LOST together: so the promises of a
 * grant are those of the delegate's node. Nobody holds a node that is in doubt,
 * that somebody has asked for, or that a guarded write may yet find: it goes
 * back, and the next delegate has another one (may_stay()).
 *
 * Callers. Claims tell their roles, zkr__member and zkr__delegate, what happens
 * to them; the user yields or frees the lock; the timer thread reviews. All of
 * them end in go_on_locked(), which looks at the state as it is and does the
 * one thing that is due.
 *
 * Objections. It is fair to all others: `passed` counts the grants to members
 * while others may have waited, and is_spent() ends the stay. It allocates
 * nothing when it gives back, so a release cannot fail for memory: a new
 * delegate is made by the review, on the timer thread. Token and czxid are the
 * same for all grants of one node; zkr_grant_handoff() tells them apart. */
#include "lock/cohort.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "lock/claim.h"
#include "lock/count.h"
#include "lock/heartbeat.h"
#include "lock/steps.h"
#include "session/timer_thread.h"

#define DEFAULT_MAX 64

static void go_on_locked(struct zkr__cohort *h) ZKR__LOCKED;

static struct zkr__claim *first(const struct zkr__cohort *h)
{
    return zkr__list_empty(&h->waiting)
               ? NULL
               : ZKR__CONTAINER(h->waiting.next, struct zkr__claim,
                                cohort.link);
}

static bool delegate_holds(const struct zkr__cohort *h)
{
    return h->delegate != NULL &&
           zkr__claim_in_state(h->delegate, ZKR__CLAIM_HELD);
}

/* -- the delegate: it comes, and goes ------------------------------------- */

/* For a member that only tries the delegate only tries: nobody else waits. */
static void send_delegate_locked(struct zkr__cohort *h) ZKR__LOCKED
{
    struct zkr__claim *m = first(h);
    int rc = zkr__claim_new(h->lock, m->recipe, &zkr__delegate, m->intent, NULL,
                            &h->delegate);

    if (rc == ZKR_OK) {
        zkr__claim_start_locked(h->delegate);
        return;
    }
    while ((m = first(h)) != NULL)
        zkr__claim_give_up_locked(m, rc, "out of memory");
}

/* The cohort forgets it; its reference is the caller's. */
static struct zkr__claim *
take_delegate_locked(struct zkr__cohort *h) ZKR__LOCKED
{
    struct zkr__claim *d = h->delegate;

    h->delegate = NULL;
    h->stay = (struct zkr__stay){ .give_back = false };
    return d;
}

/* Deletes the node; `leaver` is the member that waits for it, or NULL. */
static void give_back_locked(struct zkr__cohort *h,
                             struct zkr__claim *leaver) ZKR__LOCKED
{
    struct zkr__claim *d = take_delegate_locked(h);

    d->cohort.leaver = leaver;
    zkr__claim_release_locked(d);
    zkr__claim_unref(d);
}

/* When a delegate that only tried has failed, members that wait have another
 * one sent. */
static void delegate_failed_locked(struct zkr__cohort *h) ZKR__LOCKED
{
    struct zkr__claim *d = take_delegate_locked(h);
    struct zkr__list *next;

    for (struct zkr__list *l = h->waiting.next; l != &h->waiting; l = next) {
        struct zkr__claim *m =
            ZKR__CONTAINER(l, struct zkr__claim, cohort.link);

        next = l->next;
        if (d->intent == ZKR__WAIT || m->intent == ZKR__TRY)
            zkr__claim_give_up_like_locked(m, d);
    }
    zkr__claim_unref(d);
}

/* -- who else is in the queue --------------------------------------------- */

/* The line of the delegate lists, and watches, if it does not yet. */
static void look_locked(struct zkr__cohort *h) ZKR__LOCKED
{
    if (!h->stay.contended && !zkr__line_is_asked_locked(h->delegate))
        h->stay.contended = !zkr__line_wait_locked(h->delegate, false);
}

/* `what` is how many others the list shows, or its error. */
static void listed_locked(struct zkr__cohort *h, int what) ZKR__LOCKED
{
    h->stay.contended =
        what > 0 || (what < 0 && zkr__error_outcome(what) == ZKR__DONE);
    h->stay.alone = false;
    if (what != 0)
        return;
    h->stay.passed = 0;
    h->stay.contended = !zkr__line_wait_locked(h->delegate, true);
    h->stay.alone = h->lock->line->watched;
}

/* When one comes, the watch of the line tells before its list does. */
static bool is_alone(const struct zkr__cohort *h)
{
    return h->stay.alone && h->lock->line->watched;
}

/* -- the rules: when a node stays ----------------------------------------- */

/* A late write of the last holder must not find the node of the next one. And
 * what is in doubt is proven anew, by a node of its own. */
static bool may_stay(const struct zkr__cohort *h)
{
    return !h->stay.give_back && !h->closed && h->delegate->writes == 0 &&
           h->delegate->grant.sm.state == ZKR_GRANT_HELD;
}

/* As long as it is not known whether others wait, the count goes on, and
 * nothing is decided when it is full. */
static bool is_spent(const struct zkr__cohort *h)
{
    return h->stay.passed >= h->max && !is_alone(h);
}

static bool node_stays(const struct zkr__cohort *h)
{
    if (!may_stay(h))
        return false;
    if (!h->stay.contended)
        return true;
    return first(h) != NULL && !is_spent(h);
}

/* -- a turn --------------------------------------------------------------- */

static void hand_on_locked(struct zkr__cohort *h) ZKR__LOCKED
{
    struct zkr__claim *m = first(h);
    struct zkr__claim *d = h->delegate;

    zkr__claim_ref(d);
    h->holder = m;
    m->cohort.delegate = d;
    m->cohort.handoff = h->stay.grants++;
    m->node = d->node; /* which lives as long as its reference */
    m->grant.revoke_requested = d->grant.revoke_requested;
    if (m->cohort.handoff > 0) {
        h->stay.passed += !is_alone(h);
        look_locked(h);
    }
    zkr__claim_event_locked(m, ZKR__ON_PROVEN, "handed on");
}

static bool wants_delegate(const struct zkr__cohort *h)
{
    return h->delegate == NULL && first(h) != NULL &&
           h->lock->session->over == 0;
}

static void on_review(struct zkr__timer *timer)
{
    struct zkr__cohort *h = ZKR__CONTAINER(timer, struct zkr__cohort, review);

    zkr__session_assert_locked(h->lock->session);
    if (wants_delegate(h))
        send_delegate_locked(h);
    else
        go_on_locked(h);
}

/* The timer is armed while there is a delegate or a member, which keep the
 * lock. */
static void review_at_locked(struct zkr__cohort *h, int64_t instant) ZKR__LOCKED
{
    struct zkr_session *s = h->lock->session;

    if (zkr__timer_is_armed(&h->review) && h->review.instant <= instant)
        return;
    zkr__timer_thread_disarm_locked(s, &h->review);
    zkr__timer_thread_arm_locked(s, &h->review, instant, on_review);
}

static void keep_locked(struct zkr__cohort *h) ZKR__LOCKED
{
    int64_t until = h->stay.unused_at + h->retain;

    look_locked(h);
    if (!node_stays(h) || zkr__clock_now() >= until)
        give_back_locked(h, NULL);
    else
        review_at_locked(h, until);
}

/* Nobody has the lock. The first member is granted what its delegate has been
 * granted a moment ago; for the others the lease is looked at again. */
static void use_node_locked(struct zkr__cohort *h) ZKR__LOCKED
{
    if (first(h) != NULL && h->stay.grants == 0)
        hand_on_locked(h);
    else if (!node_stays(h))
        give_back_locked(h, NULL);
    else if (first(h) == NULL)
        keep_locked(h);
    else if (is_spent(h))
        look_locked(h);
    else if (zkr__heartbeat_is_good(h->lock->session))
        hand_on_locked(h);
    else
        give_back_locked(h, NULL);
}

/* Does what is to be done: hands the lock on, keeps it, or gives it back. A new
 * delegate comes on the timer thread, because giving back allocates nothing. */
static void go_on_locked(struct zkr__cohort *h)
{
    if (delegate_holds(h) && h->delegate->outcome.decided && h->holder == NULL)
        use_node_locked(h);
    if (h->delegate != NULL && !h->delegate->outcome.decided &&
        first(h) == NULL)
        zkr__claim_give_up_locked(h->delegate, ZKR_ECANCELED,
                                  "nobody waits any more");
    if (wants_delegate(h))
        review_at_locked(h, zkr__clock_now());
    if (h->delegate == NULL && first(h) == NULL)
        zkr__timer_thread_disarm_locked(h->lock->session, &h->review);
}

/* -- the way of the members ----------------------------------------------- */

static void enter(struct zkr__claim *c, const struct zkr__news *news)
{
    struct zkr__cohort *h = c->lock->cohort;
    bool busy = h->holder != NULL || first(h) != NULL;

    (void)news;
    zkr__session_assert_locked(c->session);
    zkr__list_append(&h->waiting, &c->cohort.link);
    if (busy && c->intent == ZKR__TRY) {
        zkr__claim_give_up_locked(c, ZKR_EBUSY, "is wanted by another thread");
        return;
    }
    if (busy)
        zkr__count_wait_locked(c);
    if (h->delegate == NULL)
        send_delegate_locked(h);
    else
        go_on_locked(h);
}

/* In a new session it waits as before. */
static void wait_on(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)c;
    (void)news;
}

/* A release needs no request when the node stays. Otherwise it ends with the
 * delete. */
static void release(struct zkr__claim *c, const struct zkr__news *news)
{
    struct zkr__cohort *h = c->lock->cohort;

    zkr__session_assert_locked(c->session);
    h->holder = NULL;
    if (!node_stays(h)) {
        zkr__claim_event_locked(c, ZKR__ON_LEAVE, news->why);
    } else {
        h->stay.unused_at = zkr__clock_now();
        zkr__grant_left_locked(&c->grant, ZKR_OK);
        zkr__claim_event_locked(c, ZKR__ON_END, "the node stays");
    }
    go_on_locked(h);
}

static void leave(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    zkr__session_assert_locked(c->session);
    give_back_locked(c->lock->cohort, c);
}

/* clang-format off */
static const struct zkr__reaction reactions[ZKR__CLAIM_STATES][ZKR__EVENTS] = {
    ZKR__MOVES(IDLE,    ACQUIRE,   WAITING, enter),
    ZKR__MOVES(IDLE,    TRY,       WAITING, enter),
    ZKR__CALLS(WAITING, AGAIN,     wait_on),
    ZKR__MOVES(WAITING, PROVEN,    HELD,    zkr__claim_hold),
    ZKR__MOVES(WAITING, GIVE_UP,   IDLE,    zkr__claim_end),
    ZKR__MOVES(WAITING, END,       IDLE,    zkr__claim_end),
    ZKR__CALLS(HELD,    CONFIRMED, zkr__grant_confirmed),
    ZKR__CALLS(HELD,    RELEASE,   release),
    ZKR__MOVES(HELD,    LEAVE,     LEAVING, leave),
    ZKR__MOVES(HELD,    END,       IDLE,    zkr__claim_end),
    ZKR__MOVES(HELD,    LOST,      LOST,    zkr__claim_end),
    ZKR__MOVES(LEAVING, END,       IDLE,    zkr__claim_end),
};
/* clang-format on */

const struct zkr__way zkr__in_a_cohort = {
    .seek = zkr__seek_by_name,
    .has_own_path = true,
    .reactions = reactions,
    .exits = { [ZKR__CLAIM_HELD] = zkr__claim_stop_holding },
};

/* -- what claims and grants tell ------------------------------------------ */

static void left_locked(struct zkr__claim *d, int rc) ZKR__LOCKED
{
    struct zkr__claim *m = d->cohort.leaver;

    d->cohort.leaver = NULL;
    if (m == NULL)
        return;
    zkr__grant_left_locked(&m->grant, rc);
    zkr__claim_event_locked(m, ZKR__ON_END, "left");
}

/* Member and delegate are LOST together. */
static void lost_locked(struct zkr__cohort *h, enum zkr_loss loss) ZKR__LOCKED
{
    struct zkr__claim *holder = h->holder;

    h->holder = NULL;
    if (holder != NULL)
        zkr__claim_lost_locked(holder, loss);
    zkr__claim_unref(take_delegate_locked(h));
    go_on_locked(h);
}

static void delegate_told(struct zkr__claim *d, enum zkr__role_event event,
                          int what)
{
    struct zkr__cohort *h = d->lock->cohort;

    zkr__session_assert_locked(d->session);
    switch (event) {
    case ZKR__ROLE_DECIDED:
        if (what != ZKR_OK)
            delegate_failed_locked(h);
        else
            h->stay.give_back = d->grant.revoke_requested; /* while it waited */
        go_on_locked(h);
        break;
    case ZKR__ROLE_LOST:
        lost_locked(h, (enum zkr_loss)what);
        break;
    case ZKR__ROLE_LEFT:
        left_locked(d, what);
        break;
    case ZKR__ROLE_DOUBTED:
        /* Others may be in doubt at the same time, and who tells is not done
         * yet. */
        review_at_locked(h, zkr__clock_now());
        break;
    case ZKR__ROLE_REVOKED:
        if (h->holder != NULL)
            zkr__grant_revoked_locked(&h->holder->grant);
        zkr__cohort_yield_locked(h);
        break;
    case ZKR__ROLE_LISTED:
        listed_locked(h, what);
        go_on_locked(h);
        break;
    case ZKR__ROLE_SHARED:
        break;
    }
}

static void member_told(struct zkr__claim *m, enum zkr__role_event event,
                        int what)
{
    struct zkr__cohort *h = m->lock->cohort;

    zkr__session_assert_locked(m->session);
    if (event == ZKR__ROLE_DECIDED) {
        zkr__list_remove(&m->cohort.link);
        go_on_locked(h);
    } else if (event == ZKR__ROLE_LOST) {
        zkr__claim_lost_locked(m->cohort.delegate, (enum zkr_loss)what);
    } else if (event == ZKR__ROLE_SHARED) {
        zkr__cohort_yield_locked(h);
    }
}

/* The members wait with their delegate. */
static void delegate_waits(struct zkr__claim *d)
{
    struct zkr__list *members = &d->lock->cohort->waiting;

    zkr__session_assert_locked(d->session);
    for (struct zkr__list *l = members->next; l != members; l = l->next) {
        struct zkr__claim *m =
            ZKR__CONTAINER(l, struct zkr__claim, cohort.link);

        zkr__count_wait_locked(m);
        zkr__claim_tell_observer_locked(m);
    }
}

static const struct zkr__claim *delegate_of(const struct zkr__claim *m)
{
    const struct zkr__cohort *h = m->lock->cohort;

    return h->delegate != NULL ? h->delegate : m;
}

const struct zkr__role zkr__member = { .way = &zkr__in_a_cohort,
                                       .for_caller = true,
                                       .told = member_told,
                                       .queued = delegate_of };
const struct zkr__role zkr__delegate = { .makes_node = true,
                                         .waits = delegate_waits,
                                         .told = delegate_told };

void zkr__cohort_yield_locked(struct zkr__cohort *h)
{
    h->stay.give_back = delegate_holds(h);
    go_on_locked(h);
}

void zkr__cohort_close_locked(struct zkr__cohort *h)
{
    h->closed = true;
    go_on_locked(h);
}

/* ------------------------------------------------------------------------- */

const struct zkr__role *zkr__cohort_role(const struct zkr__lock *lock,
                                         const struct zkr__recipe *recipe)
{
    return lock->cohort != NULL && recipe->can_stay ? &zkr__member
                                                    : &zkr__alone;
}

struct zkr__cohort *zkr__cohort_new(struct zkr__lock *lock, uint32_t retain_ms,
                                    uint32_t max)
{
    struct zkr__cohort *h = calloc(1, sizeof(*h));

    if (h == NULL)
        return NULL;
    h->lock = lock;
    h->retain = retain_ms * ZKR__MS;
    h->max = max == 0 ? DEFAULT_MAX : max;
    zkr__list_init(&h->waiting);
    return h;
}
