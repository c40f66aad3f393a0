/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A fair distributed mutex. Curator: InterProcessMutex, without the re-entry.
 *
 * Guarantees: the grants of one path never overlap in the order of the servers'
 * transactions; they follow the order in which the servers queued the
 * contenders; each carries a token (grant.h). Each waiter watches only the
 * contender right before it, so a release wakes one waiter. Curator's
 * InterProcessMutex on the same path is excluded too. That you still hold it a
 * microsecond later is not guaranteed: see grant.h.
 *
 * A claim that waits for long asks the leader with a small write, at growing
 * intervals, whether the node before it exists: a server can show nodes that
 * the ensemble does not have. The claim ignores such a node and logs a warning.
 *
 * Each acquire is a claim of its own and queues behind the others, also behind
 * those of the same thread (a thread that acquires twice waits for itself). The
 * first one creates missing parents of the path. A claim keeps its place in the
 * queue during a disconnect, while the session lives. When the session ends, it
 * enters again at the tail under the same deadline, unless
 * ZKR_FAIL_ON_SESSION_LOSS is set.
 *
 * A lock that stays. With retain_ms, a lock that is given back stays with this
 * object, node and all. Threads and callbacks take it from each other, or
 * again, without any request to the servers, in the order in which they asked.
 * The lease is looked at each time; the watch and the listeners work as ever.
 * - The node goes back to the others when nobody has wanted it here for
 *   retain_ms; or, as soon as another contender is seen behind it, after at
 *   most retain_max more grants here, and at once when nobody here waits. It is
 *   seen about a round trip after it queued: grants of that time come first,
 *   hundreds if the lock is hardly held.
 * - It also goes back with the next release after zkr_lockable_give_back(), a
 *   request to give the lock back (ZKR_GRANT_REVOKE_REQUESTED), or
 *   zkr_mutex_free(); and with the release of a grant that is not HELD, or
 *   whose guarded writes are not all answered. Unused, it goes back at once in
 *   these cases, and in doubt.
 * - Grants of one node have one token; zkr_grant_handoff() tells them apart.
 * - When the node is lost, whoever holds the lock is told, and those who wait
 *   here queue again together, in their order.
 * - Meanwhile the session writes as for every held lock (grant.h). Other
 *   objects on the path, of this process too, are contenders like any other.
 *
 * Source    ZooKeeper recipes, "Locks"; Curator InterProcessMutex. For the lock
 *           that stays: D. Dice, V. J. Marathe, N. Shavit, "Lock Cohorting".
 * Example   examples/mutex.c, examples/async.c
 */
#ifndef ZKRECIPES_MUTEX_H
#define ZKRECIPES_MUTEX_H

#include <zkrecipes/lockable.h>

ZKR__BEGIN_C

/** A mutex. */
typedef zkr_lockable zkr_mutex;

/** Make a handle for the mutex at @p path. @p opts may have all flags of
 *  zkr_lockable_opts but ZKR_REENTRANT and ZKR_SELECTOR_LAYOUT, and
 *  retain_ms. */
ZKR_CALL int zkr_mutex_new(zkr_session *session, const char *path,
                           const struct zkr_lockable_opts *opts,
                           zkr_mutex **ret_mutex);

/** zkr_lockable_acquire() of a mutex. */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_mutex_acquire(zkr_mutex *mutex, int64_t timeout_ms, zkr_grant **ret_grant)
{
    return zkr_lockable_acquire(mutex, NULL, timeout_ms, ret_grant);
}

/** zkr_lockable_acquire_async() of a mutex. */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_mutex_acquire_async(zkr_mutex *mutex, int64_t timeout_ms, zkr_acquire_fn fn,
                        void *user, zkr_request **ret_request)
{
    return zkr_lockable_acquire_async(mutex, NULL, timeout_ms, fn, user,
                                      ret_request);
}

/** zkr_lockable_free() of a mutex. */
ZKR_SHORT void zkr_mutex_free(zkr_mutex *mutex)
{
    zkr_lockable_free(mutex);
}

ZKR__END_C

#endif
