/* SPDX-License-Identifier: Apache-2.0 */
/* A request: a deadline, and one outcome, for a caller or a callback. */
#include "request/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "session/session.h"
#include "session/timer_thread.h"

/* -- its life -------------------------------------------------------------- */

static void free_memory(struct zkr__request *r)
{
    if (r != NULL) {
        free(r->path);
        free(r->full_path);
    }
    free(r);
}

/* Under the session lock this never drops the last reference of the session,
 * because the connector or the timer thread still has one. */
static void free_request(struct zkr__ref *ref)
{
    struct zkr__request *r = ZKR__CONTAINER(ref, struct zkr__request, ref);
    struct zkr_session *s = r->session;

    if (r->guard != NULL)
        zkr__ref_drop(r->holder);
    if (r->kind->clear != NULL)
        r->kind->clear(r);
    free_memory(r);
    zkr__session_unref(s);
}

void zkr__request_unref(struct zkr__request *r)
{
    zkr__ref_drop(&r->ref);
}

static int explain_locked(const struct zkr__request *r) ZKR__LOCKED
{
    if (r->kind->explain != NULL)
        (void)r->kind->explain(r);
    else
        (void)zkr__fail(r->rc, "%s '%.300s': %s", r->kind->noun, r->path,
                        r->why);
    return r->rc == ZKR_ETIMEDOUT || r->rc == ZKR_EUNREACHABLE
               ? zkr__reason_explain_locked(r->session, r->rc)
               : r->rc;
}

static void run_notice(struct zkr__notice *notice)
{
    struct zkr__request *r =
        ZKR__CONTAINER(notice, struct zkr__request, notice);

    zkr__error_set_detail("");
    zkr__session_lock(r->session);
    if (r->rc != ZKR_OK)
        (void)explain_locked(r);
    zkr__session_unlock(r->session);
    r->tell(r);
    zkr__request_unref(r);
}

static bool copy_path(struct zkr__request *r, const struct zkr_session *s,
                      const char *path)
{
    if (path == NULL)
        return true;
    r->path = strdup(path);
    r->full_path = zkr__session_full_path(s, path);
    return r->path != NULL && r->full_path != NULL;
}

void zkr__ask_init(struct zkr__ask *ask, struct zkr__request *r)
{
    ask->request = r;
    zkr__list_init(&ask->link);
    zkr__op_init(&ask->op, r->session, &r->ref);
    ask->op.class = ZKR__OP_READS; /* or a write */
}

static void on_over(struct zkr__waiter *w);

void *zkr__request_new(const struct zkr__request_kind *kind,
                       struct zkr_session *s, const char *path,
                       int64_t deadline)
{
    struct zkr__request *r = calloc(1, kind->size);

    if (r == NULL || !copy_path(r, s, path)) {
        free_memory(r);
        (void)zkr__no_memory(kind->noun, path);
        return NULL;
    }
    zkr__session_ref(s);
    r->kind = kind;
    r->session = s;
    r->deadline = deadline;
    r->late = ZKR_EUNREACHABLE;
    r->ended = true;
    zkr__ref_init(&r->ref, free_request);
    zkr__list_init(&r->waiter.link);
    r->waiter.over = on_over;
    zkr__list_init(&r->asks);
    zkr__ask_init(&r->ask, r);
    zkr__notice_init(&r->notice, run_notice);
    return r;
}

/* -- the outcome ----------------------------------------------------------- */

static void settle_locked(struct zkr__request *r) ZKR__LOCKED
{
    if (r->guard != NULL)
        r->guard->settle(r->holder);
}

/* An ask that nobody waits for any more must not be sent. The one who ends the
 * request has another reference to it. */
static void take_back_locked(struct zkr__ask *ask) ZKR__LOCKED
{
    ask->op.retry = ZKR__RETRY_NEVER;
    if (!zkr__op_cancel_locked(&ask->op))
        return;
    zkr__list_remove(&ask->link);
    settle_locked(ask->request);
}

void zkr__request_end_locked(struct zkr__request *r, int rc, const char *why)
{
    struct zkr__list *next;

    if (r->ended)
        return;
    r->ended = true;
    r->rc = rc;
    r->why = why;
    zkr__timer_thread_disarm_locked(r->session, &r->timeout);
    zkr__list_remove(&r->waiter.link);
    for (struct zkr__list *l = r->asks.next; l != &r->asks; l = next) {
        next = l->next;
        take_back_locked(ZKR__CONTAINER(l, struct zkr__ask, link));
    }
    if (r->tell == NULL)
        zkr__cond_wake(&r->changed);
    else
        zkr__dispatch_post_locked(r->session, &r->notice);
}

