/* SPDX-License-Identifier: Apache-2.0 */
/* An errand: a request of the program, with a deadline and one outcome, which
 * is told to the caller who waits, or to a callback.
 *
 * Reads are sent again as the retry policy says, in the next session, too.
 * Writes are sent again as long as it is certain that they were not made;
 * otherwise their outcome is unknown. An errand with a guard is of the session
 * in which it began. */
#ifndef ZKR__ERRAND_H
#define ZKR__ERRAND_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/timer.h"
#include "session/dispatch.h"
#include "session/locked.h"
#include "session/op.h"

struct zkr__errand;

/* The properties of all errands of one kind. */
struct zkr__errand_type {
    /* Copies what the program is to have of a reply; under the lock. False: out
     * of memory. */
    bool (*keep)(struct zkr__errand *e, const struct zkr__zk_reply *reply);
    /* Sets the sentence of an error, e->rc and e->why, and returns e->rc. */
    int (*explain)(const struct zkr__errand *e);
    /* Runs the callback. */
    void (*tell)(struct zkr__errand *e);
    /* Frees the struct that begins with the errand. */
    void (*free)(struct zkr__errand *e);
};

/* Something that must be held when a write is made. The write is a transaction
 * whose first operation checks it. */
struct zkr__guard {
    /* The errand needs the holder, until it releases it. Without the lock. */
    void (*hold)(void *holder);
    /* The write begins, unless this returns an error. This and the next two run
     * under the session lock. */
    int (*begin)(void *holder);
    /* It is certain what has become of the write. */
    void (*settle)(void *holder);
    /* The write was not made, because the check has failed with `rc`, or with
     * ZSESSIONEXPIRED because the session has ended. Returns the error, with a
     * constant reason. */
    int (*judge)(void *holder, int rc, const char **ret_why);
    /* With or without the lock. */
    void (*release)(void *holder);
};

struct zkr__errand {
    /* set once */
    const struct zkr__errand_type *type;
    struct zkr_session *session;
    const struct zkr__guard *guard; /* NULL without */
    void *holder;
    bool waits; /* a caller; else there is a callback */

    atomic_uint refs; /* the owner, the notice, the request under way */
    /* under the session lock */
    struct zkr__op op; /* the creator fills in its request */
    struct zkr__timer timeout;
    struct zkr__notice notice;
    pthread_cond_t changed;
    bool ended;
    int rc;          /* of the outcome, and */
    const char *why; /* ... its constant reason; both stay once it has ended */
};

/* With the owner's reference. */
void zkr__errand_init(struct zkr__errand *e,
                      const struct zkr__errand_type *type,
                      struct zkr_session *s);
void zkr__errand_unref(struct zkr__errand *e);

/* Sends it. The caller must not have the lock. If somebody waits it returns the
 * outcome, otherwise ZKR_OK, and the callback is told. On any other return
 * without waiting there will be no callback. After the deadline nothing is
 * sent. */
int zkr__errand_run(struct zkr__errand *e, bool waits, int64_t deadline);

#endif
