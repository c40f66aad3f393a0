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
 * The result is a grant (grant.h) for each lock; each is checked, listened to
 * and released as any other. zkr_grants_check() checks all of them,
 * zkr_grants_release() releases all of them, the last one first.
 *
 * Calling sequence: make the locks; zkr_multi_lock_new();
 * zkr_multi_lock_add_... for each; zkr_multi_lock_acquire(), which gives
 * zkr_multi_lock_count() grants; zkr_grants_release() and zkr_grants_free();
 * zkr_multi_lock_free(), and then the locks.
 *
 * Source    Curator InterProcessMultiLock, which acquires in the order of its
 *           list and gives each lock the whole time. The order of resources
 *           against deadlocks: Havender 1968.
 * Example   examples/multi_lock.c
 */
#ifndef ZKRECIPES_MULTI_LOCK_H
#define ZKRECIPES_MULTI_LOCK_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/grant.h>
#include <zkrecipes/mutex.h>
#include <zkrecipes/reentrant_mutex.h>
#include <zkrecipes/request.h>
#include <zkrecipes/rwlock.h>
#include <zkrecipes/semaphore.h>
#include <zkrecipes/session.h>
#include <zkrecipes/unfair_mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Several locks, which any number of threads may acquire. */
typedef struct zkr_multi_lock zkr_multi_lock;

/** The flags of zkr_multi_lock_opts. */
enum zkr_multi_lock_flags {
    /** An acquire that loses a part of what it has fails with ZKR_ELOST,
     * instead of beginning again: its session has ended, or a node was deleted.
     */
    ZKR_MULTI_LOCK_FAIL_ON_SESSION_LOSS = 1u << 0,
};
ZKR__FLAGS(zkr_multi_lock_flags)

/** Zero means default, for every member. */
struct zkr_multi_lock_opts {
    size_t size;                     /**< Set by ZKR_MULTI_LOCK_OPTS_INIT. */
    enum zkr_multi_lock_flags flags; /**< Any of them, with |. */
    uint32_t reserved;               /**< Zero. */
};

#define ZKR_MULTI_LOCK_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_multi_lock_opts)

/**
 * Make a multi-lock without locks. Sends nothing.
 *
 * Threads   Any.
 * Owns      The caller frees it; it may outlive the session, and then answers
 *           ZKR_ECLOSED.
 * Errors    ZKR_EINVAL, ZKR_ENOMEM, ZKR_EFORKED.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_multi_lock_new(zkr_session *session, const struct zkr_multi_lock_opts *opts,
                   zkr_multi_lock **ret_lock);

/** Free the multi-lock, not its locks. Acquires that wait through it end with
 *  ZKR_ECANCELED; grants stay valid. NULL is allowed. */
ZKR_API void zkr_multi_lock_free(zkr_multi_lock *lock);

/**
 * Add a lock.
 *
 * Threads   Any, as long as no other thread uses the multi-lock.
 * Owns      The lock stays the caller's, who frees it after the multi-lock.
 * On error  It is not added.
 * Errors    ZKR_EINVAL (NULL; of another session; a lock with that path is in
 *           it already), ZKR_ENOMEM, ZKR_EFORKED.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_multi_lock_add_mutex(zkr_multi_lock *lock, zkr_mutex *mutex);

/** Add a reentrant mutex: a thread that has it already acquires it once more.
 *  An asynchronous acquire belongs to no thread. Release and free the grant of
 *  it with the others. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_multi_lock_add_reentrant_mutex(zkr_multi_lock *lock,
                                   zkr_reentrant_mutex *mutex);

/** Add an unfair mutex. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_multi_lock_add_unfair_mutex(zkr_multi_lock *lock, zkr_unfair_mutex *mutex);

/** Add a read/write lock, for reading. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_multi_lock_add_read(zkr_multi_lock *lock, zkr_rwlock *rwlock);

/** Add a read/write lock, for writing. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_multi_lock_add_write(zkr_multi_lock *lock, zkr_rwlock *rwlock);

/** Add that many permits of a semaphore, which are as many grants. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_multi_lock_add_semaphore(zkr_multi_lock *lock, zkr_semaphore *semaphore,
                             uint32_t permits);

/** The number of grants of an acquire. 0 for NULL. */
ZKR_API size_t zkr_multi_lock_count(const zkr_multi_lock *lock);

/**
 * Wait until all locks are granted. @p ret_grants is an array of
 * zkr_multi_lock_count() grants, but at least one, in the order of the paths of
 * the locks (zkr_grant_node() tells); on error all of them are NULL.
 *
 * Time      @p timeout_ms, for all together: zkrecipes.h says what it means. A
 *           try (0) tries each, and fails with ZKR_EBUSY at the first that is
 *           taken.
 * Threads   Any, except a callback of the session (ZKR_EDEADLK).
 * Owns      On success the caller owns the grants and frees them.
 * On error  None of them is held. Nodes are gone or are being deleted in the
 *           background.
 * Errors    Those of the acquires of its locks; zkr_error_detail() names the
 *           lock. ZKR_EINVAL also when it has no locks.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_multi_lock_acquire(zkr_multi_lock *lock, int64_t timeout_ms,
                       zkr_grant **ret_grants);

/** Claim all locks without a waiting thread; as zkr_mutex_acquire_async(). */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_multi_lock_acquire_async(zkr_multi_lock *lock, int64_t timeout_ms,
                             zkr_acquire_all_fn fn, void *user,
                             zkr_request **ret_request);

/**
 * End every wait through this handle with ZKR_ECANCELED. Other acquires of its
 * locks are not affected.
 *
 * Threads   Any, callbacks too.
 */
ZKR_API enum zkr_error zkr_multi_lock_cancel(zkr_multi_lock *lock);

#ifdef __cplusplus
}
#endif

#endif
