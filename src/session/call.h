/* SPDX-License-Identifier: Apache-2.0 */
/* A blocking call: its requests, and a caller that may leave before they
 * end. */
#ifndef ZKR__CALL_H
#define ZKR__CALL_H

#include <pthread.h>
#include <stdatomic.h>

#include "session/locked.h"
#include "session/op.h"

struct zkr__call;

/* The properties of all calls of one function. */
struct zkr__call_type {
    const char *noun; /* for errors: "revoke" */
    size_t size;      /* of the struct that begins with a struct zkr__call */
    void (*clear)(struct zkr__call *call); /* frees its members; may be NULL */
};

/* The first member of the struct that a call works on. The struct lives until
 * the caller has left and no request is under way any more. */
struct zkr__call {
    /* set once */
    const struct zkr__call_type *type;
    struct zkr_session *session;
    char *path;      /* as the user gave it: for errors */
    char *full_path; /* `path` with the chroot: for requests */
    int64_t deadline;

    atomic_uint refs; /* the caller, and each request under way */
    /* under the session lock */
    struct zkr__list link; /* in session->calls until the caller leaves */
    struct zkr__list asks; /* the requests under way */
    bool ended;
    int rc;
    const char *reason; /* constant */
    pthread_cond_t changed;
};

/* One request of a call, in the same memory. */
struct zkr__ask {
    struct zkr__op op;
    struct zkr__call *call;
    struct zkr__list link;
    bool once;
    void (*then)(struct zkr__ask *ask); /* after a sync */
    void (*done)(struct zkr__ask *ask, const struct zkr__zk_reply *reply);
};

/* Memory of type->size, zeroed, that begins with the call, and with the
 * caller's reference; NULL when out of memory, which is an error of the call. A
 * timeout of 0 is reply_timeout_ms of the session. */
void *zkr__call_new(const struct zkr__call_type *type, struct zkr_session *s,
                    const char *path, int64_t timeout_ms);
void zkr__ask_init(struct zkr__ask *ask, struct zkr__call *call);
/* The caller must not have the lock. */
void zkr__call_unref(struct zkr__call *call);

/* Lets `start_locked` send the first requests, and waits until one of their
 * answers ends the call, or its deadline has passed, or the session is over.
 * Then the caller leaves: requests that have not been sent are taken back;
 * those that have been are not sent again, and their answers are ignored. A
 * call that is certain to fail is refused before anything is sent.
 *
 * It may be repeated after ZKR_OK, for the next requests, before the same
 * deadline. */
int zkr__call_run(struct zkr__call *call,
                  void (*start_locked)(struct zkr__call *call));

/* Sends a request as the retry policy says. When the session ends meanwhile, it
 * is sent again in the next one, because these requests belong to no session.
 * `done` runs only while the caller may still wait for it; when the session is
 * over nothing is sent. Fill in ask->op.request first. */
void zkr__call_ask_locked(
    struct zkr__ask *ask, enum zkr__zk_type type, const char *path,
    void (*done)(struct zkr__ask *, const struct zkr__zk_reply *)) ZKR__LOCKED;

/* The same for a request that must not be sent twice: `done` gets every
 * outcome. */
void zkr__call_ask_once_locked(
    struct zkr__ask *ask, enum zkr__zk_type type, const char *path,
    void (*done)(struct zkr__ask *, const struct zkr__zk_reply *)) ZKR__LOCKED;

/* Lets the server catch up with the leader, on the path of the call, before
 * `then` sends its requests. An error ends the call. */
void zkr__call_sync_locked(struct zkr__ask *ask,
                           void (*then)(struct zkr__ask *ask)) ZKR__LOCKED;

/* Tells whether the caller may still wait. When the session is over the caller
 * leaves, and no request may be started any more. Under the lock. */
bool zkr__call_is_awaited(const struct zkr__call *call) ZKR__LOCKED;

/* Sets the outcome and wakes the caller. The first outcome stays. `reason` is a
 * constant, for an error. */
void zkr__call_end_locked(struct zkr__call *call, int rc,
                          const char *reason) ZKR__LOCKED;

/* Wakes all callers, because the session is over. */
void zkr__calls_wake_locked(struct zkr_session *s) ZKR__LOCKED;

#endif
