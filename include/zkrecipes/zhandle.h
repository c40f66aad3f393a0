/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The client's own handle, for requests that client.h does not have. This is
 * the only header that includes ZooKeeper's; <zkrecipes/zkrecipes.h> does not
 * include it.
 *
 * Inside the function, and nowhere else, the handle may be used for:
 *
 *  - the asynchronous calls zoo_a...(), but zoo_amulti() with two or more
 *    operations: it ends the process when the session expires meanwhile. Use
 *    client.h;
 *  - calls that only read the handle, such as zoo_recv_timeout().
 *
 * Everything else harms the session: closing the handle, another watcher or
 * context, other servers or credentials, and calls that wait, which may wait
 * for ever when the session ends.
 *
 * Paths of the client begin at the root of the servers, also in a session with
 * a chroot: put the chroot before them.
 *
 * Completions and watchers run on the client's completion thread, which also
 * serves the session and its locks: they must return soon, and must not call a
 * function of this library that waits. They may run before the function has
 * returned. Most of those that are due when the handle is closed never run
 * (ZOOKEEPER-3868): after an expiry, or in zkr_session_close(). So their
 * memory must be found by other means than by a completion. None runs after
 * zkr_session_close() has returned, unless that handle is stuck
 * (zkr_session_stuck_handles()).
 *
 * A completion may run although its call has returned an error: the client
 * keeps some of the requests that it has no memory to send.
 *
 * A library that was built with a client inside (docs/install.md) lends no
 * handle: another client of the program could not use it.
 *
 * A handle is that of one epoch: watches and requests end with it, and
 * zkr_session_epoch() tells another. Nothing is repeated.
 */
#ifndef ZKRECIPES_ZHANDLE_H
#define ZKRECIPES_ZHANDLE_H

#include <zookeeper/zookeeper.h>

#include <zkrecipes/session.h>

ZKR__BEGIN_C

/** The function that is called with the handle. Its result is that of
 *  zkr_session_with_handle(). */
typedef int (*zkr_zhandle_fn)(zhandle_t *zh, void *user);

/**
 * Call @p fn once, on this thread, with the handle of the present epoch, and
 * return what it returns. The handle is not closed before @p fn has returned;
 * but its connection may break, and it may expire.
 *
 * Time      That of @p fn. Until it returns, a session that has expired is not
 *           followed by the next, and zkr_session_close() waits: do not block.
 * Threads   Any. Inside @p fn calls that would wait return ZKR_EDEADLK.
 * On error  @p fn was not called.
 * Errors    ZKR_EUNREACHABLE: there is no connection now. ZKR_ENOTSUP: the
 *           client is inside the library. Let @p fn return codes of
 *           ZooKeeper, or others that are told from ours.
 */
ZKR_CALL int zkr_session_with_handle(zkr_session *session, zkr_zhandle_fn fn,
                                     void *user);

ZKR__END_C

#endif
