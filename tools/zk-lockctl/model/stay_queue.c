/* SPDX-License-Identifier: Apache-2.0 */
/* The contenders of a history that are in one queue at one time, in its order:
 * that of their numbers. */
#include "model/stay_queue.h"

#include <string.h>

#include "common/grow.h"
#include "protocol/roster.h"

/* One that is outside of the queue has no number, and is before all. */
static int64_t number_of(const struct zkr_participant *node)
{
    return zkr__is_unfair(node) ? INT64_MIN : node->sequence;
}

static int compare(const struct stay *a, const struct zkr_participant *b)
{
    int64_t x = number_of(&a->node);
    int64_t y = number_of(b);

    return x != y ? (x > y) - (x < y) : strcmp(a->name, b->name);
}

/* How many are before it. Most come last. */
static size_t place_of(const struct queue *queue,
                       const struct zkr_participant *node)
{
    size_t low = 0;
    size_t high = queue->count;

    if (high > 0 && compare(queue->items[high - 1], node) < 0)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(queue->items[middle], node) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct stay *queue_find(const struct queue *queue, const char *name)
{
    struct zkr_participant node = { .name = name };
    size_t i;

    zkr__roster_read(&node);
    i = place_of(queue, &node);
    return i < queue->count && strcmp(queue->items[i]->name, name) == 0
               ? queue->items[i]
               : NULL;
}

/* Those with its number are settled again, together with it. */
static void unsettle(struct queue *queue, size_t i)
{
    while (i > 0 && number_of(&queue->items[i - 1]->node) ==
                        number_of(&queue->items[i]->node))
        i--;
    if (i < queue->settled)
        queue->settled = i;
}

bool queue_add(struct queue *queue, struct stay *stay)
{
    size_t i = place_of(queue, &stay->node);

    if (GROW(queue) == NULL)
        return false;
    memmove(queue->items + i + 1, queue->items + i,
            (queue->count - 1 - i) * sizeof(*queue->items));
    queue->items[i] = stay;
    unsettle(queue, i);
    return true;
}

void queue_remove(struct queue *queue, const struct stay *stay)
{
    size_t i = place_of(queue, &stay->node);

    queue->count--;
    memmove(queue->items + i, queue->items + i + 1,
            (queue->count - i) * sizeof(*queue->items));
    if (i < queue->settled)
        queue->settled--;
}

size_t queue_end_of_equals(const struct queue *queue, size_t start)
{
    size_t end = start + 1;

    while (end < queue->count && number_of(&queue->items[end]->node) ==
                                     number_of(&queue->items[start]->node))
        end++;
    return end;
}
