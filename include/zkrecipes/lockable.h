/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What can be acquired: one type, and one set of functions, for all recipes.
 *
 * A recipe makes a lockable: zkr_mutex_new(), zkr_reentrant_mutex_new(),
 * zkr_rwlock_new(), zkr_semaphore_new(), zkr_unfair_mutex_new() or
 * zkr_multi_lock_new(). From then on all are used in the same way. zkr_mutex,
 * zkr_rwlock and so on are other names of zkr_lockable, and zkr_mutex_acquire()
 * and its like are short forms of the calls of this header, for the arguments
 * that a recipe usually needs.
 *
 * An acquire gives a grant (grant.h), a value that any thread may use and pass
 * on: check it as you work, zkr_grant_release() it, zkr_grant_free() it.
 */
#ifndef ZKRECIPES_LOCKABLE_H
#define ZKRECIPES_LOCKABLE_H

#include <zkrecipes/grant.h>
#include <zkrecipes/session.h>

ZKR__BEGIN_C

/** What can be acquired, of any recipe. */
typedef struct zkr_lockable zkr_lockable;

/** An acquire without a waiting thread, while it is under way. */
typedef struct zkr_request zkr_request;

/* -- making one ------------------------------------------------------------ */

/** The flags of zkr_lockable_opts. A recipe refuses those that mean nothing to
 *  it (ZKR_EINVAL); its header says which it takes. */
enum zkr_lockable_flags {
    /** An acquire that loses its place, or a part of what it has, fails with
     *  ZKR_ELOST instead of queuing again: its session has ended, or a node was
     *  deleted. */
    ZKR_FAIL_ON_SESSION_LOSS = 1u << 0,
    /** Make missing parents persistent. By default they are containers, which
     *  the server removes when it finds them empty (it looks about once a
     *  minute), and which no client can tell from persistent nodes: so keep no
     *  data there. */
    ZKR_PERSISTENT_PARENTS = 1u << 1,
    /** Name our nodes as kazoo's Lock, WriteLock, ReadLock and Election do, for
     *  a path that we share with unmodified kazoo. Curator would not see them.
     *  Missing parents are persistent: kazoo cannot cope with containers. */
    ZKR_KAZOO_LAYOUT = 1u << 2,
    /** Each mode of a read/write lock is reentrant for the owner that holds
     *  it. */
    ZKR_REENTRANT = 1u << 3,
    /** Of an election (leader.h): name our nodes as Curator's LeaderSelector
     *  does, for a path that we share with it: those of a mutex. Programs that
     *  take a mutex on that path, and Curator's InterProcessMutex, stand in the
     *  same queue. Without this flag two lead on such a path, as LeaderLatch
     *  beside LeaderSelector. Not together with ZKR_KAZOO_LAYOUT. */
    ZKR_SELECTOR_LAYOUT = 1u << 4,
};
ZKR__FLAGS(zkr_lockable_flags)

/** Zero means default, for every member. */
struct zkr_lockable_opts {
    size_t size; /**< Set by ZKR_LOCKABLE_OPTS_INIT. */
    /** Why you want the lock: written into the node, shown by tools. UTF-8
     *  without control characters, at most ZKR_LABEL_MAX bytes. */
    const char *label;
    enum zkr_lockable_flags flags; /**< Any of them, with |. */
    uint32_t reserved;             /**< Zero. */
    /** For how long a lock that is given back stays with the process when
     *  nobody wants it (mutex.h); 0: it does not stay. Mutexes, reentrant ones
     *  too, and the write lock of read/write locks; all others refuse it. */
    uint32_t retain_ms;
    /** The number of grants here after another contender was seen to wait (not:
     *  has queued); 0: 64. Without retain_ms it means nothing. */
    uint32_t retain_max;
    /** Of a semaphore: a node that has the limit, for all programs
     *  (semaphore.h). */
    const char *limit_path;
};

#define ZKR_LOCKABLE_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_lockable_opts)

