/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An unfair distributed mutex: one node, and the client that creates it holds
 * the lock.
 *
 * One request takes the lock when it is free, and the node of the holder always
 * has the same name. But every waiter watches that node: a release wakes them
 * all, all but one in vain (a herd), and chance decides which of them gets the
 * lock, so a waiter can starve.
 *
 * Use it for a lock that is almost never contended and taken often, such as a
 * guard against two instances of one job. Otherwise use mutex.h: it sends as
 * many requests when nobody contends, and its waiters cost one wake-up each.
 * docs/guide.md, "Choosing a recipe", has figures.
 *
 * No other client in the tables of docs/interop.md understands this layout.
 *
 * An operator must not delete the node while its holder lives: all holders use
 * the same name, so an old holder that releases a moment before it learns of
 * the deletion can delete the node of the next one. Fair mutexes do not have
 * this flaw.
 *
 * Sessions, grants and tokens are those of mutex.h.
 *
 * Source    Hunt et al., "ZooKeeper: Wait-free coordination for Internet-scale
 *           systems", 2.4, "Simple Locks".
 * Example   examples/unfair.c
 */
#ifndef ZKRECIPES_UNFAIR_MUTEX_H
#define ZKRECIPES_UNFAIR_MUTEX_H

#include <zkrecipes/lockable.h>

ZKR__BEGIN_C

/** An unfair mutex. */
typedef zkr_lockable zkr_unfair_mutex;

/** Make a handle for the mutex at @p path. Of the flags it takes
 *  ZKR_FAIL_ON_SESSION_LOSS and ZKR_PERSISTENT_PARENTS, and it does not stay
 *  (ZKR_EINVAL). The node is @p path/holder. */
ZKR_CALL int zkr_unfair_mutex_new(zkr_session *session, const char *path,
                                  const struct zkr_lockable_opts *opts,
                                  zkr_unfair_mutex **ret_mutex);

/** zkr_lockable_acquire() of an unfair mutex. */
ZKR_SHORT ZKR_MUST_CHECK int zkr_unfair_mutex_acquire(zkr_unfair_mutex *mutex,
                                                      int64_t timeout_ms,
                                                      zkr_grant **ret_grant)
{
    return zkr_lockable_acquire(mutex, NULL, timeout_ms, ret_grant);
}

/** zkr_lockable_acquire_async() of an unfair mutex. */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_unfair_mutex_acquire_async(zkr_unfair_mutex *mutex, int64_t timeout_ms,
                               zkr_acquire_fn fn, void *user,
                               zkr_request **ret_request)
{
    return zkr_lockable_acquire_async(mutex, NULL, timeout_ms, fn, user,
                                      ret_request);
}

/** zkr_lockable_free() of an unfair mutex. */
ZKR_SHORT void zkr_unfair_mutex_free(zkr_unfair_mutex *mutex)
{
    zkr_lockable_free(mutex);
}

ZKR__END_C

#endif
