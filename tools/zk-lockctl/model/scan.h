/* SPDX-License-Identifier: Apache-2.0 */
/* Finds locks, lists their queues, and understands what is in them. */
#ifndef MODEL_SCAN_H
#define MODEL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/zkrecipes.h>

#include "common/notes.h"
#include "model/dialect.h"
#include "model/owner.h"

/* One child of a lock; those that contend come first, in order. */
struct contender {
    const struct zkr_participant *node;
    enum dialect dialect;
    struct owner owner;
    int64_t age_ms; /* of the node, by our clock; -1: unknown */
};

enum lock_state {
    LOCK_FREE,
    LOCK_HELD,
    LOCK_SHARED,
    LOCK_ENTERING, /* a barrier: its members wait for more of them */
    LOCK_READY,    /* ... or may go */
    LOCK_UNKNOWN,  /* may not be read */
};

struct lock {
    char *path;
    int error; /* ZKR_OK, or why the rest is not known */
    struct zkr_participants *list;
    struct contender *items; /* as list->items */
    size_t count;            /* contenders; behind them, up to */
    size_t listed;           /* ... this, are foreign children */
    size_t read;             /* so many of the first were read as well */
    size_t total;            /* children on the server */
    bool cut;                /* not all of them are listed */
    int64_t pzxid;           /* when they last changed; 0: unknown or never */
    size_t holders;          /* of a semaphore: leases with a permit */
    size_t waiters;
    size_t members; /* of a barrier; they are among the foreign children */
    enum lock_kind kind;
    enum dialect dialect;
    enum lock_state state;
    const struct contender *holder; /* the first; NULL when it is free */
    int64_t longest_wait_ms;        /* -1 without waiters */
    int64_t at_ms;                  /* when it was listed, since 1970 */
};

struct scan {
    struct lock *locks; /* in the order of their paths */
    size_t count;
    int64_t at_ms;
    int64_t began_ms; /* of a search: no list is older; 0: all are of at_ms */
    bool cut;         /* there may be more */
    size_t denied;    /* nodes that could not be looked at */
    struct notes notes;
};

/* The exit code of a verb that would end with `code`. A scan that found
 * nothing, and could not look everywhere, does not prove that there is nothing:
 * then this says so. */
int scan_code(const struct scan *scan, int code);

struct scan_opts {
    bool empty;          /* directories without children, too */
    bool barriers;       /* double barriers, too */
    bool acl;            /* what everybody may do with each, too */
    uint32_t depth;      /* zero: as in zkr_locks_find() */
    uint32_t limit;      /* of locks */
    uint32_t reads;      /* as in scan_lock() */
    uint32_t timeout_ms; /* for finding them */
};

/* The argument of --within. False after an error was said. */
bool scan_take_within(struct scan_opts *opts);

/* scan_below() and scan_lock(): 0, or an exit code after an error was said;
 * nothing is to be freed then. */

/* For all of these the path of a part of a semaphore, "PATH/leases" or
 * "PATH/locks", is that of the semaphore. */

/* The path of the semaphore that `path` is a part of, or `path` itself. */
const char *scan_whole(zkr_session *session, const char *path,
                       char room[ZKR_PATH_MAX + 1]);

/* All locks at and below a path. A lock that may not be read is listed without
 * its contents. */
int scan_below(zkr_session *session, const char *root,
               const struct scan_opts *opts, struct scan *ret_scan);

/* The same without a message: returns an error of the library, and its
 * sentence. */
enum { SCAN_DETAIL_MAX = 512 };
int locks_list(zkr_session *session, const char *root,
               const struct scan_opts *opts, struct scan *ret_scan,
               char detail[SCAN_DETAIL_MAX]);

/* Some of the locks of a scan anew, each by itself. Those that have gone are
 * missing. */
int scan_some(zkr_session *session, const struct scan *of, const bool *wanted,
              const struct scan_opts *opts, struct scan *ret_scan);

/* How many nodes of a lock are read, from the first of the queue on; the others
 * are known by their names alone. */
#define SCAN_ALL     0u
#define SCAN_HOLDERS UINT32_MAX       /* as many as hold */
#define SCAN_NEXT    (UINT32_MAX - 1) /* ... and the first that waits */

/* One lock, of which so many nodes are read. One that does not exist is free:
 * with `missing` not NULL that is no error. A directory with children of which
 * none contends is no lock. */
int scan_lock(zkr_session *session, const char *path, uint32_t reads,
              bool *missing, struct lock *ret_lock);
/* The same, but a barrier will do: show shows it. */
int scan_shown(zkr_session *session, const char *path, uint32_t reads,
               struct lock *ret_lock);
/* The same for a path that was a lock: it is free when no contender is left. */
int scan_again(zkr_session *session, const char *path, uint32_t reads,
               struct lock *ret_lock);

/* The options for the library, so that it reads so many nodes of a lock. */
struct zkr_participants_opts lock_opts(uint32_t reads);
/* The same without a message: returns an error of the library. Every path is a
 * lock here. */
int lock_list(zkr_session *session, const char *path,
              const struct zkr_participants_opts *opts, struct lock *ret_lock);

/* Understands a list of its participants, which is the lock's from then on, or
 * freed. The caller sets error and pzxid. */
int lock_of(const char *path, struct zkr_participants *list, int64_t at_ms,
            struct lock *ret_lock);

/* The next that holds with that token, after `last` (NULL: the first); NULL.
 * Nodes that were made in one transaction have the same. */
const struct contender *lock_holder(const struct lock *lock, int64_t token,
                                    const struct contender *last);

const char *lock_state_name(enum lock_state state);
bool contender_waits(const struct contender *c);
/* A lease without a permit: its owner waits with another node, which is the
 * first in the queue. */
bool contender_is_promised(const struct contender *c);
/* It waits for any permit of a semaphore, and for nobody's in particular. */
bool contender_wants_permit(const struct lock *lock, const struct contender *c);
/* More than its name is known of it, or why not. */
bool contender_is_read(const struct contender *c);

void lock_done(struct lock *lock);
void scan_done(struct scan *scan);

/* The owner by its record, its data, or its session. Escaped. */
enum { WHO_MAX = 100 };
const char *contender_who(const struct contender *c, char who[WHO_MAX]);
/* Whom to stop so that its work under the lock ends: the shell, "nightly
 * (4711)", of an owner that keeps the lock for it; `else_word` for others.
 * Escaped. */
enum { STOP_MAX = 700 };
const char *contender_to_stop(const struct contender *c, const char *else_word,
                              char text[STOP_MAX]);

#endif
