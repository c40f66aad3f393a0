/* SPDX-License-Identifier: Apache-2.0 */
/* One operation: queued, sent, retried while its epoch lasts, answered once. */
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
#include "session/watch.h"

void zkr__op_init(struct zkr__op *op, struct zkr_session *s,
                  struct zkr__ref *owner)
{
    *op = (struct zkr__op){ .session = s,
                            .owner = owner,
                            .request.version = ZKR_ANY_VERSION };
    zkr__list_init(&op->link);
}

static struct zkr__op *op_of(struct zkr__list *link)
{
    return ZKR__CONTAINER(link, struct zkr__op, link);
}

/* A write of the program that was certainly not made keeps its place, so that
 * those behind it wait. */
static struct zkr__list *list_of(struct zkr__op *op, enum zkr__op_where where)
{
    struct zkr_session *s = op->session;
    bool stays = op->class == ZKR__OP_WRITES && op->retry == ZKR__RETRY_UNDONE;
    struct zkr__list *const lists[] = {
        [ZKR__OP_IDLE] = NULL,
        [ZKR__OP_QUEUED] = &s->queued[op->class],
        [ZKR__OP_DELAYED] = stays ? &s->queued[op->class] : &s->delayed,
        [ZKR__OP_IN_FLIGHT] = &s->in_flight,
        [ZKR__OP_REFUSED] = &s->refused,
    };

    return lists[where];
}

/* Returns the item before which the operation goes. A request of the
 * program that comes back is older than all that were not sent yet. */
static struct zkr__list *place_in(struct zkr__list *list,
                                  const struct zkr__op *op)
{
    struct zkr__list *place = list;

    if (op->class < ZKR__OP_READS || zkr__list_empty(list) ||
        op_of(list->prev)->turn < op->turn)
        return place;
    place = list->next;
    while (op->class == ZKR__OP_WRITES && op_of(place)->turn < op->turn)
        place = place->next;
    return place;
}

static void move_locked(struct zkr__op *op,
                        enum zkr__op_where where) ZKR__LOCKED
{
    struct zkr_session *s = op->session;
    struct zkr__list *list = list_of(op, where);

    assert(zkr__mtx_mine(&s->lock));
    s->class_count[op->class] -= op->where == ZKR__OP_IN_FLIGHT;
    s->class_count[op->class] += where == ZKR__OP_IN_FLIGHT;
    zkr__list_remove(&op->link);
    if (list != NULL)
        zkr__list_append(place_in(list, op), &op->link);
    op->where = where;
}

void zkr__op_again_locked(struct zkr__op *op)
{
    assert(op->where == ZKR__OP_IDLE);
    if (op->owner != NULL)
        zkr__ref_take(op->owner);
    op->epoch = op->session->epoch;
    op->retries = 0;
    op->started = zkr__clock_now();
    move_locked(op, ZKR__OP_QUEUED);
    zkr__op_pump_locked(op->session);
}

void zkr__op_start_locked(struct zkr__op *op, enum zkr__zk_type type,
                          const char *path, enum zkr__op_retry retry,
                          void (*done)(struct zkr__op *,
                                       const struct zkr__zk_reply *))
{
    op->request.type = type;
    op->request.path = path;
    op->retry = retry;
    op->done = done;
    op->turn = ++op->session->turns;
    if (op->class >= ZKR__OP_READS)
        op->class = zkr__op_is_write(op) ? ZKR__OP_WRITES : ZKR__OP_READS;
    zkr__op_again_locked(op);
}

