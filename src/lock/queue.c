/* The queue of a lock: who is ahead of us, in order. Pure, but for one array.
 */
#include "lock/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int zkr__queue_compare(const struct zkr__contender *a,
                       const struct zkr__contender *b)
{
    if (a->seq != b->seq)
        return a->seq < b->seq ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind == ZKR__SHARED ? -1 : 1;
    return strcmp(a->name, b->name);
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

static size_t collect(struct zkr__contender *ahead, const char *const *names,
                      size_t count, const struct zkr__markers *markers,
                      const char *self, int64_t limit)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct zkr__contender c = { .name = names[i] };

        c.kind = zkr__node_name_parse(c.name, markers, &c.seq);
        if (c.kind == ZKR__FOREIGN || c.seq > limit)
            continue;
        if (self != NULL && strcmp(c.name, self) == 0)
            continue;
        ahead[n++] = c;
    }
    return n;
}

int zkr__queue_parse(struct zkr__queue *queue, const char *const *names,
                     size_t count, const struct zkr__markers *markers,
                     const char *self)
{
    int64_t limit = INT64_MAX;

    *queue = (struct zkr__queue){ 0 };
    if (self != NULL) {
        queue->listed = find_self(names, count, self);
        if (!queue->listed)
            return ZKR_OK;
        (void)zkr__node_name_parse(self, markers, &limit);
    }
    if (count == 0)
        return ZKR_OK;

    queue->ahead = calloc(count, sizeof(*queue->ahead));
    if (queue->ahead == NULL)
        return ZKR_ENOMEM;
    queue->count = collect(queue->ahead, names, count, markers, self, limit);
    qsort(queue->ahead, queue->count, sizeof(*queue->ahead), in_order);
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
        return true;
    }
    return false;
}

size_t zkr__queue_last(const struct zkr__queue *queue)
{
    return queue->count == 0 ? ZKR__NOBODY : queue->count - 1;
}

size_t zkr__queue_last_exclusive(const struct zkr__queue *queue)
{
    for (size_t i = queue->count; i > 0; i--) {
        if (queue->ahead[i - 1].kind == ZKR__EXCLUSIVE)
            return i - 1;
    }
    return ZKR__NOBODY;
}

void zkr__queue_done(struct zkr__queue *queue)
{
    free(queue->ahead);
    *queue = (struct zkr__queue){ 0 };
}
