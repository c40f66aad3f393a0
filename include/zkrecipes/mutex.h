/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A fair distributed mutex. Curator: InterProcessMutex, without the re-entry.
 *
 * Guarantees: the grants of one path never overlap in the order of the servers'
 * transactions; they follow the order in which the servers queued the
 * contenders; each carries a token (grant.h). Each waiter watches only the
 * contender right before it, so a release wakes one waiter. Curator's
 * InterProcessMutex on the same path is excluded too.
 *
 * A claim that waits for long asks the leader with a small write, at growing
 * intervals, whether the node before it exists: a server can show nodes that
 * the ensemble does not have. The claim ignores such a node and logs a warning
 * (session.h).
 *
 * A mutex does not guarantee that you still hold it a microsecond later: see
 * grant.h.
 *
 * Calling sequence: zkr_mutex_new() on a session; zkr_mutex_acquire(), which
 * gives a grant; zkr_grant_release() and zkr_grant_free(); zkr_mutex_free().
 * A mutex object may be shared by any number of threads: each acquire is a
 * claim of its own and queues behind the others, also behind those of the same
 * thread (a thread that acquires twice waits for itself).
 *
 * A claim keeps its place in the queue during a disconnect, while the session
 * lives. When the session ends, the claim enters again at the tail under the
 * same deadline, unless ZKR_MUTEX_FAIL_ON_SESSION_LOSS is set.
 *
 * A lock that stays. With retain_ms, a lock that is given back stays with this
 * object, node and all. Threads and callbacks take it from each other, or
 * again, without any request to the servers, in the order in which they asked.
 * The lease is looked at each time; the watch and the listeners work as ever.
 * - The node goes back to the fleet when nobody has wanted it here for
 *   retain_ms; or, as soon as another contender is seen behind it, after at
 *   most retain_max more grants here, and at once when nobody here waits. It is
 *   seen when the event of the servers has come, which takes about a round trip
 *   from when it queued: grants of that time come first, hundreds if the lock
 *   is hardly held. So nobody else waits for longer than all these last.
 * - It also goes back with the next release after zkr_mutex_yield(), a request
 *   to give the lock back (ZKR_GRANT_REVOKE_REQUESTED), or zkr_mutex_free();
 *   and with the release of a grant that is not HELD, or whose guarded writes
 *   are not all answered: a late write must not find the node of the next
 *   holder. Unused, it goes back at once in these cases, and in doubt.
 * - Grants of one node have one token. zkr_grant_handoff() counts them: a
 *   resource that fences (fence.h) tells holders apart by token and count.
 * - A node that the servers refuse to delete when it is given back later is
 *   told by the log and by zkr_counters.refusals only: see zkr_grant_release().
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

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/grant.h>
#include <zkrecipes/request.h>
#include <zkrecipes/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A mutex, which any number of threads may share. */
typedef struct zkr_mutex zkr_mutex;

/** The flags of zkr_mutex_opts. */
enum zkr_mutex_flags {
    /** A claim whose session ends fails with ZKR_ELOST. */
    ZKR_MUTEX_FAIL_ON_SESSION_LOSS = 1u << 0,
    /** Make missing parents persistent. By default they are containers, which
     *  the server removes when it finds them empty (it looks about once a
     *  minute). */
    ZKR_MUTEX_PERSISTENT_PARENTS = 1u << 1,
    /** Name our nodes as kazoo's Lock does, for a path that we share with
     *  unmodified kazoo. Curator would not see them. Missing parents are made
     *  persistent: kazoo cannot cope with containers. */
    ZKR_MUTEX_KAZOO_LAYOUT = 1u << 2,
};
ZKR__FLAGS(zkr_mutex_flags)

/** Zero means default, for every member. */
struct zkr_mutex_opts {
    size_t size;       /**< Set by ZKR_MUTEX_OPTS_INIT. */
    const char *label; /**< Why you want the lock: written into the node, shown
                            by tools. UTF-8 without control characters, at most
                            ZKR_LABEL_MAX bytes. Copied. */
    enum zkr_mutex_flags flags; /**< Any of them, with |. */
    uint32_t reserved;          /**< Zero. */
    uint32_t retain_ms;  /**< For how long a lock that is given back stays with
                              the process when nobody wants it; 0: it does not
                              stay. Unfair mutexes refuse it. */
    uint32_t retain_max; /**< The number of grants here after another contender
                              was seen to wait (not: has queued);
                              0: 64. Without retain_ms it
                              means nothing. */
};

/** Defined where the options have retain_ms and retain_max. */
#define ZKR_MUTEX_RETAINS 1

#define ZKR_MUTEX_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_mutex_opts)