/**
 * Free the handle. Acquires that wait through it end with ZKR_ECANCELED; grants
 * obtained through it stay valid, but for those of a reentrant mutex, which are
 * its own: they are released in the background. So is a lock that has stayed
 * without a holder.
 */
ZKR_API void zkr_lockable_free(zkr_lockable *lockable);

/** The path; NULL of a multi-lock, which has none. */
ZKR_API const char *zkr_lockable_path(const zkr_lockable *lockable);

/* -- acquiring it ---------------------------------------------------------- */

/** The ways to hold a lock. */
enum zkr_mode {
    ZKR_EXCLUSIVE = 0, /**< Alone; to write. */
    ZKR_SHARED = 1,    /**< With others that share; to read. Only a read/write
                            lock has this mode. */
};

/** How to acquire. Zero means default, for every member. */
struct zkr_acquire_opts {
    size_t size;        /**< Set by ZKR_ACQUIRE_OPTS_INIT. */
    enum zkr_mode mode; /**< Default: ZKR_EXCLUSIVE. */
    uint32_t permits;   /**< Of a semaphore: how many; 0: one. */
    /** Whose acquire it is, for what counts by owner (reentrant_mutex.h,
     *  rwlock.h): the number of a task or a coroutine, say, that is not bound
     *  to a thread; at most ZKR_OWNER_MAX. 0: of the calling thread; without a
     *  waiting thread, of nobody. A caller that acts for that owner gives the
     *  same number, on any thread, and may release the grant on any thread. */
    uint64_t owner;
};

#define ZKR_ACQUIRE_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_acquire_opts)

/** The highest number of an owner. */
#define ZKR_OWNER_MAX UINT64_C(0x7fffffffffffffff)

/**
 * Wait until the lock is granted.
 *
 * Time      A try (0) lists the contenders first, and writes nothing when the
 *           lock is taken (ZKR_EBUSY). It takes a lock that has stayed here at
 *           once, unless another thread has it or waits for it (ZKR_EBUSY).
 *           A timeout below 100 ms limits the wait for others only: the servers
 *           have 100 ms for their answers, and grant a free lock in that time.
 * Owns      On success the caller owns the grant and frees it; that of a
 *           reentrant mutex is the library's.
 * On error  The lock is not held. Our node is gone or is being deleted in the
 *           background, whatever happens to the connection.
 * Errors    ZKR_ETIMEDOUT, ZKR_ECANCELED, ZKR_ELOST, ZKR_EEXHAUSTED,
 *           ZKR_EPROTO, ZKR_ENOCHROOT; of a try ZKR_EBUSY, ZKR_ZCONNECTIONLOSS
 *           (no connection now) and ZKR_ZOPERATIONTIMEOUT (no answer in time);
 *           ZKR_EOVERFLOW (reentrant); ZooKeeper's own code where retrying
 *           cannot help (ZKR_ZNOAUTH, ...) or the retry policy gave up
 *           (ZKR_ZCONNECTIONLOSS, ...). ZKR_EINVAL also for options that the
 *           recipe does not have, and for an acquire that gives several grants.
 * Source    Curator InterProcessLock.acquire(time, unit); one round trip
 *           instead of two when nobody contends.
 */
ZKR_CALL int zkr_lockable_acquire(zkr_lockable *lockable,
                                  const struct zkr_acquire_opts *opts,
                                  int64_t timeout_ms, zkr_grant **ret_grant);

/** The number of grants that such an acquire gives: that of the permits, or of
 *  all grants of a multi-lock (0 without locks); otherwise 1. */
ZKR_API size_t zkr_lockable_count(const zkr_lockable *lockable,
                                  const struct zkr_acquire_opts *opts);

