/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The session as a client: the program's own reads, writes, transactions
 * (several writes in one), and watches that last, on the session that its locks
 * use. Writes under a lock are in grant.h.
 *
 * A request is sent when there is a connection, and has one outcome, at the
 * latest at its deadline.
 *
 * Order. Reads and writes, guarded ones and transactions too, are sent in the
 * order of the calls, and the servers carry them out in that order. A read that
 * is sent again after a lost connection may come behind later ones, as may a
 * write that the servers have throttled (ZKR_ZTHROTTLEDOP). A program may post
 * any number: only so many are under way at once that answers come soon, and
 * what the locks of the session need overtakes what is posted: proofs of the
 * lease and other checks, acquires and watches. A release overtakes reads, but
 * no write that was posted before it, in whatever thread: who is granted the
 * lock next comes after those writes. Behind more writes than the servers make
 * in reply_timeout_ms a release returns ZKR_EPENDING, and others wait for the
 * lock so long: give bulk writes that no lock protects a session of their own.
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
 * again until the deadline, in the next session, too. grant.h says what the
 * caller can do after ZKR_EUNKNOWN; without a lock, others may write in
 * between. A sequential node that may have been made can be found by its data.
 *
 * Data is at most ZKR_DATA_MAX bytes; servers whose jute.maxbuffer is lower
 * than the usual 1 MB cut the connection instead of refusing.
 *
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
 * Source    ZooKeeper Programmer's Guide, "ZooKeeper Guarantees".
 * Example   examples/client.c
 */
#ifndef ZKRECIPES_CLIENT_H
#define ZKRECIPES_CLIENT_H

#include <zkrecipes/error.h>
#include <zkrecipes/session.h>

ZKR__BEGIN_C

/* -- replies --------------------------------------------------------------- */

/** The state of a node besides its data. The names are those of ZooKeeper's own
 *  Stat; times are in milliseconds since 1970. */
struct zkr_stat {
    int64_t czxid;           /**< Of its creation: another one, another node. */
    int64_t mzxid;           /**< Of the last write of its data. */
    int64_t pzxid;           /**< Of the last change of its children. */
    int64_t ctime_ms;        /**< Of its creation, by the leader's clock. */
    int64_t mtime_ms;        /**< Of the last write, likewise. */
    int64_t ephemeral_owner; /**< The id of the session that it ends with; 0 of
                                  a persistent node. */
    int32_t version;         /**< Writes of its data: to expect in the next. */
    int32_t cversion;        /**< Changes of its children. */
    int32_t aversion;        /**< Changes of its ACL. */
    int32_t data_len;        /**< In bytes. */
    int32_t children;        /**< How many it has. */
};

/** Members that do not belong to the request are zero. */
struct zkr_reply {
    const char *data;         /**< get: NULL when there are none; else a NUL
                                   follows. */
    size_t len;               /**< get: in bytes, without that NUL. */
    const char *const *names; /**< children: in no order, without a path. */
    size_t count;             /**< children. */
    const char *path;         /**< create: as it was made, with the number of a
                                   sequential node, without the chroot. */
    struct zkr_stat stat;     /**< All but sync and delete. */
};

/** Called when a request has ended, with the value that the waiting call would
 *  have returned. @p reply is NULL on error. */
typedef void (*zkr_reply_fn)(int error, const struct zkr_reply *reply,
                             void *user);

/** Free a reply that a waiting call returned. */
ZKR_API void zkr_reply_free(struct zkr_reply *reply);

/** The largest data of a node here, in bytes. */
#define ZKR_DATA_MAX 1000000

/** The version of a set or a delete that takes any. Any other one is expected:
 *  also those below it, which a node has after 2^31 writes. */
#define ZKR_ANY_VERSION (-1)

/* -- reads ----------------------------------------------------------------- */

/** Read the data of a node, and its stat. */
ZKR_CALL int zkr_session_get(zkr_session *session, const char *path,
                             int64_t timeout_ms, struct zkr_reply **ret_reply);

