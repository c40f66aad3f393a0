/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of a picture, as one cannot watch everything: which of them
 * watches what, what becomes of their connections, and whose callback has the
 * picture.
 *
 * A directory is listed and watched by one session, the parts of a semaphore by
 * that of the semaphore, and so are its contenders while there is room: what is
 * seen of a lock is of one server. Directories take half of a session, so that
 * there is room for those who hold. Another server may be behind: a session
 * that asks for what another one has seen makes a sync before.
 *
 * All functions need the mutex of the picture, but for session_lock(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/lockctl.h"

struct mirror;
struct znode;

/* Its callback gets it as `user`. */
struct tree_watch {
    zkr_watch *watch;
    struct tree_session *session;
    struct znode *z; /* NULL: what is told is of no interest any more */
    struct tree_watch *next;
};

struct tree_session {
    struct mirror *tree;
    zkr_session *session;
    zkr_listener *listener;
    size_t watches;
    size_t watched_bytes;     /* of paths */
    struct tree_watch *ended; /* to be freed on the thread that runs their
                                 callbacks: freeing one waits for its callback,
                                 which waits for the mutex */
    uint64_t synced;          /* the answer, of another one, before the sync */
    bool lost;                /* it was connected, and is not */
};

/* ZKR_OK, or an error of the library. */
int sessions_add(struct mirror *tree, zkr_session *session);
/* After all of them were closed. */
void sessions_done(struct mirror *tree);

/* Around what a callback of the session does. Once it is unlocked, a picture
 * that was taken one time may be freed. */
void session_lock(struct tree_session *session);
void session_unlock(struct mirror *tree);

/* The server of this session is to show what the callback was told, before it
 * answers what is asked next. */
void session_sync(struct tree_session *session);

/* The session for a new directory: one that has room, or a further one. */
struct tree_session *session_for_dir(struct znode *dir);
/* A watch reads what it watches, too. ZKR_OK, NO_ROOM in any session, or an
 * error of the library. */
enum { NO_ROOM = 1 };
int session_watch(struct znode *znode, enum zkr_watch_what what,
                  zkr_watch_fn fn);
/* Nothing is told of it any more. */
void session_unwatch(struct znode *znode);