/* Tells whether a write has been sent whose answer has not come. */
static bool has_written(const struct zkr__request *r)
{
    const struct zkr__op *op = &r->ask.op;

    return zkr__op_is_write(op) && op->where != ZKR__OP_IDLE && op->sent != 0;
}

static const char *what_is_missing(const struct zkr__request *r)
{
    return zkr__session_connected(r->session)
               ? "no answer before the deadline"
               : "no connection before the deadline";
}

static void on_timeout(struct zkr__timer *timer)
{
    struct zkr__request *r =
        ZKR__CONTAINER(timer, struct zkr__request, timeout);

    zkr__session_assert_locked(r->session);
    zkr__request_end_locked(r, has_written(r) ? ZKR_EUNKNOWN : r->late,
                            r->late_why != NULL ? r->late_why
                                                : what_is_missing(r));
}

static const char *how_it_is_over(const struct zkr_session *s)
{
    return s->over == ZKR_ECLOSED ? "the session is closed"
                                  : "the session is over";
}

/* The answer to a write of the program that is under way may yet come, and
 * tells what has become of it. */
static void on_over(struct zkr__waiter *w)
{
    struct zkr__request *r = ZKR__CONTAINER(w, struct zkr__request, waiter);
    const struct zkr_session *s = r->session;

    zkr__session_assert_locked(s);
    if (!has_written(r) || r->ask.op.retry != ZKR__RETRY_UNDONE)
        zkr__request_end_locked(r, s->over, how_it_is_over(s));
}

/* -- the way there --------------------------------------------------------- */

static int fail_locked(struct zkr__request *r, int rc,
                       const char *why) ZKR__LOCKED
{
    r->rc = rc;
    r->why = why;
    return explain_locked(r);
}

static int check_locked(struct zkr__request *r) ZKR__LOCKED
{
    const struct zkr_session *s = r->session;

    if (zkr__clock_now() >= r->deadline)
        return fail_locked(r, r->late, "the deadline has passed");
    if (r->tell == NULL && zkr__dispatch_inside_locked(s))
        return fail_locked(r, ZKR_EDEADLK, "a callback cannot wait");
    if (r->guard != NULL)
        return r->guard->begin(r->holder);
    return s->over == 0 ? ZKR_OK : fail_locked(r, s->over, how_it_is_over(s));
}

static int
begin_locked(struct zkr__request *r,
             void (*start_locked)(struct zkr__request *r)) ZKR__LOCKED
{
    struct zkr_session *s = r->session;
    int rc = check_locked(r);

    if (rc != ZKR_OK)
        return rc;
    r->ended = false;
    if (r->tell == NULL)
        zkr__list_append(&s->waiters, &r->waiter.link);
    else
        zkr__ref_take(&r->ref); /* the notice's */
    if (r->deadline != ZKR__NEVER)
        zkr__timer_thread_arm_locked(s, &r->timeout, r->deadline, on_timeout);
    start_locked(r);
    return ZKR_OK;
}

int zkr__request_begin(struct zkr__request *r,
                       void (*start_locked)(struct zkr__request *r))
{
    zkr__session_lock(r->session);
    int rc = begin_locked(r, start_locked);
    zkr__session_unlock(r->session);
    return rc;
}

/* The timer ends the wait, so that there is one end for all. */
int zkr__request_wait(struct zkr__request *r)
{
    int rc;

    zkr__session_lock(r->session);
    while (!r->ended)
        (void)zkr__cond_wait(&r->changed, &r->session->lock, ZKR__NEVER);
    rc = r->rc == ZKR_OK ? ZKR_OK : explain_locked(r);
    zkr__session_unlock(r->session);
    return rc;
}

int zkr__request_run(struct zkr__request *r,
                     void (*start_locked)(struct zkr__request *r))
{
    int rc = zkr__request_begin(r, start_locked);

    return rc == ZKR_OK && r->tell == NULL ? zkr__request_wait(r) : rc;
}

