/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Several locks as one: all are granted, or none is kept. Curator:
 * InterProcessMultiLock.
 *
 * The locks are those of the caller, of any recipe. They are acquired one after
 * the other in the order of their paths, whatever the order in which they were
 * added: so two multi-locks that share locks never wait for each other, in
 * other programs either. A program that acquires the same locks one by one
 * keeps that order, too. (Paths are compared byte by byte, with the chroot.)
 *
 * All acquires share one deadline. When one of them fails, those that were
 * granted before are given back. A lock that was lost meanwhile, by the end of
 * the session, say, is no grant: then the multi-lock begins again, as the
 * recipes do, or fails as its options say.
 *
 * The result is a grant (grant.h) for each lock.
 *
 * Source    Curator InterProcessMultiLock, which acquires in the order of its
 *           list and gives each lock the whole time. The order of resources
 *           against deadlocks: Havender 1968.
 * Example   examples/multi_lock.c
 */
#ifndef ZKRECIPES_MULTI_LOCK_H
#define ZKRECIPES_MULTI_LOCK_H

#include <zkrecipes/lockable.h>

ZKR__BEGIN_C

/** Several locks. */
typedef zkr_lockable zkr_multi_lock;

/** Make a multi-lock without locks. Of the options it takes
 *  ZKR_FAIL_ON_SESSION_LOSS alone (ZKR_EINVAL): the others are those of its
 *  locks. */
ZKR_CALL int zkr_multi_lock_new(zkr_session *session,
                                const struct zkr_lockable_opts *opts,
                                zkr_multi_lock **ret_lock);

/**
 * Add a lock of any recipe, but a multi-lock, to be acquired with those options
 * (mode, permits; NULL: all defaults). Permits are as many grants. A reentrant
 * mutex is acquired once more by an owner that has it already; release and free
 * the grant of it with the others.
 *
 * Threads   One at a time: no other may use the multi-lock meanwhile.
 * Owns      The lock stays the caller's, who frees it after the multi-lock.
 * On error  It is not added.
 * Errors    ZKR_EINVAL (NULL; of another session; a lock with that path is in
 *           it already; an owner, which the acquire of the multi-lock has).
 */
ZKR_CALL int zkr_multi_lock_add(zkr_multi_lock *lock, zkr_lockable *added,
                                const struct zkr_acquire_opts *opts);

/** The number of grants of an acquire: zkr_lockable_count(). */
ZKR_SHORT size_t zkr_multi_lock_count(const zkr_multi_lock *lock)
{
    return zkr_lockable_count(lock, NULL);
}

/**
 * Wait until all locks are granted: zkr_lockable_acquire_all(). The grants are
 * in the order of the paths of the locks (zkr_grant_node() tells).
 *
 * Time      For all together. A try (0) tries each, and fails with ZKR_EBUSY at
 *           the first that is taken.
 * On error  None of them is held.
 * Errors    Those of the acquires of its locks; zkr_error_detail() names the
 *           lock. ZKR_EINVAL also when it has no locks.
 */
ZKR_SHORT ZKR_MUST_CHECK int zkr_multi_lock_acquire(zkr_multi_lock *lock,
                                                    int64_t timeout_ms,
                                                    zkr_grant **ret_grants)
{
    return zkr_lockable_acquire_all(lock, NULL, timeout_ms, ret_grants);
}

/** Claim all locks without a waiting thread. */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_multi_lock_acquire_async(zkr_multi_lock *lock, int64_t timeout_ms,
                             zkr_acquire_all_fn fn, void *user,
                             zkr_request **ret_request)
{
    return zkr_lockable_acquire_all_async(lock, NULL, timeout_ms, fn, user,
                                          ret_request);
}

/** zkr_lockable_free() of a multi-lock; its locks are not freed. */
ZKR_SHORT void zkr_multi_lock_free(zkr_multi_lock *lock)
{
    zkr_lockable_free(lock);
}

ZKR__END_C

#endif
