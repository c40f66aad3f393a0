/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A fair distributed semaphore: a number of permits, which contenders take and
 * give back. Curator: InterProcessSemaphoreV2, which calls a permit a lease,
 * and with a limit of 1 InterProcessSemaphoreMutex.
 *
 * At most as many permits as the limit says are held at once, by all programs
 * on the path, Curator's included, as long as all use the same limit: the
 * servers do not know it, and nobody checks it; the owner record of a node has
 * it (znodes.md). Acquires are granted in the order in which they
 * queued. One that wants many permits holds up those behind it, so it is not
 * starved by those that want one.
 *
 * A permit is a grant (grant.h): check it, listen to it, release it from any
 * thread, use its token and its guarded writes. Tokens of permits are different
 * from each other, and grow; but several are in use at once, so a resource that
 * refuses tokens lower than the highest it has seen shuts out permits that are
 * still held. Guarded writes are right for each permit.
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
 * Calling sequence: zkr_semaphore_new() on a session; zkr_semaphore_acquire(),
 * which gives a grant; zkr_grant_release() and zkr_grant_free();
 * zkr_semaphore_free().
 *
 * Source    Curator InterProcessSemaphoreV2: a mutex in the child "locks" of
 *           the path keeps the order, and the nodes of the child "leases" are
 *           the permits. There a contender is let in when all nodes together
 *           are at most the limit; here, when fewer than the limit are ahead of
 *           its own. For the last one that is the same, and a contender behind
 *           it without its turn keeps nobody out.
 * Example   examples/semaphore.c
 */
#ifndef ZKRECIPES_SEMAPHORE_H
#define ZKRECIPES_SEMAPHORE_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/grant.h>
#include <zkrecipes/request.h>
#include <zkrecipes/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A semaphore, which any number of threads may share. */
typedef struct zkr_semaphore zkr_semaphore;

/** The largest limit, and the most permits of one acquire. */
#define ZKR_SEMAPHORE_MAX 10000

/** The flags of zkr_semaphore_opts. */
enum zkr_semaphore_flags {
    /** An acquire that loses its turn, or a part of its permits, fails with
     *  ZKR_ELOST, instead of queuing again: its session has ended, or a node
     * was deleted. */
    ZKR_SEMAPHORE_FAIL_ON_SESSION_LOSS = 1u << 0,
    /** Make missing parents persistent instead of containers. */
    ZKR_SEMAPHORE_PERSISTENT_PARENTS = 1u << 1,
};
ZKR__FLAGS(zkr_semaphore_flags)

/** Zero means default, for every member. */
struct zkr_semaphore_opts {
    size_t size;                    /**< Set by ZKR_SEMAPHORE_OPTS_INIT. */
    const char *label;              /**< As in struct zkr_mutex_opts. Copied. */
    enum zkr_semaphore_flags flags; /**< Any of them, with |. */
    uint32_t reserved;              /**< Zero. */
    const char *limit_path; /**< A node that has the limit, for all programs, in
                                 the form of Curator's SharedCount: 4 bytes,
                                 the highest first; see zkr_semaphore_new().
                                 Copied. */
};

#define ZKR_SEMAPHORE_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_semaphore_opts)

/**
 * Make a handle for the semaphore at @p path with at most @p limit permits.
 *
 * Without limit_path it sends nothing. With limit_path it reads the limit there
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
 * Paths as for zkr_mutex_new(); @p path itself gets two children.
 *
 * Time      With limit_path, at most reply_timeout_ms of the session.
 * Threads   Any; with limit_path, except a callback of the session
 *           (ZKR_EDEADLK).
 * Owns      Strings are copied. The caller frees the semaphore; it may outlive
 *           the session, and then answers ZKR_ECLOSED.
 * Errors    ZKR_EINVAL (a limit of 0 or above ZKR_SEMAPHORE_MAX, ...),
 *           ZKR_EPATH, ZKR_ETOOLONG, ZKR_ENOMEM, ZKR_EFORKED; with limit_path
 *           also ZKR_EDAMAGED (the node has other data), and those of
 *           zkr_session_get() and zkr_session_create().
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_semaphore_new(zkr_session *session, const char *path, uint32_t limit,
                  const struct zkr_semaphore_opts *opts,
                  zkr_semaphore **ret_semaphore);

/**
 * Free the handle. Acquires that wait through it end with ZKR_ECANCELED; grants
 * obtained through it stay valid. NULL is allowed; in a callback, too.
 */
ZKR_API void zkr_semaphore_free(zkr_semaphore *semaphore);

/**
 * Wait until a permit is granted.
 *
 * Time      @p timeout_ms: zkrecipes.h says what it means. A try (0) takes its
 *           turn if it comes at once, and fails with ZKR_EBUSY when another
 *           contender has the turn at that moment, or no permit is free; it
 *           writes a node, and deletes it.
 * Threads   Any, except a callback of the session (ZKR_EDEADLK).
 * Owns      On success the caller owns the grant and frees it.
 * On error  Nothing is held. Our nodes are gone or are being deleted in the
 *           background, whatever happens to the connection.
 * Errors    Those of zkr_mutex_acquire().
 * Source    Curator InterProcessSemaphoreV2.acquire(time, unit).
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_semaphore_acquire(zkr_semaphore *semaphore, int64_t timeout_ms,
                      zkr_grant **ret_grant);

/**
 * Wait until that many permits are granted: all or none. @p ret_grants is an
 * array of as many, but at least one. They are the caller's on success, and
 * NULL on error (not those beyond ZKR_SEMAPHORE_MAX); zkr_grants_release() and
 * zkr_grants_free() end all of them.
 *
 * Errors    As zkr_semaphore_acquire(); ZKR_EINVAL also for 0 permits, for more
 *           than ZKR_SEMAPHORE_MAX, and, without limit_path, for more than the
 *           limit. With limit_path a try of more than the limit is now fails
 *           with ZKR_EBUSY.
 * Source    Curator InterProcessSemaphoreV2.acquire(qty, time, unit).
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_semaphore_acquire_many(zkr_semaphore *semaphore, uint32_t permits,
                           int64_t timeout_ms, zkr_grant **ret_grants);

/** Claim a permit without a waiting thread; as zkr_mutex_acquire_async(). */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_semaphore_acquire_async(zkr_semaphore *semaphore, int64_t timeout_ms,
                            zkr_acquire_fn fn, void *user,
                            zkr_request **ret_request);

/** Claim several permits without a waiting thread: all or none. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_semaphore_acquire_many_async(zkr_semaphore *semaphore, uint32_t permits,
                                 int64_t timeout_ms, zkr_acquire_all_fn fn,
                                 void *user, zkr_request **ret_request);

/**
 * End every wait through this handle with ZKR_ECANCELED. Later acquires are not
 * affected.
 *
 * Threads   Any, callbacks too.
 */
ZKR_API enum zkr_error zkr_semaphore_cancel(zkr_semaphore *semaphore);

/** The limit as it is known now; 0 also for NULL and after fork. */
ZKR_API uint32_t zkr_semaphore_limit(zkr_semaphore *semaphore);

/** The path as it was given. Valid until the semaphore is freed; NULL for
 *  NULL. */
ZKR_API const char *zkr_semaphore_path(const zkr_semaphore *semaphore);

/** As zkr_mutex_stats(). An acquire of several permits counts once for its
 * turn, and once for each of them. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_semaphore_stats(zkr_semaphore *semaphore,
                    struct zkr_counters *ret_counters);

#ifdef __cplusplus
}
#endif

#endif
