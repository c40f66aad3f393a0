/* A blocking call: its requests, and a caller who may leave before they end. */
#ifndef ZKR__CALL_H
#define ZKR__CALL_H

#include <pthread.h>
#include <stdatomic.h>

#include "session/op.h"

/* The first member of what a call works on. That lives until the caller has
 * left and no request is under way any more. */
struct zkr__call {
    /* set once */
    struct zkr_session *session;
    const char *noun; /* for errors: "revoke", */
    const char *path; /* ... and of what; both live as long */
    void (*free)(struct zkr__call *);
    int64_t deadline;

    atomic_uint refs; /* the caller, and each request under way */
    /* under the session lock */
    struct zkr__list link; /* in session->calls until the caller leaves */
    struct zkr__list asks; /* those under way */
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
    void (*done)(struct zkr__ask *ask, const struct zkr__zk_reply *reply);
};

/* With the caller's reference, which is dropped without the lock. */
void zkr__call_init(struct zkr__call *call, struct zkr_session *s,
                    void (*free)(struct zkr__call *));
void zkr__ask_init(struct zkr__ask *ask, struct zkr__call *call);
void zkr__call_unref(struct zkr__call *call);

/* The caller's side, in this order. What is certain to fail is refused before
 * anything is sent; then the call still has to be left. */
int zkr__call_begin_locked(struct zkr__call *call, int64_t deadline);
/* Until it has ended, or its deadline has passed, or the session is over. May
 * be repeated after an end, for the next requests. */
int zkr__call_wait_unlocks(struct zkr__call *call);
/* What has not been sent is taken back; what has been is not sent again, and
 * its answer means nothing any more. */
void zkr__call_leave_locked(struct zkr__call *call);

/* Send a request as the retry policy says. When the session ends meanwhile, it
 * is sent again in the next one: what is asked here belongs to no session.
 * `done` runs only while the caller may still wait for it; when the session is
 * over nothing is sent. Fill in ask->op.request first. */
void zkr__call_ask_locked(struct zkr__ask *ask, enum zkr__zk_type type,
                          const char *path,
                          void (*done)(struct zkr__ask *,
                                       const struct zkr__zk_reply *));

/* The same for what must not be sent twice: `done` gets whatever comes. */
void zkr__call_ask_once_locked(struct zkr__ask *ask, enum zkr__zk_type type,
                               const char *path,
                               void (*done)(struct zkr__ask *,
                                            const struct zkr__zk_reply *));

/* The outcome: wakes the caller. The first one stands. `reason` is a constant,
 * for an error. */
void zkr__call_end_locked(struct zkr__call *call, int rc, const char *reason);

/* The session is over: wakes all callers. */
void zkr__calls_wake_locked(struct zkr_session *s);

#endif
