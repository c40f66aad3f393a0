/* SPDX-License-Identifier: Apache-2.0 */
/* The stay of a contender in a lock: when its node came, when it began to hold,
 * when and how the node went. */
#include "model/stay.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "protocol/roster.h"

bool stay_write(struct stay *stay, const char *data, size_t size)
{
    size_t kept =
        size < ZKR_PARTICIPANT_DATA_MAX ? size : ZKR_PARTICIPANT_DATA_MAX;
    char *copy = malloc(kept + 1);

    if (copy == NULL)
        return false;
    memcpy(copy, data, kept);
    copy[kept] = '\0';
    free(stay->data);
    stay->data = copy;
    stay->node.data = copy;
    stay->node.data_size = kept;
    stay->node.full_size = size;
    return true;
}

struct stay *stay_new(const char *lock, const char *name, const char *data,
                      size_t size)
{
    size_t len = strlen(name);
    struct stay *stay = calloc(1, sizeof(*stay) + len + 1);

    if (stay == NULL)
        return NULL;
    memcpy(stay->name, name, len + 1);
    stay->lock = lock;
    stay->node.name = stay->name;
    if (stay_write(stay, data, size))
        return stay;
    free(stay);
    return NULL;
}

void stay_free(struct stay *stay)
{
    if (stay == NULL)
        return;
    free(stay->data);
    free(stay->reason);
    free(stay);
}

void stay_hold(struct stay *stay, int64_t held_ms, bool before)
{
    if (stay->held_ms != 0)
        return;
    stay->held_ms = held_ms;
    stay->held_before = before;
    stay->node.holds = true;
}

struct stay *stay_of_name(const char *name)
{
    return (struct stay *)(uintptr_t)(name - offsetof(struct stay, name));
}

static int64_t span(int64_t from_ms, int64_t to_ms)
{
    return to_ms > from_ms ? to_ms - from_ms : 0;
}

int64_t stay_held_for(const struct stay *stay, int64_t now_ms)
{
    if (stay->held_ms == 0)
        return -1;
    return span(stay->held_ms, stay->ended_ms != 0 ? stay->ended_ms : now_ms);
}

int64_t stay_waited_for(const struct stay *stay, int64_t now_ms)
{
    int64_t end = stay->held_ms != 0    ? stay->held_ms
                  : stay->ended_ms != 0 ? stay->ended_ms
                                        : now_ms;

    return stay->queued_ms == 0 || stay->held_before
               ? -1
               : span(stay->queued_ms, end);
}

/* The request to give the lock back has not replaced what its owner said. */
struct contender stay_contender(const struct stay *stay)
{
    struct contender c = { .node = &stay->node, .age_ms = -1 };

    zkr__owner_read(&c.owner, stay->node.data, stay->node.data_size);
    c.dialect = zkr__dialect_of(c.node, &c.owner);
    return c;
}

/* --- a queue --- */

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
