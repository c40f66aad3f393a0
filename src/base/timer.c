/* SPDX-License-Identifier: Apache-2.0 */
/* Timers: a heap of instants, without allocation. */
#include "base/timer.h"

#include <assert.h>

#include "base/clock.h"

/* Source: Fredman, Sedgewick, Sleator, Tarjan, "The pairing heap" (1986). */

static struct zkr__timer *merge(struct zkr__timer *a, struct zkr__timer *b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    if (b->instant < a->instant) {
        struct zkr__timer *swap = a;

        a = b;
        b = swap;
    }
    b->sibling = a->child;
    if (b->sibling != NULL)
        b->sibling->link = &b->sibling;
    a->child = b;
    b->link = &a->child;
    return a;
}

/* Makes one heap of all siblings: merges pairs from the left, then the pairs
 * from the right. */
static struct zkr__timer *merge_siblings(struct zkr__timer *first)
{
    struct zkr__timer *pairs = NULL;
    struct zkr__timer *heap = NULL;

    while (first != NULL) {
        struct zkr__timer *second = first->sibling;
        struct zkr__timer *rest = second == NULL ? NULL : second->sibling;

        first->sibling = NULL;
        if (second != NULL)
            second->sibling = NULL;
        struct zkr__timer *pair = merge(first, second);
        pair->sibling = pairs;
        pairs = pair;
        first = rest;
    }
    while (pairs != NULL) {
        struct zkr__timer *rest = pairs->sibling;

        pairs->sibling = NULL;
        heap = merge(heap, pairs);
        pairs = rest;
    }
    return heap;
}

static void set_first(struct zkr__timers *timers, struct zkr__timer *first)
{
    timers->first = first;
    if (first != NULL) {
        first->sibling = NULL;
        first->link = &timers->first;
    }
}

void zkr__timer_arm(struct zkr__timers *timers, struct zkr__timer *timer,
                    int64_t instant, void (*fn)(struct zkr__timer *))
{
    assert(!zkr__timer_is_armed(timer));
    *timer = (struct zkr__timer){ .instant = instant, .fn = fn };
    set_first(timers, merge(timers->first, timer));
}

void zkr__timer_disarm(struct zkr__timers *timers, struct zkr__timer *timer)
{
    if (!zkr__timer_is_armed(timer))
        return;
    *timer->link = timer->sibling;
    if (timer->sibling != NULL)
        timer->sibling->link = timer->link;
    struct zkr__timer *children = merge_siblings(timer->child);
    timer->child = NULL;
    timer->link = NULL;
    set_first(timers, merge(timers->first, children));
}

int64_t zkr__timers_next(const struct zkr__timers *timers)
{
    return timers->first == NULL ? ZKR__NEVER : timers->first->instant;
}

struct zkr__timer *zkr__timers_pop(struct zkr__timers *timers, int64_t now)
{
    struct zkr__timer *first = timers->first;

    if (first == NULL || first->instant > now)
        return NULL;
    zkr__timer_disarm(timers, first);
    return first;
}
