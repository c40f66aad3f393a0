/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of the locks at and below some paths, which watches keep up to date:
 * while nothing changes, it asks for nothing.
 *
 * Each directory on the way and each lock has a watch on its children; each
 * holder has one on its data, because somebody may ask it for the lock. After a
 * change the directory is listed, and the nodes that are new are read. Waiters
 * are read once: a request to one of them is seen when it holds.
 *
 * A directory that may not be listed is looked at again every POLL_MS instead,
 * or later: ASKED_PER_TICK; and so is what is beyond the room of all sessions:
 * sessions.h.
 *
 * The watch of a directory that could not be read for a while may be used up
 * without a word: client.h of the library. So each directory is also listed
 * when a holder was deleted and no list has followed, and every CHECK_MS. If
 * that list has news, the watch is made anew.
 *
 * The news of a lock can be taken when all of it was listed and read. When that
 * has not come for PATIENCE_MS, because of new changes, no further list is
 * taken until it has; the next one then counts what was missed.
 *
 * Two lists in a row say how many nodes came and went between them: tally.h. So
 * nothing is missed without a word. */
#pragma once

#include "model/scan.h"

struct lockctl;
struct mirror;

struct mirror_opts {
    const struct lockctl *ctl; /* connected */
    const char *const *paths; /* one of a part of a semaphore is of the whole */
    size_t path_count;
    bool below;            /* the directories below the paths, too */
    bool foreign;          /* children that do not contend are read, too */
    bool once;             /* no watches: all is listed and read one time */
    struct scan_opts look; /* which of the locks; how long, of `once` */
    int64_t pause_ms; /* the least time between two lists of a directory; large
                         directories have more */
    /* Called when there may be news, on a thread of the session; or NULL. */
    void (*wake)(void);
};

/* ZKR_OK, or an error of the library with its sentence. One that looks one time
 * sees at least what was there before this call. */
int mirror_start(const struct mirror_opts *opts, struct mirror **ret_mirror);
/* One that follows a single lock, of which so many nodes are read. 0, or an
 * exit code after an error was said. */
int mirror_follow(const struct lockctl *ctl, const char *path, uint32_t reads,
                  struct mirror **ret_mirror);
/* Of one that looks one time: waits until it has. ZKR_OK, or an error of the
 * library with its sentence, not escaped. When the time was over, that is a
 * note of mirror_scan(). */
int mirror_wait(struct mirror *mirror, char detail[SCAN_DETAIL_MAX]);
/* Of one that looks one time, after mirror_wait(). NULL is allowed. */
void mirror_end(struct mirror *mirror);
/* Of any other, or NULL: closes all sessions before. */
void mirror_close(struct lockctl *ctl, struct mirror *mirror);

/* Everything that is there was read once; or it cannot be, and *ret_error says
 * why, with its sentence, not escaped: a path may not be listed, or no server
 * has answered for so long. */
bool mirror_is_ready(struct mirror *mirror, int64_t patience_ms, int *ret_error,
                     char detail[SCAN_DETAIL_MAX]);

/* To be called now and then, for what cannot be watched. False: it was called
 * TICK_MS ago or less, and has done nothing. */
bool mirror_tick(struct mirror *mirror);

/* The changes of a directory that nobody has seen since its news were taken. */
struct unseen {
    uint64_t missed; /* so many children came and went */
    bool lost;       /* it was deleted, and nobody knows how many before */
};

/* A lock has changed, or a directory that has none of its own. */
struct news {
    struct lock lock; /* the caller's; without contenders when it has gone */
    bool first;       /* it was there at the start, and was not taken yet:
                         nothing is known of before */
    struct unseen unseen;
};

/* Takes the next news; false: there is none. */
bool mirror_take(struct mirror *mirror, struct news *ret_news);

/* Of one that follows a lock: waits for its present state, and then for each
 * change, until that time, by clock_now_ms(), or until there is no connection:
 * false. */
bool mirror_next(struct mirror *mirror, int64_t end_ms, struct lock *ret_lock);

/* There was no connection, and there is one again: changes since *ret_since_ms
 * are told late. */
bool mirror_take_break(struct mirror *mirror, int64_t *ret_since_ms);

/* All locks as they are now, in the order of their paths; `missing`: no path
 * exists. This takes all news. */
struct scan mirror_scan(struct mirror *mirror);

/* What cannot be seen, or not soon. */
void mirror_note(struct mirror *mirror, struct notes *notes);
