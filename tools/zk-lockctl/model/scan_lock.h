/* SPDX-License-Identifier: Apache-2.0 */
/* Lists one lock: reads as much of its queue as is wanted. */
#ifndef MODEL_SCAN_LOCK_H
#define MODEL_SCAN_LOCK_H

#include "model/lock_state.h"

/* How many nodes of a lock are read, from the first of the queue on; the others
 * are known by their names alone. */
#define SCAN_ALL     0u
#define SCAN_HOLDERS UINT32_MAX /* as many as hold */
#define SCAN_NEXT                                                              \
    (UINT32_MAX - 1) /* as many as hold, and the first that waits */

/* The functions here return 0, or an exit code after an error was said; nothing
 * is to be freed then. For all of them the path of a part of a semaphore,
 * "PATH/leases" or "PATH/locks", is that of the semaphore. */

/* One lock, of which so many nodes are read. A directory with children of which
 * none contends is no lock. */
enum {
    SCAN_MISSING = 1u << 0, /* one that does not exist is free, and no error */
    SCAN_BARRIER = 1u << 1, /* a barrier will do, too */
    SCAN_ANY = 1u << 2,     /* it was a lock: it is free, or missing, when no
                               contender is left */
};
int scan_lock(zkr_session *session, const char *path, uint32_t reads,
              unsigned allowed, struct lock *ret_lock);

/* The path of the semaphore that `path` is a part of, or `path` itself. */
const char *scan_whole(zkr_session *session, const char *path,
                       char room[ZKR_PATH_MAX + 1]);

/* This says nothing, and returns an error of the library. Every path is a lock
 * for it. The options are those of lock_opts(). */
int lock_list(zkr_session *session, const char *path,
              const struct zkr_participants_opts *opts, struct lock *ret_lock);

/* The options for the library, so that it reads so many nodes of a lock. */
struct zkr_participants_opts lock_opts(uint32_t reads);

#endif
