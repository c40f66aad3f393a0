/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Watches that last: what a node has, or which children, told now and after
 * each change, until the watch is freed.
 *
 * A watch of ZooKeeper tells of one change, and ends with the session. A watch
 * here is a read that the library repeats whenever its result may have changed:
 * each read sets the watch for the next one, so no change after it is missed.
 * Changes in quick succession may be told as one: what is told last is how the
 * node was left. While a callback is late, newer results replace older ones.
 *
 * The callback is told:
 *
 *  - first, the present state (ZKR_WATCH_FIRST);
 *  - every other state that is seen later (ZKR_WATCH_CHANGED);
 *  - once in every new session, the state by then (ZKR_WATCH_GAP), even if
 *    nothing differs: what happened between the sessions was not watched. It
 *    is not older than the state told before, unless the servers have local
 *    sessions. A lost connection alone is no gap: when the session goes on, the
 *    servers tell what happened meanwhile.
 *
 * Two calls in a row may tell the same: then the node changed, and changed
 * back.
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
 * Under many changes it reads again as soon as the read before was answered;
 * zkr_watch_set_pause() makes it slower.
 * After a reconnect the ZooKeeper client names all watched paths in one packet,
 * which servers refuse above 1 MB (jute.maxbuffer) by cutting the connection,
 * again and again: so a session should not watch more than some 5,000 nodes, or
 * 500 kB of paths with the chroot.
 *
 * Threads   Callbacks come as session.h says: one at a time, with no lock held.
 * Source    "ZooKeeper Programmer's Guide", "ZooKeeper Watches"; Curator's
 *           NodeCache and PathChildrenCache are of this kind.
 * Example   examples/watch.c
 */
#ifndef ZKRECIPES_WATCH_H
#define ZKRECIPES_WATCH_H

#include <zkrecipes/reply.h>
#include <zkrecipes/session.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    ZKR_WATCH_FIRST = 0,   /**< The first call. */
    ZKR_WATCH_CHANGED = 1, /**< The state is another one. */
    ZKR_WATCH_GAP = 2,     /**< The session is a new one: it may have changed,
                                several times. */
    ZKR_WATCH_ENDED = 3,   /**< With ZKR_WATCH_UNTIL_DELETED: the node was
                                deleted, and nothing else changed between the
                                state told before and the deletion, unless the
                                connection was lost meanwhile. The server says
                                so, and nothing was read again. */
};

/**
 * Called with each state. @p error is ZKR_OK, ZKR_ZNONODE, or another code of
 * the servers. @p reply is NULL on error, and is valid during the call: stat
 * always, data for ZKR_WATCH_DATA, names for ZKR_WATCH_CHILDREN.
 */
typedef void (*zkr_watch_fn)(int error, const struct zkr_reply *reply,
                             enum zkr_watch_why why, void *user);

/**
 * Watch the node at @p path, which is absolute, without the chroot, and need
 * not exist.
 *
 * Time      Does not wait: while there is no connection, the first call comes
 *           when there is one.
 * Threads   Any, callbacks too.
 * Owns      The path is copied. The caller owns the watch and frees it with
 *           zkr_watch_free(), before or after the session is closed.
 * On error  Nothing is watched, and @p fn is not called.
 * Errors    ZKR_EINVAL, ZKR_EPATH, ZKR_ETOOLONG, ZKR_ENOMEM, ZKR_EFORKED; the
 *           error that ended the session, such as ZKR_ECLOSED.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error
zkr_session_watch(zkr_session *session, const char *path,
                  enum zkr_watch_what what, zkr_watch_fn fn, void *user,
                  zkr_watch **ret_watch);

/**
 * Let a read begin no earlier than @p pause_ms after the answer to the one
 * before; 0, the default: at once. A change is told the later for it, but a
 * change after a longer time of rest is told at once. Errors are repeated every
 * retry.cap_ms, as ever.
 *
 * Threads   Any, callbacks too. A pause that has begun is not changed.
 * Errors    ZKR_EINVAL (a pause below 0, or no watch), ZKR_EFORKED.
 */
ZKR_API ZKR_MUST_CHECK enum zkr_error zkr_watch_set_pause(zkr_watch *watch,
                                                          int64_t pause_ms);

/**
 * Stop watching. When the call returns, the callback is not running and will
 * not run again. When it is called from inside that callback, this is the
 * callback's last run. NULL is allowed.
 */
ZKR_API void zkr_watch_free(zkr_watch *watch);

#ifdef __cplusplus
}
#endif

#endif
