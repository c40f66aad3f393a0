/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ZooKeeper lock recipes for C. This header includes all the others,
 * but for testing.h and zhandle.h. docs/from-curator.md says which call stands
 * for which method of Curator. The rules below hold for all calls.
 *
 * Arguments. Paths, strings, data and options are copied. A path is absolute
 * ("/locks/orders"), below the chroot of the session and with it at most
 * ZKR_PATH_MAX bytes long (twice that to read and watch), in UTF-8, without
 * empty, "." or ".." components, control characters or a slash at the end.
 * Options (a struct with a size, which its ZKR_..._INIT sets) may be NULL: all
 * defaults. The default of a member is zero. A callback may be NULL: nobody is
 * told, and a lock that is granted to nobody goes back. zkr_..._free() and
 * zkr_session_close() take NULL, and do nothing.
 *
 * Outputs (ret_...) are emptied when the call begins: after an error they are
 * NULL, zero, or -1 for a descriptor. So do not let one be the only place that
 * has something. Counters are emptied likewise, all but their size.
 *
 * Objects. zkr_..._new() makes a handle, and sends nothing, unless it says so.
 * The maker of an object frees it, when no other thread is about to call with
 * it: the handle, not what is on the servers. It may outlive its session, and
 * then answers ZKR_ECLOSED, or the error that ended the session. What it
 * returns a pointer to lives as long as itself. A call that returns no code,
 * but what it was asked for, returns 0, false or NULL for NULL, and also after
 * fork, if it asks how things are at present. zkr_..._path() is the path as it
 * was given.
 *
 * Callbacks. The arguments of a callback are valid during the call; but a grant
 * that an acquire gives it is the program's. An asynchronous call that returns
 * an error has begun nothing, and does not call; otherwise it calls once, with
 * the outcome, also when the session is closed.
 *
 * Threads. Any call may be made by any thread, that of an event loop of your
 * own, too, unless its Threads line says less; and inside a callback, if it
 * does not wait. session.h says more.
 *
 * Codes that each call may return, and does not name unless it says more:
 * ZKR_EINVAL (NULL where something is needed, a struct of an unknown size, an
 * unknown option), ZKR_ENOMEM, ZKR_EFORKED (session.h); when the session is
 * over, ZKR_ECLOSED or ZKR_ZAUTHFAILED; with a path ZKR_EPATH and ZKR_ETOOLONG;
 * and what waits returns ZKR_EDEADLK inside a callback of its session.
 *
 * Timeouts. A timeout_ms, a parameter or a member of options, means the same
 * everywhere: for how many milliseconds a call waits, on a clock that nobody
 * sets.
 *
 *   more than 0   At most so long, for whatever the call needs.
 *   0             For the answers of the servers only, at most reply_timeout_ms
 *                 of the session, and for nobody else: a lock that is taken is
 *                 ZKR_EBUSY (a try).
 *   less than 0   Without limit.
 *
 * A call that waits and has no timeout_ms takes at most reply_timeout_ms of the
 * session, unless it says otherwise. Other lengths of time are members of
 * options, such as retain_ms: they are unsigned, and 0 means their default.
 */
#ifndef ZKRECIPES_ZKRECIPES_H
#define ZKRECIPES_ZKRECIPES_H

#include <zkrecipes/barrier.h>
#include <zkrecipes/client.h>
#include <zkrecipes/counter.h>
#include <zkrecipes/error.h>
#include <zkrecipes/fence.h>
#include <zkrecipes/grant.h>
#include <zkrecipes/leader.h>
#include <zkrecipes/lockable.h>
#include <zkrecipes/multi_lock.h>
#include <zkrecipes/mutex.h>
#include <zkrecipes/participants.h>
#include <zkrecipes/reentrant_mutex.h>
#include <zkrecipes/rwlock.h>
#include <zkrecipes/semaphore.h>
#include <zkrecipes/session.h>
#include <zkrecipes/unfair_mutex.h>

#endif