/**
 * Make a handle for the mutex at @p path. Sends nothing.
 *
 * The path is absolute ("/locks/orders"), below the chroot of the session, in
 * UTF-8, without empty, "." or ".." components, control characters or a slash
 * at the end. Missing parents are created by the first acquire.
 *
 * Threads   Any.
 * Owns      Strings are copied. The caller frees the mutex; it may outlive the
 *           session, and then answers ZKR_ECLOSED.
 * Errors    ZKR_EINVAL, ZKR_EPATH, ZKR_ETOOLONG, ZKR_ENOMEM, ZKR_EFORKED.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_mutex_new(zkr_session *session, const char *path,
              const struct zkr_mutex_opts *opts, zkr_mutex **ret_mutex);

/**
 * Free the handle. Acquires that wait through it end with ZKR_ECANCELED;
 * grants obtained through it stay valid. A lock that has stayed without a
 * holder is given back in the background. NULL is allowed.
 */
ZKR_API void zkr_mutex_free(zkr_mutex *mutex);

/**
 * Wait until the mutex is granted.
 *
 * Time      @p timeout_ms: zkrecipes.h says what it means. A try (0) lists the
 *           contenders first, and writes nothing when the lock is taken
 *           (ZKR_EBUSY). It takes a lock that has stayed here at once, unless
 *           another thread has it or waits for it (ZKR_EBUSY).
 * Threads   Any, except a callback of the session (ZKR_EDEADLK).
 * Owns      On success the caller owns the grant and frees it.
 * On error  The lock is not held. Our node is gone or is being deleted in the
 *           background, whatever happens to the connection.
 * Errors    ZKR_ETIMEDOUT, ZKR_ECANCELED, ZKR_ECLOSED, ZKR_ELOST, ZKR_EDEADLK,
 *           ZKR_EEXHAUSTED, ZKR_ENOMEM, ZKR_EFORKED, ZKR_EINVAL, ZKR_EPROTO,
 *           ZKR_ENOCHROOT; of a try ZKR_EBUSY, ZKR_ZCONNECTIONLOSS (no
 *           connection now) and ZKR_ZOPERATIONTIMEOUT (no answer in
 *           reply_timeout_ms); ZKR_ZAUTHFAILED; ZooKeeper's own code where
 *           retrying cannot help (ZKR_ZNOAUTH, ...) or the retry policy gave up
 *           (ZKR_ZCONNECTIONLOSS, ...).
 * Source    Curator InterProcessMutex.acquire(time, unit); one round trip
 *           instead of two when nobody contends.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_mutex_acquire(zkr_mutex *mutex, int64_t timeout_ms, zkr_grant **ret_grant);

/**
 * Claim the mutex without a waiting thread: @p fn is called with the outcome,
 * exactly once, as a callback of the session. Thousands of claims may wait in
 * this way.
 *
 * Time      As zkr_mutex_acquire().
 * Threads   Any, callbacks too.
 * Owns      @p ret_request (NULL is allowed) becomes the caller's; freeing it
 *           does not cancel the claim.
 * Errors    ZKR_EINVAL, ZKR_ENOMEM, ZKR_ECLOSED, ZKR_EFORKED, ZKR_ZAUTHFAILED,
 *           and of a try without a connection ZKR_ZCONNECTIONLOSS: nothing was
 *           started and @p fn is not called.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_mutex_acquire_async(zkr_mutex *mutex, int64_t timeout_ms, zkr_acquire_fn fn,
                        void *user, zkr_request **ret_request);

/**
 * End every wait through this handle, blocking and asynchronous ones, with
 * ZKR_ECANCELED. Later acquires are not affected.
 *
 * Threads   Any, callbacks too.
 */
ZKR_API enum zkr_error zkr_mutex_cancel(zkr_mutex *mutex);

/**
 * Give a lock that has stayed with this object (retain_ms) back to the fleet:
 * at once, in the background, when nobody holds it, otherwise with the release
 * of the present holder. Those who wait here queue again, behind all others.
 * Without a lock that stays the call does nothing.
 *
 * Threads   Any, callbacks too.
 * Errors    ZKR_EINVAL, ZKR_EFORKED.
 */
ZKR_API enum zkr_error zkr_mutex_yield(zkr_mutex *mutex);

/** The path as it was given to zkr_mutex_new(). Valid until the mutex is freed;
 *  NULL for NULL. */
ZKR_API const char *zkr_mutex_path(const zkr_mutex *mutex);

/** The counters of this lock object (session.h); also after its session was
 *  closed. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_mutex_stats(zkr_mutex *mutex, struct zkr_counters *ret_counters);

#ifdef __cplusplus
}
#endif

#endif
