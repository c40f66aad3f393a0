/* SPDX-License-Identifier: Apache-2.0 */
/* One request: queued, sent, retried while its epoch lasts, answered once. */
#include "session/op.h"

#include <assert.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "session/connector.h"
#include "session/retry.h"
#include "session/session.h"
#include "session/timer_thread.h"

/* The client writes a byte into a pipe per request, and when the pipe is full
 * (64 KiB) it closes the socket under its own thread. */
#define IN_FLIGHT_MAX 4096

void zkr__op_init(struct zkr__op *op, struct zkr_session *s)
{
    *op = (struct zkr__op){ .session = s, .request.version = ZKR__ZK_ANY };
    zkr__list_init(&op->link);
}

static void move_locked(struct zkr__op *op,
                        enum zkr__op_where where) ZKR__LOCKED
{
    struct zkr_session *s = op->session;
    struct zkr__list *const lists[] = {
        [ZKR__OP_IDLE] = NULL,           [ZKR__OP_QUEUED] = &s->queued,
        [ZKR__OP_DELAYED] = &s->delayed, [ZKR__OP_IN_FLIGHT] = &s->in_flight,
        [ZKR__OP_REFUSED] = &s->refused,
    };

    assert(zkr__mtx_mine(&s->lock));
    s->in_flight_count -= op->where == ZKR__OP_IN_FLIGHT;
    s->in_flight_count += where == ZKR__OP_IN_FLIGHT;
    zkr__list_remove(&op->link);
    if (lists[where] != NULL)
        zkr__list_append(lists[where], &op->link);
    op->where = where;
}

void zkr__op_start_locked(struct zkr__op *op, enum zkr__zk_type type,
                          const char *path, enum zkr__op_retry retry,
                          void (*done)(struct zkr__op *,
                                       const struct zkr__zk_reply *))
{
    assert(op->where == ZKR__OP_IDLE);
    op->request.type = type;
    op->request.path = path;
    op->retry = retry;
    op->done = done;
    op->epoch = op->session->epoch;
    op->retries = 0;
    op->started = zkr__clock_now();
    move_locked(op, ZKR__OP_QUEUED);
    zkr__op_pump_locked(op->session);
}

bool zkr__op_cancel_locked(struct zkr__op *op)
{
    if (op->where != ZKR__OP_QUEUED && op->where != ZKR__OP_DELAYED)
        return false;
    zkr__timer_thread_disarm_locked(op->session, &op->timer);
    move_locked(op, ZKR__OP_IDLE);
    return true;
}

static void on_delay_over(struct zkr__timer *timer)
{
    struct zkr__op *op = ZKR__CONTAINER(timer, struct zkr__op, timer);

    zkr__session_assert_locked(op->session);
    move_locked(op, ZKR__OP_QUEUED);
    zkr__op_pump_locked(op->session);
}

static enum zkr__outcome outcome_of(int rc)
{
    /* The client has refused it: it was not carried out, and may be sent
     * again. */
    return rc == ZKR_ENOMEM || rc == ZKR__ZK_NOT_NOW ? ZKR__NOT_DONE
                                                     : zkr__error_outcome(rc);
}

/* True when it will be sent again. */
static bool retry_locked(struct zkr__op *op, int rc) ZKR__LOCKED
{
    struct zkr_session *s = op->session;
    const struct zkr_retry *policy = &s->opts.retry;
    int64_t now = zkr__clock_now();
    uint32_t delay_ms;

    if (op->retry == ZKR__RETRY_NEVER || s->over != 0)
        return false;
    if (op->retry == ZKR__RETRY_UNDONE && outcome_of(rc) != ZKR__NOT_DONE)
        return false;
    if (op->retry != ZKR__RETRY_POLICY)
        delay_ms = zkr__retry_delay(policy, op->retries, zkr__random());
    else if (!zkr__retry_next(policy, op->retries,
                              (uint64_t)((now - op->started) / ZKR__MS),
                              zkr__random(), &delay_ms))
        return false;
    s->counters.retries++;
    op->retries++;
    if (op->retry == ZKR__RETRY_UNDONE)
        op->sent = 0;
    zkr__log(ZKR_LOG_DEBUG, "request %d for %s: %s, again in %u ms",
             (int)op->request.type, op->request.path, zkr_strerror(rc),
             delay_ms);
    move_locked(op, ZKR__OP_DELAYED);
    zkr__timer_thread_arm_locked(s, &op->timer, now + delay_ms * ZKR__MS,
                                 on_delay_over);
    return true;
}

bool zkr__op_is_write(const struct zkr__op *op)
{
    return op->request.type == ZKR__ZK_CREATE ||
           op->request.type == ZKR__ZK_DELETE ||
           op->request.type == ZKR__ZK_SET ||
           op->request.type == ZKR__ZK_CHECK ||
           op->request.type == ZKR__ZK_MULTI;
}

