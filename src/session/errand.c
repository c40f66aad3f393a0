/* SPDX-License-Identifier: Apache-2.0 */
/* An errand: a request of the program, with a deadline and one outcome, which
 * is told to the caller who waits, or to a callback. */
#include "session/errand.h"

#include "base/clock.h"
#include "base/error.h"
#include "session/session.h"
#include "session/timer_thread.h"

static void run_notice(struct zkr__notice *notice)
{
    struct zkr__errand *e = ZKR__CONTAINER(notice, struct zkr__errand, notice);

    if (e->rc == ZKR_OK)
        zkr__error_set_detail("");
    else
        (void)e->type->explain(e);
    e->type->tell(e);
    zkr__errand_unref(e);
}

void zkr__errand_init(struct zkr__errand *e,
                      const struct zkr__errand_type *type,
                      struct zkr_session *s)
{
    *e = (struct zkr__errand){ .type = type, .session = s };
    atomic_init(&e->refs, 1);
    zkr__session_ref(s);
    zkr__op_init(&e->op, s);
    e->op.lane = ZKR__OP_READS; /* or a write */
    zkr__notice_init(&e->notice, run_notice);
    (void)zkr__cond_init(&e->changed);
}

/* Under the session lock this never drops the last reference of the session,
 * because the connector or the timer thread still has one. */
void zkr__errand_unref(struct zkr__errand *e)
{
    struct zkr_session *s = e->session;

    if (atomic_fetch_sub(&e->refs, 1) != 1)
        return;
    (void)pthread_cond_destroy(&e->changed);
    if (e->guard != NULL)
        e->guard->release(e->holder);
    e->type->free(e);
    zkr__session_unref(s);
}

/* -- the outcome ----------------------------------------------------------- */

static void end_locked(struct zkr__errand *e, int rc,
                       const char *why) ZKR__LOCKED
{
    e->ended = true;
    e->rc = rc;
    e->why = why;
    zkr__timer_thread_disarm_locked(e->session, &e->timeout);
    if (e->waits)
        (void)pthread_cond_broadcast(&e->changed);
    else
        zkr__dispatch_post_locked(e->session, &e->notice);
}

/* Tells whether there is neither an answer nor the certainty that it was not
 * carried out. */
static bool is_unknown(const struct zkr__errand *e, int rc)
{
    enum zkr__outcome outcome = zkr__error_outcome(rc);

    return zkr__op_is_write(&e->op) && e->op.sent != 0 &&
           (outcome == ZKR__UNKNOWN || outcome == ZKR__OVER);
}

static bool is_answer(int rc)
{
    return rc > ZKR_EINVAL && zkr__error_outcome(rc) == ZKR__DONE;
}

static bool is_guard_refused(const struct zkr__errand *e,
                             const struct zkr__zk_reply *reply)
{
    return e->guard != NULL && reply->results != NULL &&
           reply->results[0].rc != ZKR_OK;
}

static int judge_locked(struct zkr__errand *e,
                        const struct zkr__zk_reply *reply,
                        const char **ret_why) ZKR__LOCKED
{
    int rc = reply->rc;

    *ret_why = "refused";
    if (is_guard_refused(e, reply))
        return e->guard->judge(e->holder, rc, ret_why);
    if (is_unknown(e, rc)) {
        *ret_why = zkr_strerror(rc);
        return ZKR_EUNKNOWN;
    }
    if (!e->type->keep(e, reply)) {
        *ret_why = "no memory for the answer";
        return zkr__op_is_write(&e->op) ? ZKR_EUNKNOWN : ZKR_ENOMEM;
    }
    if (is_answer(rc))
        return rc;
    if (e->session->over != 0) {
        *ret_why = "the session is over";
        return e->session->over;
    }
    if (e->guard != NULL)
        return e->guard->judge(e->holder, ZKR_ZSESSIONEXPIRED, ret_why);
    *ret_why = "no answer";
    return rc;
}

static void on_answered(struct zkr__op *op, const struct zkr__zk_reply *reply);

