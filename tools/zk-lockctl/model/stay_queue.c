/* SPDX-License-Identifier: Apache-2.0 */
/* The contenders of a history that are in one queue at one time, in its order:
 * that of their numbers. */
#include "model/stay_queue.h"

#include <stdlib.h>
#include <string.h>

/* One that is outside of the queue has no number, and is before all. */
static int64_t number_of(const struct stay *stay)
{
    return zkr__is_unfair(&stay->node) ? INT64_MIN : stay->node.sequence;
}

static int compare(const struct stay *a, const struct stay *b)
{
    int64_t x = number_of(a);
    int64_t y = number_of(b);

    return x != y ? (x > y) - (x < y) : strcmp(a->name, b->name);
}

/* How many are before it. Most come last. */
static size_t place_of(const struct queue *queue, const struct stay *stay)
{
    size_t low = 0;
    size_t high = queue->count;

    if (high > 0 && compare(queue->items[high - 1], stay) < 0)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(queue->items[middle], stay) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(struct queue *queue)
{
    size_t room = queue->room > 0 ? 2 * queue->room : 4;
    void *grown;

    if (queue->count < queue->room)
        return true;
    grown = realloc(queue->items, room * sizeof(*queue->items));
    if (grown == NULL)
        return false;
    queue->items = grown;
    queue->room = room;
    return true;
}

/* Those with its number are settled again, together with it. */
static void unsettle(struct queue *queue, size_t i)
{
    while (i > 0 &&
           number_of(queue->items[i - 1]) == number_of(queue->items[i]))
        i--;
    if (i < queue->settled)
        queue->settled = i;
}

bool queue_add(struct queue *queue, struct stay *stay)
{
    size_t i = place_of(queue, stay);

    if (!make_room(queue))
        return false;
    memmove(queue->items + i + 1, queue->items + i,
            (queue->count - i) * sizeof(*queue->items));
    queue->items[i] = stay;
    queue->count++;
    unsettle(queue, i);
    return true;
}

void queue_remove(struct queue *queue, const struct stay *stay)
{
    size_t i = place_of(queue, stay);

    queue->count--;
    memmove(queue->items + i, queue->items + i + 1,
            (queue->count - i) * sizeof(*queue->items));
    if (i < queue->settled)
        queue->settled--;
}

size_t queue_end_of_equals(const struct queue *queue, size_t start)
{
    size_t end = start + 1;

    while (end < queue->count &&
           number_of(queue->items[end]) == number_of(queue->items[start]))
        end++;
    return end;
}
