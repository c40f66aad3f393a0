/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which contenders of a lock begin to hold when others have come or
 * gone. */
#include "model/front.h"

#include <stdlib.h>

#include "protocol/roster.h"

/* Who may be asked for together with some of a queue: the one before
 * them, and those who decide over the newest lease of a semaphore. */
enum { OTHERS_MAX = 3 };

struct asking {
    struct zkr_participant *nodes;
    size_t count;
};

static void show(struct asking *a, struct stay *stay)
{
    for (size_t i = 0; i < a->count && i < OTHERS_MAX; i++) {
        if (a->nodes[i].name == stay->name)
            return;
    }
    a->nodes[a->count++] = stay->node;
}

/* --- who decides over others --- */

/* Who shares lets others hold, as does one outside of the queue. */
static bool lets_others_hold(const struct stay *stay)
{
    return stay->node.kind == ZKR_PARTICIPANT_SHARED ||
           zkr__is_unfair(&stay->node);
}

static struct stay *newest_of(const struct queue *queue)
{
    struct stay *newest = queue->items[0];

    for (size_t i = 1; i < queue->count; i++) {
        if (queue->items[i]->node.token > newest->node.token)
            newest = queue->items[i];
    }
    return newest;
}

/* The newest lease waits as long as its owner is the first in the queue. */
static void show_deciders(struct asking *a, const struct past *past,
                          const struct queue *queue)
{
    const struct queue *claims = &past->parts[ZKR__PART_QUEUE];

    if (queue != &past->parts[ZKR__PART_LEASES] || claims->count == 0)
        return;
    show(a, newest_of(queue));
    show(a, claims->items[0]);
}

/* --- asking --- */

/* The nodes are in another order than the stays now, and with the same names.
 */
static void take(const struct zkr_participant *nodes, size_t count, hold_fn *fn,
                 void *user)
{
    for (size_t i = 0; i < count; i++) {
        struct stay *stay = stay_of_name(nodes[i].name);

        if (!nodes[i].holds || stay->node.holds)
            continue;
        stay->node.holds = true;
        fn(stay, user);
    }
}

/* Of those that share, the one right before them tells as much as all that are
 * before them. */
static bool ask(const struct past *past, const struct queue *queue,
                size_t start, size_t end, hold_fn *fn, void *user)
{
    struct asking a = { .nodes = calloc(end - start + OTHERS_MAX,
                                        sizeof(*a.nodes)) };

    if (a.nodes == NULL)
        return false;
    if (start > 0)
        show(&a, queue->items[start - 1]);
    show_deciders(&a, past, queue);
    for (size_t i = start; i < end; i++)
        show(&a, queue->items[i]);
    a.count = zkr__roster_order(a.nodes, a.count);
    zkr__roster_settle(a.nodes, a.count);
    take(a.nodes, a.count, fn, user);
    free(a.nodes);
    return true;
}

/* --- the walk --- */

/* Behind these others may hold; and, `ret_hold`, all these do. */
static bool lets_pass(const struct queue *queue, size_t start, size_t end,
                      bool *ret_hold)
{
    *ret_hold = true;
    for (size_t i = start; i < end; i++) {
        if (!lets_others_hold(queue->items[i]))
            return false;
        *ret_hold = *ret_hold && queue->items[i]->node.holds;
    }
    return true;
}

/* From those that are not known to hold up to the first that lets nobody behind
 * it hold. Whether one holds, those with lower numbers and with its own one
 * decide. */
static bool settle(const struct past *past, struct queue *queue, hold_fn *fn,
                   void *user)
{
    bool hold = true;
    size_t end;

    for (size_t i = queue->settled; i < queue->count; i = end) {
        end = queue_end_of_equals(queue, i);
        if (!ask(past, queue, i, end, fn, user))
            return false;
        if (!lets_pass(queue, i, end, &hold))
            break;
        if (hold && i == queue->settled)
            queue->settled = end;
    }
    return true;
}

bool front_settle(struct past *past, hold_fn *fn, void *user)
{
    return settle(past, &past->parts[ZKR__PART_PATH], fn, user) &&
           settle(past, &past->parts[ZKR__PART_LEASES], fn, user);
}
