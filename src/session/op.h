/* SPDX-License-Identifier: Apache-2.0 */
/* One operation: queued, sent, retried while its epoch lasts, answered once. */
#pragma once

#include "base/list.h"
#include "base/ref.h"
#include "base/timer.h"
#include "session/locked.h"
#include "zk/zk.h"

/* The action when the outcome is not an answer of the server. */
enum zkr__op_retry {
    ZKR__RETRY_NEVER,  /* complete: the caller knows better */
    ZKR__RETRY_UNDONE, /* send again while it is certain that it was not done */
    ZKR__RETRY_POLICY, /* send again as the policy of the session says */
    ZKR__RETRY_ALWAYS, /* send again until there is an answer */
};

/* The queues in which requests wait to be sent. Each is sent in its order. */
enum zkr__op_class {
    ZKR__OP_OF_LOCKS, /* the default; what sets or removes watches, too */
    ZKR__OP_CHECKS,   /* they order nothing, and overtake all others */
    ZKR__OP_RELEASES, /* behind the writes of the program that began before */
    /* The program's, which are sent in the order of the calls, together. An
     * owner sets either of the two. */
    ZKR__OP_READS,
    ZKR__OP_WRITES,
    ZKR__OP_CLASSES
};

struct zkr__op {
    struct zkr_session *session;
    struct zkr__ref *owner; /* kept while it is not idle; NULL: nobody's */
    struct zkr__zk_request request;
    /* Under the lock, on any thread; the operation is idle again, and the owner
     * is kept until this returns. NULL: only the lease is told. */
    void (*done)(struct zkr__op *op, const struct zkr__zk_reply *reply);

    struct zkr__list link;
    uint64_t turn; /* requests are counted as they are started */
    uintptr_t id;  /* of the last time that it was sent */
    enum zkr__op_where {
        ZKR__OP_IDLE,
        ZKR__OP_QUEUED,
        ZKR__OP_DELAYED,
        ZKR__OP_IN_FLIGHT,
        ZKR__OP_REFUSED, /* by the client: the timer thread completes it */
    } where : 4;
    enum zkr__op_class class : 4;
    enum zkr__op_retry retry : 8;
    int16_t refusal;
    uint32_t retries;
    uint64_t epoch;
    int64_t started;
    int64_t sent; /* when last, by the clock of the lease; 0: never, or the
                   * servers have certainly not done it (RETRY_UNDONE) */
    struct zkr__timer timer;
};

void zkr__op_init(struct zkr__op *op, struct zkr_session *s,
                  struct zkr__ref *owner);

bool zkr__op_is_write(const struct zkr__op *op);

/* Start an idle operation; fill in op->request but for type and path before,
 * and its class. While there is no connection, or no room in the window, it
 * waits. Operations of one class, and reads and writes together, are sent in
 * the order in which they are started. Nothing is copied: path and data must
 * live until it is done. It ends with an answer of the server, with an outcome
 * that is not to be retried, or, when its epoch has ended, with ZSESSIONEXPIRED
 * or ZCLOSING. `done` never runs inside this call. */
void zkr__op_start_locked(
    struct zkr__op *op, enum zkr__zk_type type, const char *path,
    enum zkr__op_retry retry,
    void (*done)(struct zkr__op *, const struct zkr__zk_reply *)) ZKR__LOCKED;

/* Start it again in the present epoch, after ZSESSIONEXPIRED, with its place in
 * the order. */
void zkr__op_again_locked(struct zkr__op *op) ZKR__LOCKED;

/* Takes it back if it is not in flight. Then it returns true, and `done` will
 * not be called. The caller has a reference to the owner. */
bool zkr__op_cancel_locked(struct zkr__op *op) ZKR__LOCKED;

/* Upcall of the seam. An answer to an id of no request in flight counts for
 * nothing: the client had refused it, or the library has ended it. */
void zkr__op_on_reply(struct zkr_session *s, uintptr_t id,
                      const struct zkr__zk_reply *reply);

/* Sends the queued requests. */
void zkr__op_pump_locked(struct zkr_session *s) ZKR__LOCKED;

/* Called when the handle is closed and no answer can come any more: ends with
 * `rc` the requests in flight and those of a past epoch, or all requests of a
 * session that is over. */
void zkr__op_flush_locked(struct zkr_session *s, int rc) ZKR__LOCKED;
