/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Transactions: several writes and checks of versions, all or none.
 *
 *   1. Make a transaction on a session.
 *   2. Add its operations. Nothing is sent.
 *   3. Commit it, once: the servers carry out the operations in their order, as
 *      one; or none, when one of them fails. Each operation finds what those
 *      before it have made.
 *   4. Ask for its results, and free it.
 *
 * Under a lock, commit it with zkr_grant_guarded_commit() of guarded.h: then
 * the servers check first that the lock is still held.
 *
 * A commit is a write as in client.h, with the same three results: made, not
 * made, and unknown (ZKR_EUNKNOWN). It helps to put a check or a set with an
 * expected version into the transaction: if it is committed again in a new
 * transaction, and the first was made, the second fails with ZKR_ZBADVERSION.
 *
 * Paths, data and options are as in client.h. A transaction is one request, and
 * the servers take up to 1 MB; more is ZKR_ETOOLONG.
 *
 * Time      As in client.h.
 * Threads   One at a time per transaction. From zkr_txn_commit_async() to its
 *           callback no call but zkr_txn_free() is allowed.
 * On error  Nothing was written, except with ZKR_EUNKNOWN.
 * Errors    As in client.h. The sentence says which operation was refused, and
 *           so does zkr_txn_failed().
 *           ZKR_ZUNIMPLEMENTED: a ZooKeeper client that is not known to be safe
 *           for transactions.
 *           ZKR_EINVAL: the transaction is empty, or has been committed before.
 * Source    ZooKeeper Programmer's Guide, multi.
 * Example   examples/client.c
 */
#ifndef ZKRECIPES_TXN_H
#define ZKRECIPES_TXN_H

#include <zkrecipes/client.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A transaction, before its commit and after. */
typedef struct zkr_txn zkr_txn;

/** Make an empty transaction. It may be freed after the session was closed. */
ZKR_API ZKR_MUST_CHECK enum zkr_error zkr_txn_new(zkr_session *session,
                                                  zkr_txn **ret_txn);

/** Free it. If it is under way, it goes on. NULL is allowed. */
ZKR_API void zkr_txn_free(zkr_txn *txn);

/* An operation that is refused here is not added. */

/** Require that the node exists, with that version or ZKR_ANY_VERSION. It needs
 *  the permission to read. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_txn_check(zkr_txn *txn, const char *path, int32_t version);

/** As zkr_session_create(), but for containers and nodes with a TTL, which a
 *  transaction cannot create (ZKR_EINVAL). */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_txn_create(zkr_txn *txn, const char *path, const void *data, size_t len,
               const struct zkr_create_opts *opts);

/** As zkr_session_set(). */
ZKR_API ZKR_MUST_CHECK enum zkr_error zkr_txn_set(zkr_txn *txn,
                                                  const char *path,
                                                  const void *data, size_t len,
                                                  int32_t version);

/** As zkr_session_delete(). */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_txn_delete(zkr_txn *txn, const char *path, int32_t version);

/** Commit it, and wait. */
ZKR_API ZKR_MUST_CHECK enum zkr_error zkr_txn_commit(zkr_txn *txn,
                                                     int64_t timeout_ms);

/**
 * Called once when a commit has ended, with the value that the waiting call
 * would have returned. @p txn is valid during the call, and after it if it has
 * not been freed.
 */
typedef void (*zkr_txn_fn)(int error, zkr_txn *txn, void *user);

/** The same without waiting. When it returns an error, @p fn is not called. */
ZKR_API ZKR_MUST_CHECK enum zkr_error zkr_txn_commit_async(zkr_txn *txn,
                                                           int64_t timeout_ms,
                                                           zkr_txn_fn fn,
                                                           void *user);

/* Results of a commit. Operations are counted from 0, in the order in which
 * they were added. The strings and stats live as long as the transaction. */

/** The operation that was refused; -1 when there is none, or it is not known.
 */
ZKR_API int zkr_txn_failed(const zkr_txn *txn);

/** The path that a create has made, without the chroot; NULL when it has not,
 * or the operation is no create. */
ZKR_API const char *zkr_txn_path(const zkr_txn *txn, size_t operation);

/** The stat after a set that was made; else NULL. */
ZKR_API const struct zkr_stat *zkr_txn_stat(const zkr_txn *txn,
                                            size_t operation);

#ifdef __cplusplus
}
#endif

#endif
