/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A fair distributed mutex that its owner may acquire again.
 * Curator: InterProcessMutex.
 *
 * A thread owns the mutex; or, for tasks and coroutines, whom the acquire names
 * (owner in zkr_acquire_opts). The owner may acquire it again, without a
 * request to the servers, and gives it back when it has released it as often.
 * Other threads, also those that share this object, and other objects on the
 * same path, also in the same thread, wait for it like everybody else.
 *
 * On the servers it is a mutex: guarantees and limits are those of mutex.h.
 * There is one difference from Curator: when the lock has been lost, another
 * acquire by its owner fails with ZKR_ELOST (Curator reports success there)
 * until the owner has released as often as it acquired.
 *
 * A thread that ends while it holds the lock leaves it held until the object is
 * freed or the session ends: no other thread can release it.
 *
 * Source    Curator InterProcessMutex.
 * Example   examples/reentrant.c
 */
#ifndef ZKRECIPES_REENTRANT_MUTEX_H
#define ZKRECIPES_REENTRANT_MUTEX_H

#include <zkrecipes/lockable.h>

ZKR__BEGIN_C

/** A mutex that counts the acquires of the thread that holds it. */
typedef zkr_lockable zkr_reentrant_mutex;

/** The number of times that an owner may acquire without a release. */
#define ZKR_REENTRANT_DEPTH_MAX 65535u

/** Make a handle for the mutex at @p path. Options as for zkr_mutex_new(). */
ZKR_CALL int zkr_reentrant_mutex_new(zkr_session *session, const char *path,
                                     const struct zkr_lockable_opts *opts,
                                     zkr_reentrant_mutex **ret_mutex);

/** zkr_lockable_free() of a reentrant mutex: what is still held through it, by
 *  whatever thread, is released in the background. */
ZKR_SHORT void zkr_reentrant_mutex_free(zkr_reentrant_mutex *mutex)
{
    zkr_lockable_free(mutex);
}

/**
 * Wait until the calling thread holds the mutex: zkr_lockable_acquire(). When
 * it does already, the call returns at once and sends nothing.
 *
 * Threads   Inside a callback of the session only if it holds it already.
 * On error  The count has not changed.
 * Errors    Those of zkr_lockable_acquire(); ZKR_ELOST also when the lock that
 *           the thread held has been lost.
 */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_reentrant_mutex_acquire(zkr_reentrant_mutex *mutex, int64_t timeout_ms)
{
    zkr_grant *unused = NULL;

    return zkr_lockable_acquire(mutex, NULL, timeout_ms, &unused);
}

/**
 * The grant of the calling thread, to check it, read its token and listen:
 * zkr_lockable_grant(). NULL when it does not hold the mutex.
 *
 * Owns      The library: do not free it, and release it by
 *           zkr_reentrant_mutex_release(). Valid until the last release.
 */
ZKR_SHORT zkr_grant *zkr_reentrant_mutex_grant(zkr_reentrant_mutex *mutex)
{
    zkr_grant *grant = NULL;
    int rc = zkr_lockable_grant(mutex, NULL, &grant);

    return rc == ZKR_OK ? grant : NULL;
}

/** How often the calling thread holds it; 0 when it does not. */
ZKR_SHORT uint32_t zkr_reentrant_mutex_depth(zkr_reentrant_mutex *mutex)
{
    zkr_grant *grant = zkr_reentrant_mutex_grant(mutex);

    return grant == NULL ? 0 : zkr_grant_depth(grant);
}

/**
 * Take back one acquire of that owner (NULL: of the calling thread); the last
 * one gives the lock back. It is zkr_grant_release() and zkr_grant_free() of
 * the grant of zkr_lockable_grant().
 *
 * On error  ZKR_ENOTHELD (nobody holds it through this object) and
 *           ZKR_ENOTOWNER (another owner does): nothing was sent.
 *           ZKR_ELOST: counted; the lock was not ours any more.
 *           Otherwise as for zkr_grant_release(): released here.
 */
ZKR_SHORT int
zkr_reentrant_mutex_release_of(zkr_reentrant_mutex *mutex,
                               const struct zkr_acquire_opts *opts)
{
    zkr_grant *grant = NULL;
    int rc = zkr_lockable_grant(mutex, opts, &grant);

    if (rc != ZKR_OK)
        return rc;
    rc = zkr_grant_release(grant);
    if (rc != ZKR_EDEADLK) /* in a callback: nothing has changed */
        zkr_grant_free(grant);
    return rc;
}

/** Take back one acquire of the calling thread. */
ZKR_SHORT int zkr_reentrant_mutex_release(zkr_reentrant_mutex *mutex)
{
    return zkr_reentrant_mutex_release_of(mutex, NULL);
}

ZKR__END_C

#endif