/* Tells the session what the answer says about it. */
static void tell_lease_locked(struct zkr__op *op, int rc) ZKR__LOCKED
{
    struct zkr_session *s = op->session;
    int64_t now = zkr__clock_boot();

    if (op->epoch != s->epoch)
        return;
    if (zkr__error_outcome(rc) == ZKR__DONE) {
        s->answers++;
        s->answered_at = now;
    }
    if (rc != ZKR_OK && rc != ZKR_ZNONODE)
        return;
    if (rc == ZKR_OK && zkr__op_is_write(op))
        zkr__lease_committed(&s->lease, op->sent, now);
    else if (rc == ZKR_OK && op->request.type == ZKR__ZK_SYNC)
        zkr__lease_synced(&s->lease, op->sent, now);
    else
        zkr__lease_answered(&s->lease, op->sent, now);
}

static void finish_locked(struct zkr__op *op,
                          const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    static const struct zkr__zk_reply too_late = { .rc = ZKR_ZSESSIONEXPIRED };
    struct zkr_session *s = op->session;
    enum zkr__outcome outcome = outcome_of(reply->rc);

    tell_lease_locked(op, reply->rc);
    if (outcome == ZKR__OVER && op->epoch == s->epoch)
        zkr__session_lost_locked(s, reply->rc);
    /* An answer from the session before this one proves nothing any more. */
    if (op->epoch != s->epoch)
        reply = &too_late;
    else if ((outcome == ZKR__UNKNOWN || outcome == ZKR__NOT_DONE) &&
             retry_locked(op, reply->rc))
        return;
    move_locked(op, ZKR__OP_IDLE);
    op->done(op, reply);
}

/* Answers come in the order of the requests: it is the first, or not there. */
static struct zkr__op *find_locked(const struct zkr_session *s,
                                   uintptr_t ticket) ZKR__LOCKED
{
    const struct zkr__list *all = &s->in_flight;

    for (struct zkr__list *l = all->next; l != all; l = l->next) {
        struct zkr__op *op = ZKR__CONTAINER(l, struct zkr__op, link);

        if (op->ticket == ticket)
            return op;
    }
    return NULL;
}

void zkr__op_on_reply(struct zkr_session *s, uintptr_t ticket,
                      const struct zkr__zk_reply *reply)
{
    struct zkr__op *op;

    zkr__session_lock(s);
    op = find_locked(s, ticket);
    if (op != NULL)
        finish_locked(op, reply);
    zkr__op_pump_locked(s);
    if (s->over != 0 || s->handle_dead) /* it waits for the last answer */
        zkr__connector_wake_locked(s);
    zkr__session_unlock(s);
}

static void end_refused(struct zkr__timer *timer)
{
    struct zkr_session *s = ZKR__CONTAINER(timer, struct zkr_session, ending);
    struct zkr__list *link;

    zkr__session_assert_locked(s);
    while ((link = zkr__list_pop(&s->refused)) != NULL) {
        struct zkr__op *op = ZKR__CONTAINER(link, struct zkr__op, link);

        finish_locked(op, &(struct zkr__zk_reply){ .rc = op->refusal });
    }
    zkr__op_pump_locked(s);
}

/* `done` never runs inside the call that starts an operation. */
static void end_refused_later_locked(struct zkr_session *s) ZKR__LOCKED
{
    if (!zkr__timer_is_armed(&s->ending))
        zkr__timer_thread_arm_locked(s, &s->ending, 0, end_refused);
}

/* A handle that is over sends nothing. After other refusals the client may have
 * kept the request. */
static bool was_not_sent(int refusal)
{
    return refusal == ZKR__ZK_NOT_NOW ||
           zkr__error_outcome(refusal) == ZKR__OVER;
}

/* After a refusal nothing more is sent until the timer thread has completed it.
 * Earlier requests may still be in flight then. */
void zkr__op_pump_locked(struct zkr_session *s)
{
    while (!zkr__list_empty(&s->queued) && zkr__list_empty(&s->refused) &&
           zkr__session_connected(s) && s->in_flight_count < IN_FLIGHT_MAX) {
        struct zkr__op *op =
            ZKR__CONTAINER(s->queued.next, struct zkr__op, link);

        move_locked(op, ZKR__OP_IN_FLIGHT);
        op->sent = zkr__clock_boot();
        op->ticket = ++s->tickets;
        op->refusal = zkr__zk_submit(s->zk, &op->request, op->ticket);
        if (op->refusal != ZKR_OK) {
            if (was_not_sent(op->refusal))
                op->sent = 0;
            move_locked(op, ZKR__OP_REFUSED);
            end_refused_later_locked(s);
        }
    }
}

static void flush_list_locked(struct zkr_session *s, struct zkr__list *list,
                              bool all, int rc) ZKR__LOCKED
{
    struct zkr__list ending;
    struct zkr__list *link;

    zkr__list_init(&ending);
    zkr__list_splice(&ending, list);
    while ((link = zkr__list_pop(&ending)) != NULL) {
        struct zkr__op *op = ZKR__CONTAINER(link, struct zkr__op, link);

        if (all || op->epoch != s->epoch) {
            zkr__timer_thread_disarm_locked(s, &op->timer);
            finish_locked(op, &(struct zkr__zk_reply){ .rc = rc });
        } else {
            zkr__list_append(list, &op->link);
        }
    }
}

void zkr__op_flush_locked(struct zkr_session *s, bool all, int rc)
{
    flush_list_locked(s, &s->in_flight, true, rc);
    flush_list_locked(s, &s->refused, all, rc);
    flush_list_locked(s, &s->queued, all, rc);
    flush_list_locked(s, &s->delayed, all, rc);
}
