/* SPDX-License-Identifier: Apache-2.0 */
/**
 * ZooKeeper lock recipes for C. This header includes all the others,
 * but for testing.h and zhandle.h.
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
 * A call that waits and has no timeout_ms says how long it takes. Other lengths
 * of time are members of options with names of their own, such as retain_ms or
 * session_timeout_ms: they are unsigned, and 0 means the default that is said
 * there, as for every member of options.
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
