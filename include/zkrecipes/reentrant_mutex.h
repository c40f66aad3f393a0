/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A fair distributed mutex that its owner may acquire again.
 * Curator: InterProcessMutex.
 *
 * A thread owns the mutex: the thread that acquired it may acquire it again,
 * without a request to the servers, and gives it back when it has released it
 * as often. Other threads, also those that share this object, and other objects
 * on the same path, also in the same thread, wait for it like everybody else.
 * On the servers it is a mutex (mutex.h): both exclude each other, and
 * Curator's InterProcessMutex.
 *
 * Guarantees and their limits are those of mutex.h and grant.h. There is one
 * difference from Curator: when the lock has been lost, another acquire by its
 * owner fails with ZKR_ELOST (Curator reports success there) until the owner
 * has released as often as it acquired. Then it may start anew.
 *
 * With retain_ms in its options the lock stays with this object, as mutex.h
 * says: threads take it from each other, or again, without a request.
 *
 * Calling sequence: zkr_reentrant_mutex_new(); per thread any number of
 * zkr_reentrant_mutex_acquire(), and as many zkr_reentrant_mutex_release();
 * zkr_reentrant_mutex_free().
 *
 * A thread that ends while it holds the lock leaves it held until the object is
 * freed or the session ends: no other thread can release it. The owner record
 * in the lock node has the thread's name and id.
 *
 * Source    Curator InterProcessMutex.
 * Example   examples/reentrant.c
 */
#ifndef ZKRECIPES_REENTRANT_MUTEX_H
#define ZKRECIPES_REENTRANT_MUTEX_H

#include <stdint.h>

#include <zkrecipes/mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A mutex that counts the acquires of the thread that holds it. */
typedef struct zkr_reentrant_mutex zkr_reentrant_mutex;

/** The number of times that an owner may acquire without a release. */
#define ZKR_REENTRANT_DEPTH_MAX 65535u

/**
 * Make a handle for the mutex at @p path, with the options of a mutex. Sends
 * nothing. Paths, options, ownership and errors as for zkr_mutex_new().
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_reentrant_mutex_new(zkr_session *session, const char *path,
                        const struct zkr_mutex_opts *opts,
                        zkr_reentrant_mutex **ret_mutex);

/**
 * Free the handle. Acquires that wait through it end with ZKR_ECANCELED; what
 * is still held through it, by whatever thread, is released in the background.
 * NULL is allowed.
 *
 * Threads   Any. No other thread may be about to call with this handle.
 */
ZKR_API void zkr_reentrant_mutex_free(zkr_reentrant_mutex *mutex);

/**
 * Wait until the calling thread holds the mutex. When it does already, the call
 * returns at once and sends nothing.
 *
 * Time      As for zkr_mutex_acquire().
 * Threads   Any, except a callback of the session (ZKR_EDEADLK) that does not
 *           hold it.
 * On error  The count has not changed.
 * Errors    Those of zkr_mutex_acquire(); ZKR_ELOST also when the lock that the
 *           thread held has been lost; ZKR_EOVERFLOW.
 * Source    Curator InterProcessMutex.acquire.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_reentrant_mutex_acquire(zkr_reentrant_mutex *mutex, int64_t timeout_ms);

/**
 * Take back one acquire of the calling thread; the last one gives the lock back
 * and waits until its node is gone, as zkr_grant_release().
 *
 * Threads   The owner.
 * On error  ZKR_ENOTHELD (nobody holds it through this object) and
 *           ZKR_ENOTOWNER (another thread does): nothing was sent.
 *           ZKR_ELOST: counted; the lock was not ours any more.
 *           Otherwise as for zkr_grant_release(): released here.
 */
ZKR_API enum zkr_error zkr_reentrant_mutex_release(zkr_reentrant_mutex *mutex);

/** How often the calling thread holds it; 0 when it does not. */
ZKR_API uint32_t zkr_reentrant_mutex_depth(zkr_reentrant_mutex *mutex);

/**
 * The grant of the calling thread, to check it, read its token and listen.
 * NULL when it does not hold the mutex.
 *
 * Owns      The library: do not release or free it. Valid until the last
 *           release.
 */
ZKR_API zkr_grant *zkr_reentrant_mutex_grant(zkr_reentrant_mutex *mutex);

/** End every wait through this handle with ZKR_ECANCELED. */
ZKR_API enum zkr_error zkr_reentrant_mutex_cancel(zkr_reentrant_mutex *mutex);

/** Give a lock that has stayed with this object back; as zkr_mutex_yield(). */
ZKR_API enum zkr_error zkr_reentrant_mutex_yield(zkr_reentrant_mutex *mutex);

/** The path as it was given. Valid until the mutex is freed. */
ZKR_API const char *zkr_reentrant_mutex_path(const zkr_reentrant_mutex *mutex);

/** As zkr_mutex_stats(). */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_reentrant_mutex_stats(zkr_reentrant_mutex *mutex,
                          struct zkr_counters *ret_counters);

#ifdef __cplusplus
}
#endif

#endif
