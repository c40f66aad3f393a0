/* SPDX-License-Identifier: Apache-2.0 */
/* Timers: a heap of instants, without allocation. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zkr__timer {
    int64_t instant;
    void (*fn)(struct zkr__timer *);
    /* A node of a pairing heap: first child, next sibling, and the link that
     * points at this node, which lets it be taken out; NULL: not armed. */
    struct zkr__timer *child;
    struct zkr__timer *sibling;
    struct zkr__timer **link;
};

static inline bool zkr__timer_is_armed(const struct zkr__timer *timer)
{
    return timer->link != NULL;
}

struct zkr__timers {
    struct zkr__timer *first;
};

/* The timer must not be armed. */
void zkr__timer_arm(struct zkr__timers *timers, struct zkr__timer *timer,
                    int64_t instant, void (*fn)(struct zkr__timer *));

/* Disarming a timer that is not armed does nothing. */
void zkr__timer_disarm(struct zkr__timers *timers, struct zkr__timer *timer);

/* Returns when the first timer is due, or ZKR__NEVER without one. */
int64_t zkr__timers_next(const struct zkr__timers *timers);

/* Takes out the first timer that is due and returns it, or NULL when none
 * is. */
struct zkr__timer *zkr__timers_pop(struct zkr__timers *timers, int64_t now);
