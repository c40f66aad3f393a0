/* The queue of a lock: the order of its contenders, which of them count as
 * ahead of another, and which one of those it waits for. Pure, except for one
 * array. */
#include "lock/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lock/node_name.h"

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

static bool find_self(const char *const *names, size_t count, const char *self)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], self) == 0)
            return true;
    }
    return false;
}

/* Writes the contenders ahead of `self` into `ahead`, in any order, and returns
 * how many they are. */
static size_t collect(struct zkr__contender *ahead, const char *const *names,
                      size_t count, uint32_t markers,
                      const struct zkr__contender *self)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct zkr__contender c = { .name = names[i] };

        c.kind = zkr__node_name_parse(c.name, markers, &c.seq);
        if (c.kind == ZKR__FOREIGN || !zkr__queue_is_ahead(&c, self))
            continue;
        if (self->name != NULL && strcmp(c.name, self->name) == 0)
            continue;
        ahead[n++] = c;
    }
    return n;
}

static void find_nearest(struct zkr__queue *queue)
{
    queue->nearest = (struct zkr__nearest)ZKR__NEAREST_INIT;
    for (size_t i = 0; i < queue->count; i++)
        zkr__nearest_pass(&queue->nearest, i, queue->ahead[i].kind);
}

int zkr__queue_parse(struct zkr__queue *queue, const char *const *names,
                     size_t count, uint32_t markers, const char *self)
{
    struct zkr__contender us = { .name = self, .seq = INT64_MAX };

    *queue = (struct zkr__queue){ .nearest = ZKR__NEAREST_INIT };
    if (self != NULL) {
        queue->listed = find_self(names, count, self);
        if (!queue->listed)
            return ZKR_OK;
        (void)zkr__node_name_parse(self, markers, &us.seq);
    }
    if (count == 0)
        return ZKR_OK;

    queue->ahead = calloc(count, sizeof(*queue->ahead));
    if (queue->ahead == NULL)
        return ZKR_ENOMEM;
    queue->count = collect(queue->ahead, names, count, markers, &us);
    qsort(queue->ahead, queue->count, sizeof(*queue->ahead), in_order);
    find_nearest(queue);
    return ZKR_OK;
}

bool zkr__queue_leave_out(struct zkr__queue *queue, const char *name)
{
    for (size_t i = 0; i < queue->count; i++) {
        if (strcmp(queue->ahead[i].name, name) != 0)
            continue;
        queue->count--;
        memmove(&queue->ahead[i], &queue->ahead[i + 1],
                (queue->count - i) * sizeof(*queue->ahead));
        find_nearest(queue);
        return true;
    }
    return false;
}

void zkr__queue_done(struct zkr__queue *queue)
{
    free(queue->ahead);
    *queue = (struct zkr__queue){ .nearest = ZKR__NEAREST_INIT };
}