bool zkr__op_cancel_locked(struct zkr__op *op)
{
    if (op->where != ZKR__OP_QUEUED && op->where != ZKR__OP_DELAYED)
        return false;
    zkr__timer_thread_disarm_locked(op->session, &op->timer);
    move_locked(op, ZKR__OP_IDLE);
    if (op->class == ZKR__OP_WRITES) /* others may have waited for it */
        zkr__op_pump_locked(op->session);
    if (op->owner != NULL)
        zkr__ref_drop(op->owner);
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
    if (op->retry == ZKR__RETRY_POLICY) {
        if (!zkr__retry_next(policy, op->retries,
                             (uint64_t)((now - op->started) / ZKR__MS),
                             zkr__random(), &delay_ms))
            return false;
    } else {
        /* The client pauses before it connects. Pauses that grew with each lost
         * connection would keep a grant UNSURE on a good one. */
        if (rc == ZKR_ZCONNECTIONLOSS || rc == ZKR_ZOPERATIONTIMEOUT)
            op->retries = 0;
        delay_ms = zkr__retry_delay(policy, op->retries, zkr__random());
    }
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

/* -- what is sent next ----------------------------------------------------- */

static bool has_room(const struct zkr_session *s, enum zkr__op_class class)
{
    const size_t *count = s->class_count;

    if (class == ZKR__OP_CHECKS)
        return count[class] < ZKR__WINDOW_MAX;
    if (class >= ZKR__OP_READS)
        return count[ZKR__OP_READS] + count[ZKR__OP_WRITES] < s->window.size;
    return count[ZKR__OP_OF_LOCKS] + count[ZKR__OP_RELEASES] < s->window.size;
}

/* Returns the first of a class if there is room for it. */
static struct zkr__op *first_of(struct zkr_session *s, enum zkr__op_class class)
{
    struct zkr__list *queue = &s->queued[class];

    return zkr__list_empty(queue) || !has_room(s, class) ? NULL
                                                         : op_of(queue->next);
}

/* A release may overtake reads, but no write that was started before it. */
static struct zkr__op *next_release(struct zkr_session *s)
{
    struct zkr__list *writes = &s->queued[ZKR__OP_WRITES];
    struct zkr__op *op = first_of(s, ZKR__OP_RELEASES);

    if (op != NULL && !zkr__list_empty(writes) &&
        op_of(writes->next)->turn < op->turn)
        return NULL;
    return op;
}

static struct zkr__op *next_of_program(struct zkr_session *s)
{
    struct zkr__op *read = first_of(s, ZKR__OP_READS);
    struct zkr__op *write = first_of(s, ZKR__OP_WRITES);

    if (write == NULL || (read != NULL && read->turn < write->turn))
        return read;
    return write->where == ZKR__OP_DELAYED ? NULL : write;
}

/* Returns the operation that is to be sent next, or NULL. Locks and the program
 * have a window each, so none of them waits for the other's queue. */
static struct zkr__op *next(struct zkr_session *s)
{
    struct zkr__op *op = first_of(s, ZKR__OP_CHECKS);

    if (op == NULL)
        op = next_release(s);
    if (op == NULL)
        op = first_of(s, ZKR__OP_OF_LOCKS);
    return op == NULL ? next_of_program(s) : op;
}

/* -- answers --------------------------------------------------------------- */

static void tell_window(struct zkr__op *op, int64_t now)
{
    if (op->request.type != ZKR__ZK_SYNC) /* neither a read nor a write */
        zkr__window_answered(&op->session->window, zkr__op_is_write(op),
                             op->sent, now, !has_room(op->session, op->class));
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
        tell_window(op, now);
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
    struct zkr__ref *owner = op->owner; /* `done` may begin another operation */
    enum zkr__outcome outcome = outcome_of(reply->rc);
    bool again = false;

    tell_lease_locked(op, reply->rc);
    if (outcome == ZKR__OVER && op->epoch == s->epoch)
        zkr__session_lost_locked(s, reply->rc);
    /* An answer from the session before this one proves nothing any more. */
    if (op->epoch != s->epoch)
        reply = &too_late;
    else if (outcome == ZKR__UNKNOWN || outcome == ZKR__NOT_DONE)
        again = retry_locked(op, reply->rc);
    if (op->request.watch != NULL)
        zkr__watch_answered_locked(op->request.watch, op->request.type,
                                   reply->rc, again);
    if (again)
        return;
    move_locked(op, ZKR__OP_IDLE);
    if (op->done != NULL)
        op->done(op, reply);
    if (owner != NULL)
        zkr__ref_drop(owner);
}

/* Answers come in the order of the requests: it is the first, or not there. */
static struct zkr__op *find_locked(const struct zkr_session *s,
                                   uintptr_t id) ZKR__LOCKED
{
    const struct zkr__list *all = &s->in_flight;

    for (struct zkr__list *l = all->next; l != all; l = l->next) {
        if (op_of(l)->id == id)
            return op_of(l);
    }
    return NULL;
}

void zkr__op_on_reply(struct zkr_session *s, uintptr_t id,
                      const struct zkr__zk_reply *reply)
{
    zkr__session_lock(s);
    struct zkr__op *op = find_locked(s, id);
    if (op != NULL)
        finish_locked(op, reply);
    zkr__op_pump_locked(s);
    if (s->over != 0 || s->handle_dead) /* it waits for the last answer */
        zkr__connector_wake_locked(s);
    zkr__session_unlock(s);
}

/* On the timer thread: `done` never runs inside the call that starts an
 * operation. */
static void end_refused(struct zkr__timer *timer)
{
    struct zkr__op *op = ZKR__CONTAINER(timer, struct zkr__op, timer);
    struct zkr_session *s = op->session;

    zkr__session_assert_locked(s);
    finish_locked(op, &(struct zkr__zk_reply){ .rc = op->refusal });
    zkr__op_pump_locked(s);
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
    struct zkr__op *op;

    while (zkr__list_empty(&s->refused) && zkr__session_connected(s) &&
           (op = next(s)) != NULL) {
        move_locked(op, ZKR__OP_IN_FLIGHT);
        op->sent = zkr__clock_boot();
        op->id = ++s->last_id;
        op->refusal = (int16_t)zkr__zk_submit(s->zk, &op->request, op->id);
        if (op->refusal != ZKR_OK) {
            if (was_not_sent(op->refusal))
                op->sent = 0;
            move_locked(op, ZKR__OP_REFUSED);
            zkr__timer_thread_arm_locked(s, &op->timer, 0, end_refused);
        }
    }
}

static void flush_one(struct zkr__list *link, void *reply)
{
    struct zkr__op *op = op_of(link);
    struct zkr_session *s = op->session;

    zkr__session_assert_locked(s);
    if (op->epoch == s->epoch && s->over == 0) /* it is for the next handle */
        return;
    zkr__timer_thread_disarm_locked(s, &op->timer);
    finish_locked(op, reply);
}

void zkr__op_flush_locked(struct zkr_session *s, int rc)
{
    struct zkr__zk_reply reply = { .rc = rc };

    zkr__list_each(&s->in_flight, flush_one, &reply);
    zkr__list_each(&s->refused, flush_one, &reply);
    zkr__list_each(&s->delayed, flush_one, &reply);
    for (int class = 0; class < ZKR__OP_CLASSES; class ++)
        zkr__list_each(&s->queued[class], flush_one, &reply);
}
