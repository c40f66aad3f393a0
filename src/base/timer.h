/* Timers: a heap of instants, without allocation. */
#ifndef ZKR__TIMER_H
#define ZKR__TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct zkr__timer {
    int64_t instant;
    void (*fn)(struct zkr__timer *);
    bool armed;
    /* A pairing heap: first child, next sibling, and the link that points at
     * us, by which we can be taken out. */
    struct zkr__timer *child;
    struct zkr__timer *sibling;
    struct zkr__timer **link;
};

struct zkr__timers {
    struct zkr__timer *first;
};

/* The timer must not be armed. */
void zkr__timer_arm(struct zkr__timers *timers, struct zkr__timer *timer,
                    int64_t instant, void (*fn)(struct zkr__timer *));

/* Harmless when it is not armed. */
void zkr__timer_disarm(struct zkr__timers *timers, struct zkr__timer *timer);

/* When the first is due; ZKR__NEVER without one. */
int64_t zkr__timers_next(const struct zkr__timers *timers);

/* Take out the first that is due; NULL when none is. */
struct zkr__timer *zkr__timers_pop(struct zkr__timers *timers, int64_t now);

#endif
