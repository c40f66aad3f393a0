/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which contender watches which other in the queue of one lock, as far as
 * the servers tell. Pure. */
#ifndef MODEL_WATCHING_H
#define MODEL_WATCHING_H

#include "model/lock_state.h"
#include "model/server_words.h"

/* A session watches the node of the contender at that place. */
struct watch_on {
    int64_t session_id;
    size_t target;
};

struct watching {
    const struct lock *lock;
    const struct servers *servers;
    const struct contender **names; /* sorted */
    int64_t *sessions;              /* of waiters, sorted, each as often */
    size_t session_count;
    struct watch_on *items; /* by session, then by target, each once */
    size_t count;
};

/* `base` is what servers_ask() was given: the path of the lock, or "". Both
 * must outlive the result. False: out of memory. */
bool watching_read(struct watching *w, const struct lock *lock,
                   const struct servers *servers, const char *base);
void watching_done(struct watching *w);

/* Tells whether a waiter wakes up when a contender before it goes. It does when
 * its session watches a contender before it; its own node does not count.
 * Servers do not report which thread of a session watches: where several of
 * them wait, the contender that an exclusive waiter waits for must be watched
 * itself. The answer is unknown where that one may not be read: then clients
 * with this library list again by a timer. It is unknown of one who wants a
 * permit of a semaphore, because that watches for children, and servers tell of
 * watches on data only. */
enum answer watching_wakes(const struct watching *w, const struct contender *c);

#endif