/** Read the stat of a node. ZKR_ZNONODE: there is none. */
ZKR_CALL int zkr_session_exists(zkr_session *session, const char *path,
                                int64_t timeout_ms,
                                struct zkr_reply **ret_reply);

/** Read the names of the children of a node, and its stat. */
ZKR_CALL int zkr_session_children(zkr_session *session, const char *path,
                                  int64_t timeout_ms,
                                  struct zkr_reply **ret_reply);

/** Let the server of this session catch up with the others: see above. */
ZKR_CALL int zkr_session_sync(zkr_session *session, int64_t timeout_ms);

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

/** Create a node, whose parent must exist. The reply has the path and the
 *  stat. */
ZKR_CALL int zkr_session_create(zkr_session *session, const char *path,
                                const void *data, size_t len,
                                const struct zkr_create_opts *opts,
                                int64_t timeout_ms,
                                struct zkr_reply **ret_reply);

/** Replace the data of a node if @p version is that of its stat, or
 *  ZKR_ANY_VERSION. The reply has the new stat. */
ZKR_CALL int zkr_session_set(zkr_session *session, const char *path,
                             const void *data, size_t len, int32_t version,
                             int64_t timeout_ms, struct zkr_reply **ret_reply);

/** Delete a node without children if @p version is that of its stat, or
 *  ZKR_ANY_VERSION. */
ZKR_CALL int zkr_session_delete(zkr_session *session, const char *path,
                                int32_t version, int64_t timeout_ms);

/* -- the same without waiting ---------------------------------------------- */

/** Those above with a callback. A request that is sent again may be overtaken
 *  by one that was asked for later; wait for the answer before a write that
 *  must come second. @{ */
ZKR_CALL int zkr_session_get_async(zkr_session *session, const char *path,
                                   int64_t timeout_ms, zkr_reply_fn fn,
                                   void *user);
ZKR_CALL int zkr_session_exists_async(zkr_session *session, const char *path,
                                      int64_t timeout_ms, zkr_reply_fn fn,
                                      void *user);
ZKR_CALL int zkr_session_children_async(zkr_session *session, const char *path,
                                        int64_t timeout_ms, zkr_reply_fn fn,
                                        void *user);
ZKR_CALL int zkr_session_sync_async(zkr_session *session, int64_t timeout_ms,
                                    zkr_reply_fn fn, void *user);
ZKR_CALL int zkr_session_create_async(zkr_session *session, const char *path,
                                      const void *data, size_t len,
                                      const struct zkr_create_opts *opts,
                                      int64_t timeout_ms, zkr_reply_fn fn,
                                      void *user);
ZKR_CALL int zkr_session_set_async(zkr_session *session, const char *path,
                                   const void *data, size_t len,
                                   int32_t version, int64_t timeout_ms,
                                   zkr_reply_fn fn, void *user);
ZKR_CALL int zkr_session_delete_async(zkr_session *session, const char *path,
                                      int32_t version, int64_t timeout_ms,
                                      zkr_reply_fn fn, void *user);
/** @} */

/* -- transactions ---------------------------------------------------------- */

/**
 * Transactions: several writes and checks of versions, all or none. The servers
 * carry out the operations in their order, as one, and each finds what those
 * before it have made; when one of them fails, none is carried out. A
 * transaction is committed once. It is one request, and the servers take up to
 * 1 MB; more is ZKR_ETOOLONG.
 *
 * With a guard the servers check first that its lock is still held: a guarded
 * write (grant.h, which has the errors that come with it).
 *
 * A commit is a write as any other, and may have an unknown outcome. It helps
 * to put a check or a set with an expected version into the transaction: if it
 * is committed again in a new transaction, and the first was made, the second
 * fails with ZKR_ZBADVERSION.
 *
 * Threads   One at a time per transaction. From zkr_txn_commit_async() to its
 *           callback no call but zkr_txn_free() is allowed.
 * Errors    As above. The sentence says which operation was refused, and
 *           so does zkr_txn_failed().
 *           ZKR_ZUNIMPLEMENTED: a ZooKeeper client that is not known to be safe
 *           for transactions.
 *           ZKR_EINVAL: the transaction is empty, or has been committed before.
 * Source    ZooKeeper Programmer's Guide, multi.
 */

