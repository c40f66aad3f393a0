/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a lock: the order of its contenders, and whom each waits for. */
#include "protocol/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "protocol/node_name.h"

int zkr__queue_compare(const struct zkr__contender *a,
                       const struct zkr__contender *b)
{
    if (a->seq != b->seq)
        return a->seq < b->seq ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind == ZKR__SHARED ? -1 : 1;
    return strcmp(a->name, b->name);
}

bool zkr__queue_is_ahead(const struct zkr__contender *a,
                         const struct zkr__contender *b)
{
    return a->seq <= b->seq;
}

void zkr__nearest_pass(struct zkr__nearest *nearest, size_t index,
                       enum zkr__kind kind)
{
    nearest->any = index;
    if (kind == ZKR__EXCLUSIVE)
        nearest->exclusive = index;
}

size_t zkr__nearest_any(const struct zkr__nearest *nearest)
{
    return nearest->any;
}

size_t zkr__nearest_exclusive(const struct zkr__nearest *nearest)
{
    return nearest->exclusive;
}

static int in_order(const void *a, const void *b)
{
    return zkr__queue_compare(a, b);
}

/* Keeps the contenders, in any order, and returns how many they are. */
static size_t collect(struct zkr__contender *all, const char *const *names,
                      size_t count, uint32_t markers)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct zkr__contender c = { .name = names[i] };

        c.kind = zkr__node_name_parse(c.name, markers, &c.seq);
        if (c.kind != ZKR__FOREIGN)
            all[n++] = c;
    }
    return n;
}

/* A hostile list may have a name twice; it counts once. */
static size_t without_repeats(struct zkr__contender *all, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (n == 0 || zkr__queue_compare(&all[n - 1], &all[i]) != 0)
            all[n++] = all[i];
    }
    return n;
}

void zkr__queue_link(struct zkr__queue *queue)
{
    size_t exclusive = ZKR__NOBODY;
    size_t other = ZKR__NOBODY;

    for (size_t i = 0; i < queue->count; i++) {
        struct zkr__contender *c = &queue->all[i];

        c->exclusive_before = exclusive;
        c->other_before = other;
        if (c->kind == ZKR__EXCLUSIVE)
            exclusive = i;
        if (!c->ours)
            other = i;
    }
}

int zkr__queue_parse(struct zkr__queue *queue, const char *const *names,
                     size_t count, uint32_t markers)
{
    *queue = (struct zkr__queue){ .markers = markers };
    if (count == 0)
        return ZKR_OK;
    queue->all = calloc(count, sizeof(*queue->all));
    if (queue->all == NULL)
        return ZKR_ENOMEM;
    queue->count = collect(queue->all, names, count, markers);
    queue->foreign = count - queue->count;
    qsort(queue->all, queue->count, sizeof(*queue->all), in_order);
    queue->count = without_repeats(queue->all, queue->count);
    zkr__queue_link(queue);
    return ZKR_OK;
}

size_t zkr__queue_find(const struct zkr__queue *queue, const char *name)
{
    struct zkr__contender wanted = { .name = name };

    wanted.kind = zkr__node_name_parse(name, queue->markers, &wanted.seq);
    if (wanted.kind == ZKR__FOREIGN || queue->count == 0)
        return ZKR__NOBODY;
    const struct zkr__contender *found = bsearch(
        &wanted, queue->all, queue->count, sizeof(*queue->all), in_order);
    return found == NULL ? ZKR__NOBODY : (size_t)(found - queue->all);
}

size_t zkr__queue_ahead(const struct zkr__queue *queue, size_t self)
{
    size_t last = self;

    if (self == ZKR__NOBODY) /* of all */
        return queue->count == 0 ? ZKR__NOBODY : queue->count - 1;
    while (last + 1 < queue->count &&
           zkr__queue_is_ahead(&queue->all[last + 1], &queue->all[self]))
        last++;
    return last;
}

static bool counts(const struct zkr__queue *queue, size_t i, size_t self)
{
    return i != self && !queue->all[i].left_out;
}

struct zkr__nearest zkr__queue_nearest(const struct zkr__queue *queue,
                                       size_t self)
{
    struct zkr__nearest nearest = ZKR__NEAREST_INIT;
    size_t last = zkr__queue_ahead(queue, self);
    size_t i;

    for (i = last; i != ZKR__NOBODY && !counts(queue, i, self);)
        i = i == 0 ? ZKR__NOBODY : i - 1;
    nearest.any = i;
    for (i = last; i != ZKR__NOBODY; i = queue->all[i].exclusive_before) {
        if (queue->all[i].kind == ZKR__EXCLUSIVE && counts(queue, i, self))
            break;
    }
    nearest.exclusive = i;
    return nearest;
}

size_t zkr__queue_other(const struct zkr__queue *queue, size_t self)
{
    size_t i = zkr__queue_ahead(queue, self);

    for (; i != ZKR__NOBODY; i = queue->all[i].other_before) {
        if (!queue->all[i].ours && counts(queue, i, self))
            break;
    }
    return i;
}

void zkr__queue_done(struct zkr__queue *queue)
{
    free(queue->all);
    *queue = (struct zkr__queue){ .count = 0 };
}
