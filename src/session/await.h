/* SPDX-License-Identifier: Apache-2.0 */
/* Awaiting: a caller who waits until a node, or the list of its children, is as
 * it should be. */
#ifndef ZKR__AWAIT_H
#define ZKR__AWAIT_H

#include <zkrecipes/watch.h>

#include "zk/zk.h"

/* A condition to wait for. */
struct zkr__await {
    const char *noun; /* for errors: "barrier" */
    const char *why;  /* ... not yet: "it is still there" */
    enum zkr_watch_what what;
    /* Judges a result (look.h): ZKR_OK ends the wait, ZKR_EBUSY goes on
     * waiting, anything else ends it with that error. Under the lock. */
    int (*judge)(const struct zkr__zk_reply *reply, void *user);
    /* The same, when a node that was missing has been created, also if it has
     * gone since; NULL: the next result tells. */
    int (*created)(void *user);
};

/* How long a call waits, for whatever it needs. */
struct zkr__patience {
    int64_t deadline;
    bool for_servers_only; /* the timeout was 0: for nobody else */
};

struct zkr__patience zkr__patience(const struct zkr_session *s,
                                   int64_t timeout_ms);

/* The result that ends the wait was there after the call began. Reads go on in
 * new sessions, and the retry policy does not end them. Errors: ZKR_ETIMEDOUT;
 * ZKR_EBUSY instead of waiting for others, when the first result is not it;
 * ZKR_EUNREACHABLE, ZKR_EDEADLK, ZKR_ECLOSED, ..., and those of `judge`. */
int zkr__await(const struct zkr__await *await, struct zkr_session *s,
               const char *path, void *user, const struct zkr__patience *until);

/* The same in steps, for a caller that does more than wait. It begins to read,
 * behind all that its session has been answered. */
struct zkr__awaiting;
int zkr__await_begin(const struct zkr__await *await, struct zkr_session *s,
                     const char *path, void *user,
                     const struct zkr__patience *until,
                     struct zkr__awaiting **ret_awaiting);
/* Tells whether that is what it waits for. */
bool zkr__await_has_come(struct zkr__awaiting *a);
int zkr__await_rest(struct zkr__awaiting *a);
void zkr__await_end(struct zkr__awaiting *a);

/* Judges that wait until the node has gone, or is there. */
int zkr__await_absence(const struct zkr__zk_reply *reply, void *unused);
int zkr__await_presence(const struct zkr__zk_reply *reply, void *unused);

#endif