/**
 * Wait until all that the acquire asks for is granted: all or none. @p
 * ret_grants is an array of zkr_lockable_count() grants, but at least one. They
 * are the caller's on success; on error all of them are NULL (not those beyond
 * ZKR_SEMAPHORE_MAX). zkr_grants_release() and zkr_grants_free() end all of
 * them.
 *
 * Otherwise as zkr_lockable_acquire().
 */
ZKR_CALL int zkr_lockable_acquire_all(zkr_lockable *lockable,
                                      const struct zkr_acquire_opts *opts,
                                      int64_t timeout_ms,
                                      zkr_grant **ret_grants);

/** Called when a claim has ended: either @p error is ZKR_OK and @p grant is
 *  yours, or @p grant is NULL and @p error is one of those that the blocking
 *  call returns. */
typedef void (*zkr_acquire_fn)(int error, zkr_grant *grant, void *user);

/** The same of claims that are granted together: the @p count grants are yours,
 *  each of them, but not the array; or it is NULL. */
typedef void (*zkr_acquire_all_fn)(int error, zkr_grant *const *grants,
                                   size_t count, void *user);

/**
 * Claim the lock without a waiting thread: @p fn is called with the outcome, as
 * a callback of the session. Thousands of claims may wait in this way.
 *
 * Owns      @p ret_request may be NULL; freeing it does not cancel the claim.
 * Errors    Of a try without a connection ZKR_ZCONNECTIONLOSS, and what the
 *           blocking call refuses an owner.
 */
ZKR_CALL int zkr_lockable_acquire_async(zkr_lockable *lockable,
                                        const struct zkr_acquire_opts *opts,
                                        int64_t timeout_ms, zkr_acquire_fn fn,
                                        void *user, zkr_request **ret_request);

/** The same of an acquire that may give several grants. */
ZKR_CALL int zkr_lockable_acquire_all_async(zkr_lockable *lockable,
                                            const struct zkr_acquire_opts *opts,
                                            int64_t timeout_ms,
                                            zkr_acquire_all_fn fn, void *user,
                                            zkr_request **ret_request);

/** Ask that a claim be given up. If it has not been decided yet, its callback
 *  receives ZKR_ECANCELED; if it has, nothing changes and a grant remains
 *  yours. */
ZKR_API int zkr_request_cancel(zkr_request *request);

/** Free the handle, not the claim. */
ZKR_API void zkr_request_free(zkr_request *request);

/** End every wait through this handle, blocking and asynchronous ones, of each
 *  mode, with ZKR_ECANCELED. Later acquires are not affected, nor are other
 *  acquires of the locks of a multi-lock. */
ZKR_API int zkr_lockable_cancel(zkr_lockable *lockable);

/* -- while it is held ------------------------------------------------------ */

/**
 * Find the grant that the owner has of a reentrant lock in that mode. @p opts
 * are those of its acquire.
 *
 * Owns      Whose it was before: of a reentrant mutex the library's, valid
 *           until the last release.
 * Errors    ZKR_ENOTHELD: nobody holds it through this object in that mode.
 *           ZKR_ENOTOWNER: others do. ZKR_EINVAL (also of a lock that is not
 *           reentrant).
 */
ZKR_CALL int zkr_lockable_grant(zkr_lockable *lockable,
                                const struct zkr_acquire_opts *opts,
                                zkr_grant **ret_grant);

/**
 * Give a lock that has stayed with this object (retain_ms) back to the others:
 * at once, in the background, when nobody holds it, otherwise with the release
 * of the present holder. Those who wait here queue again, behind all others.
 * Without a lock that stays the call does nothing.
 */
ZKR_API int zkr_lockable_give_back(zkr_lockable *lockable);

/**
 * Copy the counters (session.h) of this object; also after its session was
 * closed. Those of a read/write lock are of readers and writers together. An
 * acquire of a semaphore counts once for its turn, and once for each permit. A
 * multi-lock has those of its locks, added up.
 */
ZKR_CALL int zkr_lockable_stats(zkr_lockable *lockable,
                                struct zkr_counters *ret_counters);

ZKR__END_C

#endif
