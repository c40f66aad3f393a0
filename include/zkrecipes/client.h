/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The session as a client: the program's own reads and writes, on the session
 * that its locks use. Several writes in one are in txn.h, writes under a lock
 * in guarded.h, reads that are repeated when the result changes in watch.h.
 *
 * A request is sent when there is a connection, and has one outcome, at the
 * latest at its deadline.
 *
 * Order. Reads and writes, guarded ones and transactions too, are sent in the
 * order of the calls, and the servers carry them out in that order. A read that
 * is sent again after a lost connection may come behind later ones, as may a
 * write that the servers have throttled (ZKR_ZTHROTTLEDOP). A program may post
 * any number. Only so many are under way at once that answers come soon: when
 * one takes 125 ms longer than the quickest did, or a 32nd of the session
 * timeout if that is less, there are fewer. So what the locks of the session
 * need overtakes what is posted: proofs of the lease and other checks, acquires
 * and watches. A release overtakes reads, but no write that was posted before
 * it, in whatever thread: who is granted the lock next comes after those
 * writes. Behind more writes than the servers make in reply_timeout_ms a
 * release returns ZKR_EPENDING, and others wait for the lock so long: give bulk
 * writes that no lock protects a session of their own. After a node of 1 MB was
 * read between many of 1 KB, answers may be late once.
 *
 * Reads (get, exists, children) and a sync are sent again as the retry policy
 * of the session says, in the next session, too. A read shows what the server
 * that is asked knows: at least all that the session has written or seen before
 * in this epoch; others may have written since. After a sync it shows at least
 * all that was written before the sync was asked for. The sync and the read can
 * be sent together, without waiting for the sync, if it does not matter that
 * the read may overtake the sync after a lost connection.
 *
 * Writes (create, set, delete) have three results: made, not made, and unknown.
 * When the connection breaks, the session ends, or the deadline passes, while
 * the write is under way, nobody can tell whether it was made, and the call
 * returns ZKR_EUNKNOWN. The write is made at once, later, or never, and the
 * library does not send it again. A write that was certainly not made is sent
 * again until the deadline, in the next session, too. guarded.h says what the
 * caller can do after ZKR_EUNKNOWN; without a lock, others may write in
 * between. A sequential node that may have been made can be found by its data.
 *
 * Paths are absolute, without the chroot of the session, and at most
 * ZKR_PATH_MAX bytes long with it. Data is at most ZKR_DATA_MAX bytes; servers
 * whose jute.maxbuffer is lower than the usual 1 MB cut the connection instead
 * of refusing. Paths, data and options are copied.
 *
 * Time      @p timeout_ms: zkrecipes.h says what it means.
 * Threads   Any; calls that wait must not be made in a callback of the session
 *           (ZKR_EDEADLK).
 * Owns      The caller frees *ret_reply with zkr_reply_free(). @p ret_reply may
 *           be NULL.
 * On error  A write was not made, except with ZKR_EUNKNOWN.
 * Errors    ZKR_EUNKNOWN: see above.
 *           ZKR_EUNREACHABLE: no answer before the deadline; a write was not
 *           sent.
 *           Of the servers: ZKR_ZNONODE, ZKR_ZNODEEXISTS, ZKR_ZBADVERSION,
 *           ZKR_ZNOTEMPTY, ZKR_ZNOAUTH, ZKR_ZNOCHILDRENFOREPHEMERALS, ...
 *           Of a read, if the retry policy has ended before the deadline: that
 *           of the last attempt, such as ZKR_ZCONNECTIONLOSS.
 *           ZKR_EPATH, ZKR_ETOOLONG, ZKR_EINVAL, ZKR_ENOMEM, ZKR_EDEADLK,
 *           ZKR_ECLOSED, ZKR_ZAUTHFAILED, ZKR_EFORKED.
 * Source    ZooKeeper Programmer's Guide, "ZooKeeper Guarantees".
 * Example   examples/client.c
 */
#ifndef ZKRECIPES_CLIENT_H
#define ZKRECIPES_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/reply.h>
#include <zkrecipes/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The largest data of a node here, in bytes. */
#define ZKR_DATA_MAX 1000000

/** The version of a set or a delete that takes any. Any other one is expected:
 *  also those below it, which a node has after 2^31 writes. */
#define ZKR_ANY_VERSION (-1)

/* -- reads ----------------------------------------------------------------- */

