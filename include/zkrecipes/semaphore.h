/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A fair distributed semaphore: a number of permits, which contenders take and
 * give back. Curator: InterProcessSemaphoreV2, which calls a permit a lease,
 * and with a limit of 1 InterProcessSemaphoreMutex.
 *
 * At most as many permits as the limit says are held at once, by all programs
 * on the path, Curator's included, as long as all use the same limit: the
 * servers do not know it, and nobody checks it; the owner record of a node has
 * it (znodes.md). Acquires are granted in the order in which they queued. One
 * that wants many permits holds up those behind it, so it is not starved by
 * those that want one.
 *
 * A permit is a grant (grant.h). Tokens of permits are different from each
 * other, and grow; but several are in use at once, so a resource that refuses
 * tokens lower than the highest it has seen shuts out permits that are still
 * held. Guarded writes are right for each permit.
 *
 * An acquire of several permits gives as many grants, all or none. It waits for
 * its turn, and then for all permits together, whose nodes it makes in one
 * flight; at its deadline it gives back what it has. Another program that
 * acquires several in the way of Curator (one turn for each) and one of ours
 * can each have a part and wait for the other, until a deadline ends that: set
 * one, or let no other program acquire more than one at a time.
 *
 * A child of the directory of permits (see below) that is no permit takes one
 * up, as it does for Curator.
 *
 * Guarantees, limits and sessions are otherwise those of mutex.h.
 *
 * Source    Curator InterProcessSemaphoreV2: a mutex in the child "locks" of
 *           the path keeps the order, and the nodes of the child "leases" are
 *           the permits. Here a contender is let in when fewer than the limit
 *           are ahead of it (docs/design.md, "What a recipe is").
 * Example   examples/semaphore.c
 */
#ifndef ZKRECIPES_SEMAPHORE_H
#define ZKRECIPES_SEMAPHORE_H

#include <zkrecipes/lockable.h>

ZKR__BEGIN_C

/** A semaphore. */
typedef zkr_lockable zkr_semaphore;

/** The largest limit, and the most permits of one acquire. */
#define ZKR_SEMAPHORE_MAX 10000

/**
 * Make a handle for the semaphore at @p path, which gets two children, with at
 * most @p limit permits. Of the flags it takes ZKR_FAIL_ON_SESSION_LOSS and
 * ZKR_PERSISTENT_PARENTS, and no permit stays (ZKR_EINVAL).
 *
 * With limit_path, and only then, it sends something: it reads the limit there
 * and, where that node is missing, creates it with @p limit, and its parents.
 * From then on a change of that node changes the limit, as soon as the
 * session hears of it, in a callback of the session: with an event loop of your
 * own, zkr_session_dispatch() runs it. Permits that are held stay held when
 * the limit gets smaller. An acquire of more permits than the limit is waits
 * until it is high enough, as Curator's does; it keeps its turn meanwhile, so
 * those behind it wait, too: set a deadline. A negative number is a limit of 0.
 * A node that is deleted, or whose data is not 4 bytes, changes nothing. The
 * node must be neither at @p path nor below it (ZKR_EINVAL).
 *
 * Errors    ZKR_EINVAL (a limit of 0 or above ZKR_SEMAPHORE_MAX, ...); with
 *           limit_path also ZKR_EDAMAGED (the node has other data), and those
 *           of zkr_session_get() and zkr_session_create().
 */
ZKR_CALL int zkr_semaphore_new(zkr_session *session, const char *path,
                               uint32_t limit,
                               const struct zkr_lockable_opts *opts,
                               zkr_semaphore **ret_semaphore);

/** The limit as it is known now. */
ZKR_API uint32_t zkr_semaphore_limit(zkr_semaphore *semaphore);

/**
 * Wait until a permit is granted: zkr_lockable_acquire().
 *
 * Time      A try (0) takes its turn if it comes at once, and fails with
 *           ZKR_EBUSY when another contender has the turn at that moment, or no
 *           permit is free; it writes a node, and deletes it.
 */
ZKR_SHORT ZKR_MUST_CHECK int zkr_semaphore_acquire(zkr_semaphore *semaphore,
                                                   int64_t timeout_ms,
                                                   zkr_grant **ret_grant)
{
    return zkr_lockable_acquire(semaphore, NULL, timeout_ms, ret_grant);
}

/**
 * Wait until that many permits are granted, all or none:
 * zkr_lockable_acquire_all() with permits.
 *
 * Errors    Also ZKR_EINVAL for 0 permits, for more than ZKR_SEMAPHORE_MAX,
 *           and, without limit_path, for more than the limit. With limit_path a
 *           try of more than the limit is now fails with ZKR_EBUSY.
 */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_semaphore_acquire_many(zkr_semaphore *semaphore, uint32_t permits,
                           int64_t timeout_ms, zkr_grant **ret_grants)
{
    struct zkr_acquire_opts opts = ZKR_ACQUIRE_OPTS_INIT;

    opts.permits = permits == 0 ? UINT32_MAX : permits;
    return zkr_lockable_acquire_all(semaphore, &opts, timeout_ms, ret_grants);
}

/** Claim a permit without a waiting thread. */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_semaphore_acquire_async(zkr_semaphore *semaphore, int64_t timeout_ms,
                            zkr_acquire_fn fn, void *user,
                            zkr_request **ret_request)
{
    return zkr_lockable_acquire_async(semaphore, NULL, timeout_ms, fn, user,
                                      ret_request);
}

/** Claim several permits without a waiting thread: all or none. */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_semaphore_acquire_many_async(zkr_semaphore *semaphore, uint32_t permits,
                                 int64_t timeout_ms, zkr_acquire_all_fn fn,
                                 void *user, zkr_request **ret_request)
{
    struct zkr_acquire_opts opts = ZKR_ACQUIRE_OPTS_INIT;

    opts.permits = permits == 0 ? UINT32_MAX : permits;
    return zkr_lockable_acquire_all_async(semaphore, &opts, timeout_ms, fn,
                                          user, ret_request);
}

/** zkr_lockable_free() of a semaphore. */
ZKR_SHORT void zkr_semaphore_free(zkr_semaphore *semaphore)
{
    zkr_lockable_free(semaphore);
}

ZKR__END_C

#endif
