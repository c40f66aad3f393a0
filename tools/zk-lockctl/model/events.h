/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what has happened to a lock between two looks at it. Pure.
 *
 * It knows the differences only: a contender that came and went in between was
 * not seen, and each instant lies somewhere between the looks. So it tells no
 * durations: log does. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/lock_state.h"

enum event_kind {
    EVENT_HOLDING,  /* the first look: the contender holds */
    EVENT_WAITING,  /* the first look: the contender waits */
    EVENT_QUEUED,   /* its node is new */
    EVENT_ACQUIRED, /* it holds now */
    EVENT_REVOKED,  /* it was asked to give the lock back */
    EVENT_GONE,     /* it held, or may have: released, lost, or broken */
    EVENT_LEFT,     /* it gave up waiting */
    EVENT_MISSED,   /* nodes came and went unseen, before the next events */
    EVENT_RESYNC,   /* there was no connection: what follows is late */
};

struct event {
    enum event_kind kind;
    int64_t at_ms;           /* when it was seen, since 1970 */
    const struct lock *lock; /* NULL for RESYNC */
    const struct contender
        *of;          /* one of the lock; NULL for RESYNC and MISSED */
    int64_t since_ms; /* RESYNC: since when there was none */
    int64_t missed;   /* MISSED: how many; -1: nobody knows */
};

typedef void event_fn(const struct event *event, void *user);

/* One look at a lock. */
struct view {
    struct lock lock;
    bool *lease_gone; /* of each contender: it is a claim in the queue of a
                         semaphore whose lease came and went; made by
                         events_between(), for the caller to free */
    struct zkr_participant granted; /* the newest lease, where it has a permit
                                       while its owner is in the queue */
};

/* Reports the changes between two looks: first contenders that have gone, then
 * those that exist, each in the order of the queue. `before` is NULL for the
 * first look; then the present state is reported. With `tell` NULL nothing is
 * reported. */
void events_between(const struct view *before, struct view *after,
                    event_fn *tell, void *user);

const char *event_name(enum event_kind kind);
