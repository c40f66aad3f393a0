/* SPDX-License-Identifier: Apache-2.0 */
/* A blocking call: its requests, and a caller that may leave before they
 * end. */
#include "session/call.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "session/session.h"

void *zkr__call_new(const struct zkr__call_type *type, struct zkr_session *s,
                    const char *path, int64_t timeout_ms)
{
    struct zkr__call *call = calloc(1, type->size);

    if (call == NULL || (call->path = strdup(path)) == NULL ||
        (call->full_path = zkr__session_full_path(s, path)) == NULL) {
        if (call != NULL)
            free(call->path);
        free(call);
        (void)zkr__fail(ZKR_ENOMEM, "%s: out of memory", type->noun);
        return NULL;
    }
    zkr__session_ref(s);
    call->type = type;
    call->session = s;
    call->deadline = zkr__session_deadline(s, timeout_ms);
    atomic_init(&call->refs, 1);
    zkr__list_init(&call->link);
    zkr__list_init(&call->asks);
    (void)zkr__cond_init(&call->changed);
    return call;
}

void zkr__ask_init(struct zkr__ask *ask, struct zkr__call *call)
{
    ask->call = call;
    zkr__list_init(&ask->link);
    zkr__op_init(&ask->op, call->session);
    ask->op.lane = ZKR__OP_READS; /* or a write */
}

/* Under the session lock this never drops the last reference of the session,
 * because the connector or the timer thread still has one. */
void zkr__call_unref(struct zkr__call *call)
{
    struct zkr_session *s = call->session;

    if (atomic_fetch_sub(&call->refs, 1) != 1)
        return;
    (void)pthread_cond_destroy(&call->changed);
    if (call->type->clear != NULL)
        call->type->clear(call);
    free(call->path);
    free(call->full_path);
    free(call);
    zkr__session_unref(s);
}

static int fail(const struct zkr__call *call, int rc, const char *reason)
{
    return zkr__fail(rc, "%s '%.300s': %s", call->type->noun, call->path,
                     reason);
}

static int session_is_over(const struct zkr__call *call)
{
    const struct zkr_session *s = call->session;

    return fail(call, s->over,
                s->over == ZKR_ECLOSED ? "the session is closed"
                                       : "the session is over");
}

static int begin_locked(struct zkr__call *call) ZKR__LOCKED
{
    struct zkr_session *s = call->session;

    if (s->over != 0)
        return session_is_over(call);
    if (zkr__dispatch_inside_locked(s))
        return fail(call, ZKR_EDEADLK, "a callback cannot wait");
    zkr__list_append(&s->calls, &call->link);
    return ZKR_OK;
}

static int timed_out(const struct zkr__call *call)
{
    return fail(call, ZKR_ZOPERATIONTIMEOUT,
                zkr__session_connected(call->session)
                    ? "no answer before the deadline"
                    : "deadline passed without a connection");
}

static int wait_unlocks(struct zkr__call *call) ZKR__UNLOCKS
{
    struct zkr_session *s = call->session;

    while (!call->ended && s->over == 0 &&
           zkr__cond_wait(&call->changed, &s->lock, call->deadline))
        ;
    if (!call->ended)
        return s->over != 0 ? session_is_over(call) : timed_out(call);
    call->ended = false;
    return call->rc == ZKR_OK ? ZKR_OK : fail(call, call->rc, call->reason);
}

static void leave_locked(struct zkr__call *call) ZKR__LOCKED
{
    struct zkr__list *next;

    zkr__list_remove(&call->link);
    for (struct zkr__list *l = call->asks.next; l != &call->asks; l = next) {
        struct zkr__ask *ask = ZKR__CONTAINER(l, struct zkr__ask, link);

        next = l->next;
        ask->op.retry = ZKR__RETRY_NEVER;
        if (zkr__op_cancel_locked(&ask->op)) {
            zkr__list_remove(&ask->link);
            zkr__call_unref(call); /* the caller still has one */
        }
    }
}

int zkr__call_run(struct zkr__call *call,
                  void (*start_locked)(struct zkr__call *call))
{
    struct zkr_session *s = call->session;
    int rc;

    zkr__session_lock(s);
    rc = begin_locked(call);
    if (rc == ZKR_OK) {
        start_locked(call);
        rc = wait_unlocks(call);
    }
    leave_locked(call);
    zkr__session_unlock(s);
    return rc;
}

bool zkr__call_is_awaited(const struct zkr__call *call)
{
    return !zkr__list_empty(&call->link) && call->session->over == 0;
}

static void on_reply(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__ask *ask = ZKR__CONTAINER(op, struct zkr__ask, op);
    struct zkr__call *call = ask->call;

    zkr__session_assert_locked(op->session);
    if (zkr__call_is_awaited(call) && reply->rc == ZKR_ZSESSIONEXPIRED &&
        !ask->once) {
        zkr__op_again_locked(op);
        return;
    }
    zkr__list_remove(&ask->link);
    if (zkr__call_is_awaited(call))
        ask->done(ask, reply);
    zkr__call_unref(call);
}

static void send_locked(struct zkr__ask *ask, enum zkr__zk_type type,
                        const char *path,
                        void (*done)(struct zkr__ask *,
                                     const struct zkr__zk_reply *)) ZKR__LOCKED
{
    struct zkr__call *call = ask->call;

    if (call->session->over != 0) /* nothing would end it any more */
        return;
    (void)atomic_fetch_add(&call->refs, 1);
    zkr__list_append(&call->asks, &ask->link);
    ask->done = done;
    zkr__op_start_locked(&ask->op, type, path,
                         ask->once ? ZKR__RETRY_NEVER : ZKR__RETRY_POLICY,
                         on_reply);
}

void zkr__call_ask_locked(struct zkr__ask *ask, enum zkr__zk_type type,
                          const char *path,
                          void (*done)(struct zkr__ask *,
                                       const struct zkr__zk_reply *))
{
    ask->once = false;
    send_locked(ask, type, path, done);
}

void zkr__call_ask_once_locked(struct zkr__ask *ask, enum zkr__zk_type type,
                               const char *path,
                               void (*done)(struct zkr__ask *,
                                            const struct zkr__zk_reply *))
{
    ask->once = true;
    send_locked(ask, type, path, done);
}

static void on_sync(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    zkr__session_assert_locked(ask->call->session);
    /* A sync of a missing node succeeds on some servers, and fails on
     * others. */
    if (reply->rc == ZKR_OK || reply->rc == ZKR_ZNONODE)
        ask->then(ask);
    else
        zkr__call_end_locked(ask->call, reply->rc, "cannot catch up");
}

void zkr__call_sync_locked(struct zkr__ask *ask,
                           void (*then)(struct zkr__ask *ask))
{
    ask->then = then;
    zkr__call_ask_locked(ask, ZKR__ZK_SYNC, ask->call->full_path, on_sync);
}

void zkr__call_end_locked(struct zkr__call *call, int rc, const char *reason)
{
    if (call->ended)
        return;
    call->ended = true;
    call->rc = rc;
    call->reason = reason;
    (void)pthread_cond_broadcast(&call->changed);
}

void zkr__calls_wake_locked(struct zkr_session *s)
{
    for (struct zkr__list *l = s->calls.next; l != &s->calls; l = l->next) {
        struct zkr__call *call = ZKR__CONTAINER(l, struct zkr__call, link);

        (void)pthread_cond_broadcast(&call->changed);
    }
}
