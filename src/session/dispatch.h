/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher: runs the callbacks of the user, one at a time, without the
 * lock.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "base/list.h"
#include "session/locked.h"

struct zkr_session;

/* A notice: a callback that is due. It is part of the object that it is about,
 * so that posting needs no memory. */
struct zkr__notice {
    struct zkr__list link;
    /* Runs the callback, without the lock. It may free the notice. */
    void (*run)(struct zkr__notice *);
};

static inline bool zkr__notice_is_due(const struct zkr__notice *n)
{
    return !zkr__list_empty(&n->link);
}

struct zkr__dispatch {
    struct zkr__list due;        /* under the session lock, as all members */
    struct zkr__notice *running; /* only compared, never followed */
    bool busy;                   /* somebody runs callbacks: */
    pthread_t runner;
    struct zkr__cond changed;
    bool stop;
    int fd; /* of a session with its own loop; else -1 */
    pthread_t thread;
};

int zkr__dispatch_init(struct zkr__dispatch *d, bool own_loop);
int zkr__dispatch_start(struct zkr_session *s);
/* Runs all callbacks that are due, and ends the thread. To be called without
 * the lock. */
void zkr__dispatch_stop(struct zkr_session *s);
void zkr__dispatch_done(struct zkr__dispatch *d);

void zkr__notice_init(struct zkr__notice *n, void (*run)(struct zkr__notice *));

/* Makes the notice due. One that is due already stays so. */
void zkr__dispatch_post_locked(struct zkr_session *s,
                               struct zkr__notice *n) ZKR__LOCKED;

/* Makes sure that it does not run and will not, unless we are inside it.
 * Returns whether it was due. */
bool zkr__dispatch_withdraw_unlocks(struct zkr_session *s,
                                    struct zkr__notice *n) ZKR__UNLOCKS;

/* A function of the user that runs inside a call, on the caller's thread. */
struct zkr__visit {
    const struct zkr_session *session;
    struct zkr__visit *outer;
};

void zkr__dispatch_enter(struct zkr_session *s, struct zkr__visit *visit);
void zkr__dispatch_leave(struct zkr__visit *visit);

/* Tells whether this thread is inside a callback of the session, or on such a
 * visit: then it must not wait. */
bool zkr__dispatch_inside_locked(const struct zkr_session *s) ZKR__LOCKED;
