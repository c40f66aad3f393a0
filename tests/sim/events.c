/* SPDX-License-Identifier: Apache-2.0 */
/* Events: virtual time, and the actions that are due at each instant. */
#include "events.h"

#include <stdlib.h>

struct event {
    int64_t instant;
    uint64_t number;
    void (*fn)(void *arg, uint64_t tag);
    void *arg;
    uint64_t tag;
};

int64_t sim_now;

/* A binary heap, from 1. */
static struct event *heap;
static size_t count;
static size_t room;
static uint64_t last_number;

static bool before(const struct event *a, const struct event *b)
{
    return a->instant != b->instant ? a->instant < b->instant
                                    : a->number < b->number;
}

static void grow(void)
{
    if (count + 1 < room)
        return;
    room = room == 0 ? 1024 : room * 2;
    heap = realloc(heap, room * sizeof(*heap));
    if (heap == NULL)
        abort();
}

/* Memory is allocated once, and kept: see heap.c. */
void events_reset(void)
{
    count = 0;
    grow();
    last_number = 0;
    sim_now = 1000 * MS;
}

void events_at(int64_t instant, void (*fn)(void *arg, uint64_t tag), void *arg,
               uint64_t tag)
{
    struct event e = { instant, ++last_number, fn, arg, tag };
    size_t i;

    grow();
    for (i = ++count; i > 1 && before(&e, &heap[i / 2]); i /= 2)
        heap[i] = heap[i / 2];
    heap[i] = e;
}

int64_t events_next(void)
{
    return count == 0 ? INT64_MAX : heap[1].instant;
}

void events_run_next(void)
{
    struct event first = heap[1];
    struct event last = heap[count--];
    size_t i = 1;

    for (size_t child = 2; child <= count; child = 2 * i) {
        if (child < count && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    if (first.instant > sim_now)
        sim_now = first.instant;
    first.fn(first.arg, first.tag);
}