/** A transaction, before its commit and after. */
typedef struct zkr_txn zkr_txn;

/** Zero means default, for every member. */
struct zkr_txn_opts {
    size_t size; /**< Set by ZKR_TXN_OPTS_INIT. */
    /** The grant of the lock that must be held when the servers carry it out.
     *  It may be freed before the transaction, which then is refused. */
    struct zkr_grant *guard;
};

#define ZKR_TXN_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_txn_opts)

/** Make an empty transaction. With a guard, @p session may be NULL: it is that
 *  of the guard. */
ZKR_CALL int zkr_txn_new(zkr_session *session, const struct zkr_txn_opts *opts,
                         zkr_txn **ret_txn);

/** Free it. If it is under way, it goes on. */
ZKR_API void zkr_txn_free(zkr_txn *txn);

/* An operation that is refused here is not added. */

/** Require that the node exists, with that version or ZKR_ANY_VERSION. It needs
 *  the permission to read. */
ZKR_CALL int zkr_txn_check(zkr_txn *txn, const char *path, int32_t version);

/** As zkr_session_create(), but for containers and nodes with a TTL, which a
 *  transaction cannot create (ZKR_EINVAL). */
ZKR_CALL int zkr_txn_create(zkr_txn *txn, const char *path, const void *data,
                            size_t len, const struct zkr_create_opts *opts);

/** As zkr_session_set(). */
ZKR_CALL int zkr_txn_set(zkr_txn *txn, const char *path, const void *data,
                         size_t len, int32_t version);

/** As zkr_session_delete(). */
ZKR_CALL int zkr_txn_delete(zkr_txn *txn, const char *path, int32_t version);

/** Commit it, and wait. */
ZKR_CALL int zkr_txn_commit(zkr_txn *txn, int64_t timeout_ms);

/** Called when a commit has ended, with the value that the waiting call would
 *  have returned. */
typedef void (*zkr_txn_fn)(int error, zkr_txn *txn, void *user);

/** The same without waiting. */
ZKR_CALL int zkr_txn_commit_async(zkr_txn *txn, int64_t timeout_ms,
                                  zkr_txn_fn fn, void *user);

/* Results of a commit. Operations are counted from 0, in the order in which
 * they were added. The strings and stats live as long as the transaction. */

/** The operation that was refused; -1: none, or it is not known. */
ZKR_API int zkr_txn_failed(const zkr_txn *txn);

/** The path that a create has made, without the chroot; else NULL. */
ZKR_API const char *zkr_txn_path(const zkr_txn *txn, size_t operation);

/** The stat after a set that was made; else NULL. */
ZKR_API const struct zkr_stat *zkr_txn_stat(const zkr_txn *txn,
                                            size_t operation);

/* -- watches that last ----------------------------------------------------- */

/**
 * Watches that last: what a node has, or which children, told now and after
 * each change, until the watch is freed.
 *
 * A watch of ZooKeeper tells of one change, and ends with the session. A watch
 * here is a read that the library repeats whenever its result may have changed:
 * each read sets the watch for the next one, so no change after it is missed.
 * Changes in quick succession may be told as one, also when a callback is late:
 * what is told last is how the node was left. Two calls in a row may tell the
 * same: then the node changed, and changed back.
 *
 * A node that is missing is ZKR_ZNONODE; the watch waits for its creation.
 * Other errors of the servers are told once, and the read is repeated every
 * retry.cap_ms of the session: so a node that may not be read (ZKR_ZNOAUTH) is
 * told when it may. A change of the ACL alone is not told.
 *
 * The session must be permitted to read the node, for ZKR_WATCH_EXISTS, too.
 * Servers with the fix of CVE-2024-23944 (3.8.4, 3.9.2, Debian's 3.8.0) tell
 * nothing of a node that may not be read: if it changes meanwhile, the watch of
 * the server is used up, and later changes are not told either, until there is
 * a new session. After such a time free the watch, and make another.
 *
 * Nothing is told about the connection: see zkr_session_listen(). When the
 * session has ended for good, nothing more is told.
 *
 * A watch costs one request when it is made, one or two for each change (with
 * ZKR_WATCH_EXISTS also for each write of the data), and one when it is freed.
 * After a reconnect the ZooKeeper client names all watched paths in one packet,
 * which servers refuse above 1 MB (jute.maxbuffer) by cutting the connection,
 * again and again: so a session should not watch more than some 5,000 nodes, or
 * 500 kB of paths with the chroot.
 *
 * Source    "ZooKeeper Programmer's Guide", "ZooKeeper Watches"; Curator's
 *           NodeCache and PathChildrenCache are of this kind.
 * Example   examples/watch.c
 */