static void send_locked(struct zkr__errand *e) ZKR__LOCKED
{
    zkr__op_start_locked(&e->op, e->op.request.type, e->op.request.path,
                         zkr__op_is_write(&e->op) ? ZKR__RETRY_UNDONE
                                                  : ZKR__RETRY_POLICY,
                         on_answered);
}

/* The next session carries on. */
static bool goes_on(const struct zkr__errand *e, int rc)
{
    return rc == ZKR_ZSESSIONEXPIRED && !e->ended && e->guard == NULL &&
           e->session->over == 0 && !is_unknown(e, rc);
}

static void on_answered(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__errand *e = ZKR__CONTAINER(op, struct zkr__errand, op);
    const char *why;
    int rc;

    zkr__session_assert_locked(op->session);
    if (goes_on(e, reply->rc)) {
        zkr__op_again_locked(op);
        return;
    }
    if (e->guard != NULL && !is_unknown(e, reply->rc))
        e->guard->settle(e->holder);
    if (!e->ended) { /* else the program may be reading the outcome */
        rc = judge_locked(e, reply, &why);
        end_locked(e, rc, why);
    }
    zkr__errand_unref(e);
}

static const char *what_is_missing(const struct zkr__errand *e)
{
    return zkr__session_connected(e->session)
               ? "no answer before the deadline"
               : "no connection before the deadline";
}

/* A write that nobody waits for any more must not be sent. */
static void on_timeout(struct zkr__timer *timer)
{
    struct zkr__errand *e = ZKR__CONTAINER(timer, struct zkr__errand, timeout);

    zkr__session_assert_locked(e->session);
    if (zkr__op_cancel_locked(&e->op)) {
        if (e->guard != NULL)
            e->guard->settle(e->holder);
        end_locked(e, ZKR_EUNREACHABLE, what_is_missing(e));
        zkr__errand_unref(e); /* the request's */
        return;
    }
    e->op.retry = ZKR__RETRY_NEVER;
    end_locked(e, zkr__op_is_write(&e->op) ? ZKR_EUNKNOWN : ZKR_EUNREACHABLE,
               what_is_missing(e));
}

/* -- the way there --------------------------------------------------------- */

static int fail(struct zkr__errand *e, int rc, const char *why)
{
    e->rc = rc;
    e->why = why;
    return e->type->explain(e);
}

static int begin_locked(struct zkr__errand *e) ZKR__LOCKED
{
    const struct zkr_session *s = e->session;

    if (e->waits && zkr__dispatch_inside_locked(s))
        return fail(e, ZKR_EDEADLK, "a callback cannot wait");
    if (e->guard != NULL)
        return e->guard->begin(e->holder);
    if (s->over != 0)
        return fail(e, s->over,
                    s->over == ZKR_ECLOSED ? "the session is closed"
                                           : "the session is over");
    return ZKR_OK;
}

/* The timer ends the wait, so that there is one end for all. */
static int wait_unlocks(struct zkr__errand *e) ZKR__UNLOCKS
{
    while (!e->ended)
        (void)zkr__cond_wait(&e->changed, &e->session->lock, ZKR__NEVER);
    return e->rc == ZKR_OK ? ZKR_OK : e->type->explain(e);
}

int zkr__errand_run(struct zkr__errand *e, bool waits, int64_t deadline)
{
    struct zkr_session *s = e->session;
    int rc;

    e->waits = waits;
    zkr__session_lock(s);
    rc = zkr__clock_now() < deadline
             ? begin_locked(e)
             : fail(e, ZKR_EUNREACHABLE, "the deadline has passed");
    if (rc == ZKR_OK) {
        (void)atomic_fetch_add(&e->refs, waits ? 1 : 2);
        if (deadline != ZKR__NEVER)
            zkr__timer_thread_arm_locked(s, &e->timeout, deadline, on_timeout);
        send_locked(e);
        rc = waits ? wait_unlocks(e) : ZKR_OK;
    }
    zkr__session_unlock(s);
    return rc;
}
