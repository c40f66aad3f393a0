/* SPDX-License-Identifier: Apache-2.0 */
/* A condition: a request of a caller who waits until a node, or the list of its
 * children, is as it should be. */
#pragma once

#include <zkrecipes/client.h>

#include "request/request.h"

struct zkr__condition {
    const char *noun; /* for errors: "barrier" */
    const char *why;  /* it is not fulfilled yet: "it is still there" */
    enum zkr_watch_what what;
    /* Judges a result (look.h): ZKR_OK ends the wait, ZKR_EBUSY goes on
     * waiting, anything else ends it with that error. Under the lock. */
    int (*judge)(const struct zkr__zk_reply *reply, void *user);
    /* The same, when a node that was missing has been created, also if it has
     * gone since; NULL: the next result tells. */
    int (*created)(void *user);
};

/* How long a call waits, for whatever it needs. */
struct zkr__time_limit {
    int64_t deadline;
    bool for_servers_only; /* the timeout was 0: for nobody else */
};

struct zkr__time_limit zkr__time_limit(const struct zkr_session *s,
                                       int64_t timeout_ms);

/* The result that ends the wait was there after the call began. Reads go on in
 * new sessions, and the retry policy does not end them. Errors: ZKR_ETIMEDOUT;
 * ZKR_EBUSY instead of waiting for others, when the first result is not it;
 * ZKR_EUNREACHABLE, ZKR_EDEADLK, ZKR_ECLOSED, ..., and those of `judge`. */
int zkr__condition_await(const struct zkr__condition *condition,
                         struct zkr_session *s, const char *path, void *user,
                         const struct zkr__time_limit *limit);

/* The same in steps, for a caller that does more than wait: the request begins
 * to read, behind all that its session has been answered. */
int zkr__condition_begin(const struct zkr__condition *condition,
                         struct zkr_session *s, const char *path, void *user,
                         const struct zkr__time_limit *limit,
                         struct zkr__request **ret_request);
/* Stops reading, and drops the reference to the request. */
void zkr__condition_end(struct zkr__request *r);

/* Judges that wait until the node has gone, or is there. */
int zkr__condition_absent(const struct zkr__zk_reply *reply, void *unused);
int zkr__condition_present(const struct zkr__zk_reply *reply, void *unused);
