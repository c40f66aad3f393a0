/* SPDX-License-Identifier: Apache-2.0 */
/* A request: what somebody asks of the servers, with a deadline and one
 * outcome, which is told to the caller who waits, or to a callback.
 *
 * It sends asks: one after the other, or many at once. What an ask is sent
 * again for is said once, by its op.retry:
 *
 *   RETRY_POLICY  as the policy of the session says, and in the next session
 *   RETRY_UNDONE  a write of the program: as long as it is certain that it was
 *                 not made, in the next session, too; with a guard, in this
 *                 session only
 *   RETRY_NEVER   it is not; every outcome is an answer
 *
 * Between zkr__request_begin() and its outcome a request is open. The outcome
 * is set in one place, zkr__request_end_locked(), by whichever comes first: an
 * answer, the deadline (a timer), or the end of the session, for who waits. It
 * takes back the asks that have not been sent; the answers to the others are
 * ignored. Each ask under way has a reference to the request, so that the
 * caller may leave before they are answered. */
#pragma once

#include "base/ref.h"
#include "base/timer.h"
#include "session/dispatch.h"
#include "session/locked.h"
#include "session/op.h"
#include "session/upcalls.h"

struct zkr__request;

/* One operation of a request. */
struct zkr__ask {
    struct zkr__op op; /* the request fills in op.request */
    struct zkr__request *request;
    struct zkr__list link; /* in request->asks while it is under way */
    void (*done)(struct zkr__ask *ask, const struct zkr__zk_reply *reply);
};

/* The properties of all requests of one function. */
struct zkr__request_kind {
    const char *noun; /* for errors: "revoke" */
    size_t size;      /* of the struct that begins with a struct zkr__request */
    /* Copies what the program is to have of a reply; under the lock. False: out
     * of memory. For zkr__request_send_locked(). */
    bool (*keep)(struct zkr__request *r, const struct zkr__zk_reply *reply);
    /* Sets the sentence of an error, r->rc and r->why, and returns r->rc. NULL:
     * "noun 'path': why". */
    int (*explain)(const struct zkr__request *r);
    /* Frees the members of the struct; may be NULL. */
    void (*clear)(struct zkr__request *r);
};

/* Something that must be held when a write is made. The write is a transaction
 * whose first operation checks it. The request keeps the holder. */
struct zkr__guard {
    /* The write begins, unless this returns an error. This and the next two run
     * under the session lock. */
    int (*begin)(struct zkr__ref *holder);
    /* It is certain what has become of the write. */
    void (*settle)(struct zkr__ref *holder);
    /* The write was not made, because the check has failed with `rc`, or with
     * ZSESSIONEXPIRED because the session has ended. Returns the error, with a
     * constant reason. */
    int (*judge)(struct zkr__ref *holder, int rc, const char **ret_why);
    /* Of the node that is checked, with the chroot; valid as long as the holder
     * is kept. */
    const char *(*path)(struct zkr__ref *holder);
};

struct zkr__request {
    /* set before it begins */
    const struct zkr__request_kind *kind;
    struct zkr_session *session;
    char *path;      /* as the user gave it: for errors; may be NULL */
    char *full_path; /* `path` with the chroot: for asks */
    int64_t deadline;
    void (*tell)(
        struct zkr__request *r);    /* the callback; NULL: a caller waits */
    const struct zkr__guard *guard; /* NULL without */
    struct zkr__ref *holder;
    int late;             /* the outcome at the deadline, ZKR_EUNREACHABLE
                           * unless it is set, and its reason; */
    const char *late_why; /* NULL: what is missing then */

    struct zkr__ref ref; /* the owner, the notice, each ask under way */
    /* under the session lock */
    struct zkr__waiter waiter;
    struct zkr__list asks; /* those under way */
    struct zkr__ask ask;   /* the first, or only one */
    struct zkr__timer timeout;
    struct zkr__notice notice;
    struct zkr__cond changed;
    bool ended;
    int rc;          /* the outcome, and its */
    const char *why; /* constant reason; both stay once it has ended */
};

/* Memory of kind->size, zeroed, that begins with the request, and with the
 * owner's reference; NULL when out of memory, which is an error of the call.
 * `path` may be NULL. */
void *zkr__request_new(const struct zkr__request_kind *kind,
                       struct zkr_session *s, const char *path,
                       int64_t deadline);
void zkr__request_unref(struct zkr__request *r);

/* Opens it, and lets `start_locked` send the first asks. The caller must not
 * have the lock. What is certain to fail is refused before anything is sent:
 * after the deadline, in a session that is over, or when a callback would wait.
 * Then nothing is told to a callback. */
int zkr__request_begin(struct zkr__request *r,
                       void (*start_locked)(struct zkr__request *r));

/* Waits for the outcome, and returns it. */
int zkr__request_wait(struct zkr__request *r);

/* Both; of a request with a callback the first only. It may be repeated after
 * ZKR_OK, for the next asks, before the same deadline. */
int zkr__request_run(struct zkr__request *r,
                     void (*start_locked)(struct zkr__request *r));

/* Tells whether it has ended well. */
bool zkr__request_has_succeeded(struct zkr__request *r);

/* -- while it is open ------------------------------------------------------ */

/* Sets the outcome. The first one stays. `why` is a constant, for an error. */
void zkr__request_end_locked(struct zkr__request *r, int rc,
                             const char *why) ZKR__LOCKED;

/* Another ask, in the same memory. */
void zkr__ask_init(struct zkr__ask *ask, struct zkr__request *r);

/* Sends it. `done` runs only while the request is open. */
void zkr__ask_locked(struct zkr__ask *ask, enum zkr__zk_type type,
                     const char *path, enum zkr__op_retry retry,
                     void (*done)(struct zkr__ask *,
                                  const struct zkr__zk_reply *)) ZKR__LOCKED;

/* Sends the one operation of the program that r->ask has, and has its answer
 * for the outcome. A write that may have been made is ZKR_EUNKNOWN. */
void zkr__request_send_locked(struct zkr__request *r) ZKR__LOCKED;
