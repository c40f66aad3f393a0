/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Guarded writes: data in ZooKeeper that only the holder of a lock changes.
 *
 * A guarded write is one transaction of the servers: it checks that our lock
 * node exists, and makes the write, or all writes of a transaction (txn.h),
 * only then. So it needs no lease and no clock: when the lock has gone to
 * somebody else, a write that comes late is refused, and changes nothing. In
 * the order of the servers' transactions, all guarded writes of one holder come
 * before all of the next holder. The protected data must be in the same
 * ensemble, and everybody must write it in this way; for other resources see
 * fence.h.
 *
 * The servers decide whether the lock is still held, so a grant that is
 * SUSPENDED or UNSURE may be used; one that is LOST or RELEASED is refused at
 * once.
 *
 * The unknown outcome. When the connection breaks, or the deadline passes,
 * while the write is under way, nobody can tell whether it was made, and the
 * call returns ZKR_EUNKNOWN. The write is made at once, later, or never; but
 * never after the lock has gone to somebody else. The library sends nothing
 * twice. The caller can
 *
 *  - repeat a set that names the expected version: if the first was made, the
 *    second returns ZKR_ZBADVERSION; then read the data;
 *  - create again, and take ZKR_ZNODEEXISTS for success; or delete again, and
 *    take ZKR_ZNONODE for success;
 *  - repeat a set with version -1, when the value does not depend on the old
 *    one;
 *  - otherwise read the node. A read through another connection needs a sync
 *    before it.
 *
 * As long as the lock is held, only a write of your own can come in between. If
 * a repeated call returns ZKR_ELOST, read the node, or leave it to the next
 * holder.
 *
 * Paths are absolute, without the chroot of the session, and at most
 * ZKR_PATH_MAX bytes long with it. Data is at most ZKR_DATA_MAX bytes;
 * servers whose jute.maxbuffer is lower than the usual 1 MB cut the connection
 * instead of refusing (ZKR_EUNKNOWN). The data is copied.
 *
 * The node of an unfair mutex has the same name for all its holders, so it
 * cannot guard anything (ZKR_EINVAL).
 *
 * Time      @p timeout_ms: zkrecipes.h says what it means.
 * Threads   Any; calls that wait must not be made in a callback of the session
 *           (ZKR_EDEADLK).
 * On error  Nothing was written, except with ZKR_EUNKNOWN.
 * Errors    ZKR_ELOST: the lock is not ours any more; the grant is LOST from
 *           then on. ZKR_ENOTHELD: it was released.
 *           ZKR_EUNKNOWN: see above.
 *           ZKR_EUNREACHABLE: no connection before the deadline.
 *           Of the write: ZKR_ZNONODE, ZKR_ZNODEEXISTS, ZKR_ZBADVERSION,
 *           ZKR_ZNOTEMPTY, ZKR_ZNOAUTH, ZKR_ZNOCHILDRENFOREPHEMERALS, ...
 *           ZKR_ZNOAUTH also when an ACL keeps us from reading our own lock
 *           node; the sentence says which.
 *           ZKR_ZUNIMPLEMENTED: a ZooKeeper client that is not known to be safe
 *           for transactions of several operations.
 *           ZKR_EPATH, ZKR_ETOOLONG, ZKR_EINVAL, ZKR_ENOMEM, ZKR_ECLOSED,
 *           ZKR_EFORKED.
 * Source    "ZooKeeper Programmer's Guide", multi; the guard is what etcd calls
 *           a compare in a transaction.
 * Example   examples/guarded.c
 */
#ifndef ZKRECIPES_GUARDED_H
#define ZKRECIPES_GUARDED_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/grant.h>
#include <zkrecipes/txn.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The largest data of a guarded write, in bytes. */
#define ZKR_GUARDED_DATA_MAX ZKR_DATA_MAX

/**
 * Replace the data of a node whose version is @p version (-1: any). @p ret_stat
 * may be NULL.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_grant_guarded_set(zkr_grant *grant, const char *path, const void *data,
                      size_t len, int32_t version, int64_t timeout_ms,
                      struct zkr_stat *ret_stat);

/**
 * Create a persistent node, with the ACL of the session; its parent must exist.
 * Its version is 0.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_grant_guarded_create(zkr_grant *grant, const char *path, const void *data,
                         size_t len, int64_t timeout_ms);

/** Delete a node without children whose version is @p version (-1: any). */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_grant_guarded_delete(zkr_grant *grant, const char *path, int32_t version,
                         int64_t timeout_ms);

/** Commit a transaction of the session of the grant, with the check of the lock
 *  in front. Its operations are counted without that check. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_grant_guarded_commit(zkr_grant *grant, zkr_txn *txn, int64_t timeout_ms);

/**
 * Called once when a guarded write has ended, with the value that the waiting
 * call would have returned. @p stat is NULL unless a set was made, and is valid
 * during the call. The grant may have been freed meanwhile.
 */
typedef void (*zkr_guarded_fn)(int error, const struct zkr_stat *stat,
                               void *user);

/* The same without waiting. When these return an error, @p fn is not called.
 * Wait for the answer before the next write to the same node, and before the
 * release: after a reconnect, or when the servers throttle, a write may be sent
 * late, and so be overtaken. A write that arrives after the release is not made
 * (ZKR_ENOTHELD).
 */

/** zkr_grant_guarded_set() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_grant_guarded_set_async(zkr_grant *grant, const char *path,
                            const void *data, size_t len, int32_t version,
                            int64_t timeout_ms, zkr_guarded_fn fn, void *user);

/** zkr_grant_guarded_create() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_grant_guarded_create_async(zkr_grant *grant, const char *path,
                               const void *data, size_t len, int64_t timeout_ms,
                               zkr_guarded_fn fn, void *user);

/** zkr_grant_guarded_delete() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_grant_guarded_delete_async(zkr_grant *grant, const char *path,
                               int32_t version, int64_t timeout_ms,
                               zkr_guarded_fn fn, void *user);

/** zkr_grant_guarded_commit() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_grant_guarded_commit_async(zkr_grant *grant, zkr_txn *txn,
                               int64_t timeout_ms, zkr_txn_fn fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
