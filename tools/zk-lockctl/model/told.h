/* SPDX-License-Identifier: Apache-2.0 */
/* What the servers have told of the contenders of one lock: where they are
 * connected from, whether their sessions live, and whether they will wake up.
 * Pure. */
#pragma once

#include "model/lock_state.h"
#include "model/server_words.h"

/* Tells whether a waiter wakes up when a contender before it goes. It does when
 * its session watches a contender before it; its own node does not count.
 * Servers do not report which thread of a session watches: where several of
 * them wait, the contender that an exclusive waiter waits for must be watched
 * itself. The answer is unknown where that one may not be read: then clients
 * with this library list again by a timer. It is unknown of one who wants a
 * permit of a semaphore, because that watches for children, and servers tell of
 * watches on data only. `servers` may be NULL. */
enum answer servers_wake(const struct servers *servers, const struct lock *lock,
                         const struct contender *c);

/* What a waiter, known by its token, will do when its turn comes. */
struct wake {
    int64_t token;
    enum answer answer; /* by the last look */
    bool was_deaf;      /* by the look before: no */
};

struct told {
    struct servers *servers; /* NULL: not asked */
    struct wake *wakes;      /* of all waiters, by token */
    size_t count;
    size_t deaf; /* of them: so many would not wake up */
};

/* Takes the servers, which were asked about that lock just after it was listed;
 * NULL: they were not. The lock is not kept. False: out of memory. */
bool told_take(struct told *told, const struct lock *lock,
               struct servers *servers);
void told_done(struct told *told);

/* NULL: not known. */
const struct client *told_client(const struct told *told,
                                 const struct contender *c);
enum answer told_lives(const struct told *told, const struct contender *c);
/* The queue and its watches are not read in one moment, so the answer is no
 * only when it was no two times running. */
enum answer told_wakes(const struct told *told, const struct contender *c);
