/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counters of a session, and of each lock object: for monitoring.
 *
 * A session counts what all its lock objects do, also those that have been
 * freed; a lock object counts what is acquired through it. Other clients are
 * not counted: see participants.h for them. Each counter grows from 0 and is
 * never set back, so the difference of two snapshots is what has happened
 * between them. All members of a snapshot are of one instant, so the sums in
 * the comments are exact.
 *
 * Not counted: a thread that acquires again what it has (reentrant), and an
 * acquire that is refused before anything was begun (ZKR_EINVAL, ZKR_ECLOSED, a
 * try without a connection, ...). A downgrade (rwlock.h) counts as an acquire
 * of the read lock and a release of the write lock. Of a lock that stays
 * (retain_ms in mutex.h) the acquires of callers are counted, and not the node
 * that they take from each other.
 *
 * A histogram has a row for each power of two: row 0 counts times below 2
 * microseconds, row i those from 2^i to less than 2^(i+1), and the last row all
 * that are longer (from 2^31: 36 minutes).
 *
 * Counting takes no lock of its own, and allocates nothing.
 *
 * Source    The rows are those of the histograms of BPF tools (bcc, bpftrace).
 */
#ifndef ZKRECIPES_STATS_H
#define ZKRECIPES_STATS_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/leader.h>
#include <zkrecipes/mutex.h>
#include <zkrecipes/reentrant_mutex.h>
#include <zkrecipes/rwlock.h>
#include <zkrecipes/semaphore.h>
#include <zkrecipes/session.h>
#include <zkrecipes/unfair_mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Rows of a histogram. */
#define ZKR_STATS_ROWS 32

/** The counters of a session, or of a lock object. */
struct zkr_counters {
    size_t size; /**< Set by ZKR_COUNTERS_INIT. */

    /* acquires = grants + busy + timeouts + cancels + failures + those that
     * have not ended yet */
    uint64_t acquires; /**< Acquires that were begun, tries among them. */
    uint64_t waits;    /**< Of them: those that had to wait for others, of this
                            process or not. */
    uint64_t grants;   /**< Acquires that were granted the lock. */
    uint64_t handoffs; /**< Of the grants: those that took a lock that stays,
                            without a request (zkr_grant_handoff() > 0). */
    uint64_t busy;     /**< Tries that found the lock taken: ZKR_EBUSY. */
    uint64_t timeouts; /**< ZKR_ETIMEDOUT, and ZKR_ZOPERATIONTIMEOUT of a
                            try. */
    uint64_t cancels;  /**< ZKR_ECANCELED. */
    uint64_t failures; /**< All other errors. */

    /* grants = releases + losses + those that hold now */
    uint64_t releases; /**< Grants that their holder gave back. */
    uint64_t losses;   /**< Grants that were LOST. */
    uint64_t unsures;  /**< How often a grant became UNSURE; one grant may do so
                            more than once. */

    uint64_t refusals; /**< Nodes that the servers refused to delete when their
                            lock was given back, or the acquire was given up;
                            see zkr_grant_release(). */

    uint64_t wait_us; /**< Sum over the grants: from the acquire to the grant,
                           in microseconds. */
    uint64_t hold_us; /**< Sum over releases and losses: from the grant until
                           then, in microseconds. */
    uint64_t wait_us_log2[ZKR_STATS_ROWS]; /**< Histogram of the same. */
    uint64_t hold_us_log2[ZKR_STATS_ROWS]; /**< Histogram of the same. */

    /* Of a session; 0 of a lock object. */
    uint64_t retries;    /**< Requests that were sent again. */
    uint64_t reconnects; /**< How often the connection was lost, and the same
                              session has another one. */
    uint64_t expiries;   /**< How often the session was LOST. */
};

#define ZKR_COUNTERS_INIT ZKR__DEFAULT_OPTS(struct zkr_counters)

/**
 * Copy the counters of a session to @p ret_counters, whose size must be set.
 *
 * Threads   Any, callbacks too.
 * On error  All counters are 0, if the size is right.
 * Errors    ZKR_EINVAL (NULL, or a size that no version has), ZKR_EFORKED.
 * Example   examples/stats.c
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_stats(zkr_session *session, struct zkr_counters *ret_counters);

/** The same of a lock object; also after its session was closed. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_mutex_stats(zkr_mutex *mutex, struct zkr_counters *ret_counters);

/** The same; readers and writers together. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_rwlock_stats(zkr_rwlock *lock, struct zkr_counters *ret_counters);

/** The same. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_reentrant_mutex_stats(zkr_reentrant_mutex *mutex,
                          struct zkr_counters *ret_counters);

/** The same. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_unfair_mutex_stats(zkr_unfair_mutex *mutex,
                       struct zkr_counters *ret_counters);

/** The same; a campaign is an acquire, and a term a grant. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_leader_stats(zkr_leader *leader, struct zkr_counters *ret_counters);

/** The same. An acquire of several permits counts once for its turn, and once
 *  for each of them. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_semaphore_stats(zkr_semaphore *semaphore,
                    struct zkr_counters *ret_counters);

#ifdef __cplusplus
}
#endif

#endif