bool zkr__request_has_succeeded(struct zkr__request *r)
{
    zkr__session_lock(r->session);
    bool has_succeeded = r->ended && r->rc == ZKR_OK;
    zkr__session_unlock(r->session);
    return has_succeeded;
}

/* -- asks ------------------------------------------------------------------ */

/* Tells whether there is neither an answer nor the certainty that it was not
 * carried out. */
static bool is_unknown(const struct zkr__op *op, int rc)
{
    enum zkr__outcome outcome = zkr__error_outcome(rc);

    return zkr__op_is_write(op) && op->sent != 0 &&
           (outcome == ZKR__UNKNOWN || outcome == ZKR__OVER);
}

/* The next session carries on. */
static bool goes_on(const struct zkr__ask *ask, int rc)
{
    const struct zkr__request *r = ask->request;

    return rc == ZKR_ZSESSIONEXPIRED && !r->ended && r->guard == NULL &&
           r->session->over == 0 &&
           (ask->op.retry == ZKR__RETRY_POLICY ||
            (ask->op.retry == ZKR__RETRY_UNDONE && !is_unknown(&ask->op, rc)));
}

static void on_reply(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__ask *ask = ZKR__CONTAINER(op, struct zkr__ask, op);
    struct zkr__request *r = ask->request;

    zkr__session_assert_locked(op->session);
    if (goes_on(ask, reply->rc)) {
        zkr__op_again_locked(op);
        return;
    }
    zkr__list_remove(&ask->link);
    if (!is_unknown(op, reply->rc))
        settle_locked(r);
    if (!r->ended) /* else somebody may be reading the outcome */
        ask->done(ask, reply);
}

void zkr__ask_locked(struct zkr__ask *ask, enum zkr__zk_type type,
                     const char *path, enum zkr__op_retry retry,
                     void (*done)(struct zkr__ask *,
                                  const struct zkr__zk_reply *))
{
    struct zkr__request *r = ask->request;
    const struct zkr_session *s = r->session;

    if (s->over != 0) /* nothing would answer it any more */
        zkr__request_end_locked(r, s->over, how_it_is_over(s));
    if (r->ended)
        return;
    zkr__list_append(&r->asks, &ask->link);
    ask->done = done;
    ask->op.sent = 0;
    zkr__op_start_locked(&ask->op, type, path, retry, on_reply);
}

/* -- the one operation of the program -------------------------------------- */

static bool is_guard_refused(const struct zkr__request *r,
                             const struct zkr__zk_reply *reply)
{
    return r->guard != NULL && reply->results != NULL &&
           reply->results[0].rc != ZKR_OK;
}

static bool is_answer(int rc)
{
    return rc > ZKR_EINVAL && zkr__error_outcome(rc) == ZKR__DONE;
}

static int judge_locked(struct zkr__request *r,
                        const struct zkr__zk_reply *reply,
                        const char **ret_why) ZKR__LOCKED
{
    const struct zkr__op *op = &r->ask.op;
    int rc = reply->rc;

    *ret_why = "refused";
    if (is_guard_refused(r, reply))
        return r->guard->judge(r->holder, rc, ret_why);
    if (is_unknown(op, rc)) {
        *ret_why = zkr_strerror(rc);
        return ZKR_EUNKNOWN;
    }
    if (!r->kind->keep(r, reply)) {
        *ret_why = "no memory for the answer";
        return zkr__op_is_write(op) ? ZKR_EUNKNOWN : ZKR_ENOMEM;
    }
    if (is_answer(rc))
        return rc;
    if (r->session->over != 0) {
        *ret_why = how_it_is_over(r->session);
        return r->session->over;
    }
    if (r->guard != NULL)
        return r->guard->judge(r->holder, ZKR_ZSESSIONEXPIRED, ret_why);
    *ret_why = "no answer";
    return rc;
}

static void on_answer(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct zkr__request *r = ask->request;
    const char *why;

    zkr__session_assert_locked(r->session);
    int rc = judge_locked(r, reply, &why);
    zkr__request_end_locked(r, rc, why);
}

void zkr__request_send_locked(struct zkr__request *r)
{
    struct zkr__op *op = &r->ask.op;

    zkr__ask_locked(&r->ask, op->request.type, op->request.path,
                    zkr__op_is_write(op) ? ZKR__RETRY_UNDONE
                                         : ZKR__RETRY_POLICY,
                    on_answer);
}
