/* SPDX-License-Identifier: Apache-2.0 */
/* Looks one time at all locks below some paths, or at one lock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/lockctl.h"
#include "model/lock_state.h"

/* How many nodes of a lock are read, from the first of the queue on; the others
 * are known by their names alone. */
#define SCAN_ALL     0u
#define SCAN_HOLDERS UINT32_MAX /* as many as hold */
#define SCAN_NEXT                                                              \
    (UINT32_MAX - 1) /* as many as hold, and the first that waits */

struct scan {
    struct lock *locks; /* in the order of their paths */
    size_t count;
    int64_t at_ms;
    bool missing;  /* the path does not exist */
    bool cut;      /* there may be more */
    size_t denied; /* nodes that could not be looked at */
    struct notes notes;
};

/* The exit code of a verb that would end with `code`. A scan that found
 * nothing, and could not look everywhere, does not prove that there is nothing:
 * then this says so. */
int scan_code(const struct scan *scan, int code);

struct scan_opts {
    bool alone;         /* the paths, and nothing below them */
    bool barriers;      /* double barriers, too */
    uint32_t limit;     /* of locks; 0: all; scan_below() has 10000 then */
    uint32_t reads;     /* as in scan_lock() */
    int64_t timeout_ms; /* for finding them */
};

/* The options of the verbs that look for locks. */
/* clang-format off */
#define SCAN_LIMIT(member)                                                     \
    { "limit", .value = "N", .type = OPT_COUNT, .at = (member),                \
      .help = "look at no more than N locks (10000)" }
#define SCAN_WITHIN(member)                                                    \
    { "within", .value = "DURATION", .type = OPT_MS, .min = 1,                 \
      .at = (member),                                                          \
      .help = "search no longer than that (60s)" }
/* clang-format on */

/* All locks at and below the paths; none where one does not exist, as servers
 * remove a container that nobody uses. A lock that may not be read is listed
 * without its contents. 0, or an exit code after an error was said; nothing is
 * to be freed then. */
int scan_below(const struct lockctl *ctl, const char *const *paths,
               size_t count, const struct scan_opts *opts,
               struct scan *ret_scan);

/* The same without a message: returns an error of the library, and its
 * sentence. */
enum { SCAN_DETAIL_MAX = 512 };
int locks_list(const struct lockctl *ctl, const char *const *paths,
               size_t count, const struct scan_opts *opts,
               struct scan *ret_scan, char detail[SCAN_DETAIL_MAX]);

void scan_done(struct scan *scan);

/* --- one lock --- */

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
 * for it. A time of 0 is that of the session. */
int lock_list(zkr_session *session, const char *path, uint32_t reads,
              int64_t timeout_ms, struct lock *ret_lock);