/** Read the data of a node, and its stat. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_get(zkr_session *session, const char *path, int64_t timeout_ms,
                struct zkr_reply **ret_reply);

/** Read the stat of a node. ZKR_ZNONODE: there is none. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_exists(zkr_session *session, const char *path, int64_t timeout_ms,
                   struct zkr_reply **ret_reply);

/** Read the names of the children of a node, and its stat. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_children(zkr_session *session, const char *path, int64_t timeout_ms,
                     struct zkr_reply **ret_reply);

/** Let the server of this session catch up with the others: see above. */
ZKR_API ZKR_MUST_CHECK enum zkr_error zkr_session_sync(zkr_session *session,
                                                       int64_t timeout_ms);

/* -- writes ---------------------------------------------------------------- */

/** The kinds of nodes that a create makes. */
enum zkr_create_mode {
    ZKR_CREATE_PERSISTENT = 0,
    /** The server appends ten digits to the path, which count the creates in
     *  the directory. */
    ZKR_CREATE_PERSISTENT_SEQUENTIAL = 1,
    /** It is deleted when the session ends that has made it: see
     *  zkr_session_epoch(). It cannot have children. */
    ZKR_CREATE_EPHEMERAL = 2,
    ZKR_CREATE_EPHEMERAL_SEQUENTIAL = 3,
    /** The servers delete it some time after its last child (since 3.5.3). */
    ZKR_CREATE_CONTAINER = 4,
    /** The servers delete it when nobody has set it for ttl_ms, and it has no
     *  children. They need zookeeper.extendedTypesEnabled (since 3.5.3), and
     *  refuse it without (ZKR_ZUNIMPLEMENTED). */
    ZKR_CREATE_TTL = 5,
    ZKR_CREATE_TTL_SEQUENTIAL = 6,
};

#define ZKR_TTL_MAX_MS INT64_C(0xffffffffff) /**< 34 years. */

/** Zero means default, for every member. */
struct zkr_create_opts {
    size_t size;               /**< Set by ZKR_CREATE_OPTS_INIT. */
    enum zkr_create_mode mode; /**< Default: persistent. */
    uint32_t reserved;         /**< Zero. */
    int64_t ttl_ms;  /**< Of the two modes with TTL, and of no other: 1 to
                          ZKR_TTL_MAX_MS. */
    const char *acl; /**< As in zkr_session_opts; by default, that of the
                          session. */
};

#define ZKR_CREATE_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_create_opts)

/** Create a node, whose parent must exist; @p opts may be NULL. The reply has
 *  the path and the stat. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_create(zkr_session *session, const char *path, const void *data,
                   size_t len, const struct zkr_create_opts *opts,
                   int64_t timeout_ms, struct zkr_reply **ret_reply);

/** Replace the data of a node if @p version is that of its stat, or
 *  ZKR_ANY_VERSION. The reply has the new stat. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_set(zkr_session *session, const char *path, const void *data,
                size_t len, int32_t version, int64_t timeout_ms,
                struct zkr_reply **ret_reply);

/** Delete a node without children if @p version is that of its stat, or
 *  ZKR_ANY_VERSION. */
ZKR_API ZKR_MUST_CHECK enum zkr_error zkr_session_delete(zkr_session *session,
                                                         const char *path,
                                                         int32_t version,
                                                         int64_t timeout_ms);

/* -- the same without waiting ---------------------------------------------- */

/* When these return an error, @p fn is not called. Otherwise it is called once,
 * also when the session is closed. A request that is sent again may be
 * overtaken by one that was asked for later; wait for the answer before a write
 * that must come second. */

/** zkr_session_get() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_get_async(zkr_session *session, const char *path,
                      int64_t timeout_ms, zkr_reply_fn fn, void *user);

/** zkr_session_exists() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_exists_async(zkr_session *session, const char *path,
                         int64_t timeout_ms, zkr_reply_fn fn, void *user);

/** zkr_session_children() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_children_async(zkr_session *session, const char *path,
                           int64_t timeout_ms, zkr_reply_fn fn, void *user);

/** zkr_session_sync() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_sync_async(zkr_session *session, int64_t timeout_ms,
                       zkr_reply_fn fn, void *user);

/** zkr_session_create() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_create_async(zkr_session *session, const char *path,
                         const void *data, size_t len,
                         const struct zkr_create_opts *opts, int64_t timeout_ms,
                         zkr_reply_fn fn, void *user);

/** zkr_session_set() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_set_async(zkr_session *session, const char *path, const void *data,
                      size_t len, int32_t version, int64_t timeout_ms,
                      zkr_reply_fn fn, void *user);

/** zkr_session_delete() with a callback. */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_delete_async(zkr_session *session, const char *path,
                         int32_t version, int64_t timeout_ms, zkr_reply_fn fn,
                         void *user);

#ifdef __cplusplus
}
#endif

#endif