/** A watch, until it is freed. */
typedef struct zkr_watch zkr_watch;

/** The part of a node that is watched. It decides when a state is another
 *  one. */
enum zkr_watch_what {
    ZKR_WATCH_DATA = 1,     /**< The data: after each write, and when the node
                                 is created or deleted. */
    ZKR_WATCH_EXISTS = 2,   /**< Creation and deletion only. A node that was
                                 deleted and created again is another one
                                 (stat.czxid). */
    ZKR_WATCH_CHILDREN = 3, /**< The names of the children, and creation and
                                 deletion of the node itself. */
    /** With DATA or CHILDREN, by |: the watch ends when the node is missing or
     *  deleted. It tells ZKR_ZNONODE, then nothing any more. This is for nodes
     *  whose deletion is final, or is seen in the directory above: it saves
     *  the requests that would wait for a new node. */
    ZKR_WATCH_UNTIL_DELETED = 16,
};
ZKR__FLAGS(zkr_watch_what)

/** Why a callback is called. */
enum zkr_watch_why {
    ZKR_WATCH_FIRST = 0,   /**< The first call: the present state. */
    ZKR_WATCH_CHANGED = 1, /**< The state is another one. */
    /** Once in every new session, the state by then, even if nothing differs:
     *  what happened between the sessions was not watched. It is not older than
     *  the state told before, unless the servers have local sessions. A lost
     *  connection alone is no gap: the servers tell what happened meanwhile. */
    ZKR_WATCH_GAP = 2,
    /** With ZKR_WATCH_UNTIL_DELETED: the node was deleted, and nothing else
     *  changed since the state told before, unless the connection was lost
     *  meanwhile. The server says so, and nothing was read again. */
    ZKR_WATCH_ENDED = 3,
};

/**
 * Called with each state. @p error is ZKR_OK, ZKR_ZNONODE, or another code of
 * the servers. @p reply is NULL on error; it has the stat always, data for
 * ZKR_WATCH_DATA, names for ZKR_WATCH_CHILDREN.
 */
typedef void (*zkr_watch_fn)(int error, const struct zkr_reply *reply,
                             enum zkr_watch_why why, void *user);

/** Zero means default, for every member. */
struct zkr_watch_opts {
    size_t size;      /**< Set by ZKR_WATCH_OPTS_INIT. */
    int64_t pause_ms; /**< That of zkr_watch_set_pause(), from the beginning. */
};

#define ZKR_WATCH_OPTS_INIT ZKR__DEFAULT_OPTS(struct zkr_watch_opts)

/** Watch the node at @p path, which need not exist. While there is no
 *  connection, the first call comes when there is one. */
ZKR_CALL int zkr_session_watch(zkr_session *session, const char *path,
                               enum zkr_watch_what what,
                               const struct zkr_watch_opts *opts,
                               zkr_watch_fn fn, void *user,
                               zkr_watch **ret_watch);

/**
 * Let a read begin no earlier than @p pause_ms after the answer to the one
 * before; 0, the default: at once. A change after a longer time of rest is told
 * at once. A pause that has begun is not changed.
 */
ZKR_CALL int zkr_watch_set_pause(zkr_watch *watch, int64_t pause_ms);

/** Stop watching. */
ZKR_API void zkr_watch_free(zkr_watch *watch);

ZKR__END_C

#endif
