/* SPDX-License-Identifier: Apache-2.0 */
#include "model/past.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "protocol/roster.h"

/* --- a stay --- */

struct stay *stay_new(const char *lock, const char *name, const char *data,
                      size_t size)
{
    size_t len = strlen(name);
    struct stay *stay = enough(calloc(1, sizeof(*stay) + len + 1));

    memcpy(stay->name, name, len + 1);
    stay->lock = lock;
    stay->node.name = stay->name;
    node_set_data(&stay->node, data, size);
    return stay;
}

void stay_free(struct stay *stay)
{
    if (stay == NULL)
        return;
    free((void *)(uintptr_t)stay->node.data);
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

/* The stay that has this name, the very same text: that of its node. */
static struct stay *stay_of_name(const char *name)
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

/* NULL: there is none of that name. */
static struct stay *queue_find(const struct queue *queue, const char *name)
{
    struct zkr_participant node = { .name = name };

    zkr__roster_read(&node);
    size_t i = place_of(queue, &node);
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

static void queue_add(struct queue *queue, struct stay *stay)
{
    size_t i = place_of(queue, &stay->node);

    (void)GROW(queue);
    memmove(queue->items + i + 1, queue->items + i,
            (queue->count - 1 - i) * sizeof(*queue->items));
    queue->items[i] = stay;
    unsettle(queue, i);
}

static void queue_remove(struct queue *queue, const struct stay *stay)
{
    size_t i = place_of(queue, &stay->node);

    queue->count--;
    memmove(queue->items + i, queue->items + i + 1,
            (queue->count - i) * sizeof(*queue->items));
    if (i < queue->settled)
        queue->settled--;
}

/* Where those end that have the number of the one at `start`. */
static size_t queue_end_of_equals(const struct queue *queue, size_t start)
{
    size_t end = start + 1;

    while (end < queue->count && number_of(&queue->items[end]->node) ==
                                     number_of(&queue->items[start]->node))
        end++;
    return end;
}

/* --- locks --- */

static int by_path(const void *a, const void *b)
{
    const struct past *x = a;
    const struct past *y = b;

    return strcmp(x->path, y->path);
}

struct past *pasts_find(const struct pasts *pasts, const char *path)
{
    struct past key = { .path = (char *)(uintptr_t)path };
    struct past *const *found = tfind(&key, &pasts->tree, by_path);

    return found == NULL ? NULL : *found;
}

struct past *pasts_make(struct pasts *pasts, const char *path)
{
    struct past *past = pasts_find(pasts, path);

    if (past != NULL)
        return past;
    past = enough(calloc(1, sizeof(*past)));
    past->path = enough(strdup(path));
    (void)enough(tsearch(past, &pasts->tree, by_path));
    past->next = pasts->first;
    pasts->first = past;
    return past;
}

static void free_past(struct past *past)
{
    for (int i = 0; i < ZKR__PARTS; i++) {
        for (size_t k = 0; k < past->parts[i].count; k++)
            stay_free(past->parts[i].items[k]);
        free(past->parts[i].items);
    }
    free(past->path);
    free(past);
}

static void forget(void *item)
{
    (void)item;
}

void pasts_done(struct pasts *pasts)
{
    tdestroy(pasts->sessions, forget);
    tdestroy(pasts->tree, forget);
    for (struct past *past = pasts->first, *next; past != NULL; past = next) {
        next = past->next;
        free_past(past);
    }
    *pasts = (struct pasts){ .tree = NULL };
}

/* --- sessions --- */

static int by_session(const void *a, const void *b)
{
    int64_t x = ((const struct stay *)a)->node.session_id;
    int64_t y = ((const struct stay *)b)->node.session_id;

    return (x > y) - (x < y);
}

static int by_session_and_node(const void *a, const void *b)
{
    const struct stay *x = a;
    const struct stay *y = b;
    int order = by_session(a, b);

    if (order == 0)
        order =
            (x->node.token > y->node.token) - (x->node.token < y->node.token);
    if (order == 0)
        order = strcmp(x->lock, y->lock);
    return order != 0 ? order : strcmp(x->name, y->name);
}

struct stay *pasts_of_session(const struct pasts *pasts, int64_t session_id)
{
    const struct stay key = { .node.session_id = session_id };
    struct stay *const *found = tfind(&key, &pasts->sessions, by_session);

    return found == NULL ? NULL : *found;
}

/* --- contenders --- */

struct stay *past_stay(const struct past *past, const char *name)
{
    return past == NULL ? NULL
                        : queue_find(&past->parts[zkr__part_of(name)], name);
}

struct stay *past_any(const struct past *past)
{
    for (int i = 0; i < ZKR__PARTS; i++) {
        const struct queue *queue = &past->parts[i];

        if (queue->count > 0)
            return queue->items[queue->count - 1];
    }
    return NULL;
}

void pasts_add(struct pasts *pasts, struct past *past, struct stay *stay)
{
    stay->past = past;
    zkr__roster_read(&stay->node);
    stay->node.holds = false;
    if (stay->node.session_id != 0)
        (void)enough(tsearch(stay, &pasts->sessions, by_session_and_node));
    queue_add(&past->parts[zkr__part_of(stay->name)], stay);
}

void pasts_remove(struct pasts *pasts, struct stay *stay)
{
    (void)tdelete(stay, &pasts->sessions, by_session_and_node);
    queue_remove(&stay->past->parts[zkr__part_of(stay->name)], stay);
}

/* --- who begins to hold --- */

/* Asks the roster, with one more that decides over them (NULL: none). It has
 * the nodes in another order than that of the stays, and with the same names.
 */
static void ask(struct stay *const *stays, size_t count,
                const struct stay *other, hold_fn *fn, void *user)
{
    struct zkr_participant *nodes = enough(calloc(count + 1, sizeof(*nodes)));

    for (size_t i = 0; i < count; i++)
        nodes[i] = stays[i]->node;
    if (other != NULL)
        nodes[count++] = other->node;
    count = zkr__roster_order(nodes, count);
    zkr__roster_settle(nodes, count);
    for (size_t i = 0; i < count; i++) {
        struct stay *stay = stay_of_name(nodes[i].name);

        if (!nodes[i].holds || stay->node.holds)
            continue;
        stay->node.holds = true;
        fn(stay, user);
    }
    free(nodes);
}

/* A reader lets others hold, and so does a node outside of the queue. */
static bool lets_others_hold(const struct stay *stay)
{
    return stay->node.kind == ZKR_PARTICIPANT_SHARED ||
           zkr__is_unfair(&stay->node);
}

/* The end of the front: of those whose number is that of the one at `start`,
 * and of those behind as long as all before them let others hold; with `held`,
 * only of those who hold. */
static size_t front_of(const struct queue *queue, size_t start, bool held)
{
    bool goes_on = true;

    for (size_t end; start < queue->count && goes_on; start = end) {
        end = queue_end_of_equals(queue, start);
        for (size_t i = start; i < end; i++)
            goes_on = goes_on && lets_others_hold(queue->items[i]) &&
                      (!held || queue->items[i]->node.holds);
        if (held && !goes_on)
            break;
    }
    return start;
}

/* Whether one holds, those with lower numbers and with its own one decide. Of
 * those that hold together, the last tells as much as all. */
static void settle_queue(struct queue *queue, hold_fn *fn, void *user)
{
    size_t start = queue->settled - (queue->settled > 0);
    size_t end = front_of(queue, queue->settled, false);

    if (end > start) /* an empty queue has no items to point to */
        ask(queue->items + start, end - start, NULL, fn, user);
    queue->settled = front_of(queue, queue->settled, true);
}

/* The newest lease waits as long as its owner is the first in the queue. */
void past_settle(struct past *past, hold_fn *fn, void *user)
{
    const struct queue *leases = &past->parts[ZKR__PART_LEASES];
    const struct queue *claims = &past->parts[ZKR__PART_QUEUE];

    settle_queue(&past->parts[ZKR__PART_PATH], fn, user);
    ask(leases->items, leases->count,
        claims->count == 0 ? NULL : claims->items[0], fn, user);
}
