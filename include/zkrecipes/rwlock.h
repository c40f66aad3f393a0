/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A fair distributed read/write lock. Curator: InterProcessReadWriteLock.
 *
 * Readers share the lock; a writer has it alone. They are granted in the order
 * of the queue: a reader waits for the nearest writer before it, a writer for
 * the node right before its own, so no reader overtakes a writer that waits.
 * Readers queued behind one writer are all woken by its release. Curator's
 * InterProcessReadWriteLock on the same path is excluded too. A mutex (mutex.h)
 * is not: use one recipe on a path.
 *
 * The owner of a grant is the thread that acquired it, or whom the acquire
 * names (owner in zkr_acquire_opts); other asynchronous claims have no owner.
 * Ownership counts for one lock object and decides three things:
 * - Write while holding read (upgrade) is refused with ZKR_EDEADLK at once: two
 *   owners that did so would wait for each other for ever. Release the read
 *   grant first, acquire write, and read the protected data again.
 * - Read while holding write is granted at once, beside the write grant, and
 *   stays held when the write grant is released (downgrade): no writer gets in
 *   between. Also see zkr_rwlock_downgrade().
 * - With ZKR_REENTRANT, another acquire of the mode that the owner holds
 *   sends no request: it returns the same grant again and counts it
 *   (zkr_grant_depth()). Match each acquire by one zkr_grant_release() and one
 *   zkr_grant_free(), by the same thread: others get ZKR_ENOTOWNER. A loss is
 *   as in reentrant_mutex.h.
 * Without that flag each read acquire is a claim of its own: a thread that
 * reads twice waits for a writer that queued in between, and so for itself.
 *
 * Tokens (zkr_grant_token()): a write token is higher than all tokens granted
 * before it; a read token is higher than all write tokens granted before it. A
 * read grant that was taken under a write grant has the token of that write
 * grant: a writer that waits already must come out higher. So a resource
 * accepts a write when its token is not lower than any it has seen, and a read
 * when its token is not lower than any write token it has seen.
 *
 * With retain_ms the write lock stays with this object (mutex.h). Read grants
 * never stay, and a reader of this object is a contender like any other. A
 * write lock beside which a reader stands goes back with its release.
 *
 * Otherwise guarantees, limits and sessions are those of mutex.h.
 *
 * Source    ZooKeeper recipes, "Shared Locks"; Curator
 *           InterProcessReadWriteLock; the downgrade of its version 5.5
 *           (CURATOR-621).
 * Example   examples/rwlock.c, examples/downgrade.c
 */
#ifndef ZKRECIPES_RWLOCK_H
#define ZKRECIPES_RWLOCK_H

#include <zkrecipes/lockable.h>

ZKR__BEGIN_C

/** A read/write lock. */
typedef zkr_lockable zkr_rwlock;

/** Make a handle for the lock at @p path. @p opts may have all flags of
 *  zkr_lockable_opts but ZKR_SELECTOR_LAYOUT, and retain_ms, of the write
 *  lock. */
ZKR_CALL int zkr_rwlock_new(zkr_session *session, const char *path,
                            const struct zkr_lockable_opts *opts,
                            zkr_rwlock **ret_lock);

/**
 * Wait until the lock is granted for reading: zkr_lockable_acquire() with
 * ZKR_SHARED.
 *
 * Time      A try (0) fails with ZKR_EBUSY when a writer holds the lock or
 *           waits for it. While the owner holds write the timeout does not
 *           matter: it takes one round trip, reply_timeout_ms at most.
 * On error  Not held, and a write grant of the owner is as it was.
 * Errors    Those of zkr_lockable_acquire(); under a write grant also
 *           ZKR_ZCONNECTIONLOSS (no connection now) and ZKR_ELOST (the write
 *           lock has been lost).
 */
ZKR_SHORT ZKR_MUST_CHECK int zkr_rwlock_acquire_read(zkr_rwlock *lock,
                                                     int64_t timeout_ms,
                                                     zkr_grant **ret_grant)
{
    struct zkr_acquire_opts opts = ZKR_ACQUIRE_OPTS_INIT;

    opts.mode = ZKR_SHARED;
    return zkr_lockable_acquire(lock, &opts, timeout_ms, ret_grant);
}

/**
 * Wait until the lock is granted for writing: zkr_lockable_acquire().
 *
 * On error  Not held, and a read grant of the owner is as it was.
 * Errors    Those of zkr_lockable_acquire(); ZKR_EDEADLK also when the owner
 *           holds the lock for reading: nothing was sent.
 */
ZKR_SHORT ZKR_MUST_CHECK int zkr_rwlock_acquire_write(zkr_rwlock *lock,
                                                      int64_t timeout_ms,
                                                      zkr_grant **ret_grant)
{
    return zkr_lockable_acquire(lock, NULL, timeout_ms, ret_grant);
}

/**
 * Claim the lock for reading without a waiting thread. The claim belongs to
 * nobody: it is never granted beside a write grant, and never counted.
 */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_rwlock_acquire_read_async(zkr_rwlock *lock, int64_t timeout_ms,
                              zkr_acquire_fn fn, void *user,
                              zkr_request **ret_request)
{
    struct zkr_acquire_opts opts = ZKR_ACQUIRE_OPTS_INIT;

    opts.mode = ZKR_SHARED;
    return zkr_lockable_acquire_async(lock, &opts, timeout_ms, fn, user,
                                      ret_request);
}

/** Claim the lock for writing, likewise. */
ZKR_SHORT ZKR_MUST_CHECK int
zkr_rwlock_acquire_write_async(zkr_rwlock *lock, int64_t timeout_ms,
                               zkr_acquire_fn fn, void *user,
                               zkr_request **ret_request)
{
    return zkr_lockable_acquire_async(lock, NULL, timeout_ms, fn, user,
                                      ret_request);
}

/** zkr_lockable_free() of a read/write lock. */
ZKR_SHORT void zkr_rwlock_free(zkr_rwlock *lock)
{
    zkr_lockable_free(lock);
}

/**
 * Turn a write grant into a read grant. No writer gets in between, also none
 * that waits already, with any client of the protocol (also Curator 5.4.0,
 * whose own downgrade does let one in). Readers that wait are granted. It takes
 * two steps, read beside write and the release of write, and a failure between
 * them loses nothing.
 *
 * Time      reply_timeout_ms of the session at most, twice.
 * Threads   The read grant belongs to the calling thread; with ZKR_REENTRANT
 *           the write grant must belong to it too (ZKR_ENOTOWNER), and loses
 *           one count. That of an owner with a number stays his.
 * Owns      The write grant is RELEASED (or LOST meanwhile) and still has to be
 *           freed. Its node is gone, or is being deleted in the background;
 *           where an ACL forbids the deletion, the node stays, and readers
 *           behind it wait, until the session ends.
 * On error  The write grant is as it was.
 * Errors    ZKR_EINVAL (not a write grant of this lock), ZKR_ENOTHELD,
 *           ZKR_ELOST, and those of zkr_rwlock_acquire_read() under a write
 *           grant.
 * Source    CURATOR-621, in two steps.
 */
ZKR_CALL int zkr_rwlock_downgrade(zkr_rwlock *lock, zkr_grant *write_grant,
                                  zkr_grant **ret_read_grant);

ZKR__END_C

#endif
