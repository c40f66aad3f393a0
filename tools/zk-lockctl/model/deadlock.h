/* SPDX-License-Identifier: Apache-2.0 */
/* Finds deadlocks: cycles of owners who wait for each other across locks.
 * Pure. */
#pragma once

#include "model/lock_state.h"

/* One owner in a cycle. It waits for the next member, and the one before it
 * waits for what this one holds, or, where it holds nothing, for it to get what
 * it waits for itself: queues are fair. A waiter may be inside of the holder,
 * as a nested run is: then the two have different sessions. */
struct deadlock_member {
    const struct contender *held; /* NULL: it is only ahead in the queue */
    const struct contender *waits;
};

struct deadlock {
    bool certain;   /* or several threads of one session look like one owner */
    int64_t since;  /* when the last of them began to wait, as since_ms */
    int64_t age_ms; /* since then, of a deadlock of `across` */
    const struct deadlock_member *youngest; /* it has waited shortest */
    struct deadlock_member *members;
    size_t count;
};

struct deadlocks {
    struct deadlock *items; /* the certain ones first */
    size_t count;
    bool cut; /* there may be more */
};

/* Finds cycles among these locks, so that every session in a cycle is in one of
 * the results, though not every cycle is: the same sessions are one result, a
 * session that waits for itself is one in each lock. With `before`, an earlier
 * list of the same locks, only nodes count that held, or waited, in both: then
 * the whole cycle existed at one moment between the two lists. Both are in the
 * order of the paths, without duplicates. The locks must outlive the result.
 *
 * Contenders with the same session and, by their records, the same thread are
 * one owner, unless that waits in two places at once, as a thread cannot.
 * Without a record it may be any owner of that session: this is only possible,
 * as programs use a lock with many threads. A candidate of an election waits
 * for nobody, unless it is inside of a session, as a nested run is.
 *
 * A contender that says that it is inside of a session keeps all locks that
 * this session holds from being given back. Anybody who may write into a lock
 * can claim this for any session; it is certain only where both records name
 * the same host. */
struct deadlocks deadlocks_find(const struct lock *locks, size_t count,
                                const struct lock *before, size_t before_count);
void deadlocks_done(struct deadlocks *deadlocks);

/* The waiter is inside of the holder. */
bool deadlock_is_nested(const struct deadlock_member *member);
