/* SPDX-License-Identifier: Apache-2.0 */
/* The roster: the children of a lock path in the order of the queue. */
#include "protocol/roster.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "protocol/dialect.h"
#include "protocol/node_name.h"
#include "protocol/parts.h"
#include "protocol/queue.h"

static bool is_foreign(const struct zkr_participant *p)
{
    return p->kind == ZKR_PARTICIPANT_FOREIGN;
}

void zkr__roster_read(struct zkr_participant *p)
{
    p->sequence = 0;
    const struct zkr__marker_row *marker = zkr__node_name_marker(
        zkr__path_name(p->name), zkr__part_markers(zkr__part_of(p->name)),
        &p->sequence);
    p->marker = marker == NULL ? "" : marker->text;
    p->kind = marker == NULL                ? ZKR_PARTICIPANT_FOREIGN
              : marker->kind == ZKR__SHARED ? ZKR_PARTICIPANT_SHARED
                                            : ZKR_PARTICIPANT_EXCLUSIVE;
}

static enum zkr__kind kind_of(const struct zkr_participant *p)
{
    return p->kind == ZKR_PARTICIPANT_SHARED ? ZKR__SHARED : ZKR__EXCLUSIVE;
}

static struct zkr__contender contender(const struct zkr_participant *p)
{
    return (struct zkr__contender){ p->name, p->sequence, kind_of(p),
                                    .ours = false };
}

static enum zkr__part part_of(const struct zkr_participant *p)
{
    return zkr__part_of(p->name);
}

static int in_order(const void *a, const void *b)
{
    const struct zkr__contender x = contender(a);
    const struct zkr__contender y = contender(b);

    if (is_foreign(a) != is_foreign(b))
        return is_foreign(a) ? 1 : -1;
    if (part_of(a) != part_of(b))
        return part_of(a) < part_of(b) ? -1 : 1;
    return zkr__queue_compare(&x, &y);
}

/* The caller has put the directory before the name, unless it is a child of the
 * path. */
static bool is_name(const char *name)
{
    return zkr__path_is_child_name(
        zkr__part_of(name) == ZKR__PART_PATH ? name : strchr(name, '/') + 1);
}

size_t zkr__roster_order(struct zkr_participant *items, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_name(items[i].name))
            continue;
        items[n] = items[i];
        zkr__roster_read(&items[n++]);
    }
    qsort(items, n, sizeof(*items), in_order);
    return n;
}

/* A writer and the reader that it is being turned into, of the same number: one
 * session has made the second at the place of the first. */
static bool is_downgrade(const struct zkr_participant *a,
                         const struct zkr_participant *b)
{
    return a->kind != b->kind && a->session_id == b->session_id &&
           a->session_id != 0;
}

/* Returns where the contenders with the number of the first one end. Each of
 * them counts as ahead of the others. */
static size_t end_of_equals(const struct zkr_participant *items, size_t count,
                            size_t start)
{
    const struct zkr__contender first = contender(&items[start]);
    size_t end = start + 1;

    for (; end < count; end++) {
        const struct zkr__contender next = contender(&items[end]);

        if (!zkr__queue_is_ahead(&next, &first))
            break;
    }
    return end;
}

/* The contenders that `self` sees: those with lower numbers, and those with its
 * own number. */
static void settle(struct zkr_participant *items, size_t start, size_t end,
                   size_t self, struct zkr__nearest ahead)
{
    struct zkr_participant *p = &items[self];

    for (size_t i = start; i < end; i++) {
        if (i != self && !zkr__is_unfair(&items[i]) &&
            !is_downgrade(&items[i], p))
            zkr__nearest_pass(&ahead, i, kind_of(&items[i]));
    }
    if (zkr__is_unfair(p))
        p->waits_for = ZKR__NOBODY;
    else
        p->waits_for = p->kind == ZKR_PARTICIPANT_SHARED
                           ? zkr__nearest_exclusive(&ahead)
                           : zkr__nearest_any(&ahead);
    p->holds = p->waits_for == ZKR__NOBODY;
}

/* One queue, from `start` to `end`. */
static void settle_queue(struct zkr_participant *items, size_t start,
                         size_t queue_end)
{
    struct zkr__nearest lower = ZKR__NEAREST_INIT;
    size_t end;

    for (; start < queue_end; start = end) {
        end = end_of_equals(items, queue_end, start);
        for (size_t i = start; i < end; i++)
            settle(items, start, end, i, lower);
        for (size_t i = start; i < end; i++) {
            if (!zkr__is_unfair(&items[i]))
                zkr__nearest_pass(&lower, i, kind_of(&items[i]));
        }
    }
}

/* The first in the queue of a semaphore makes a lease, and then waits
 * until there are no more leases than permits. So the newest lease does not
 * hold while its owner is in the queue; all leases before it do. */
static void settle_permits(struct zkr_participant *items, size_t leases,
                           size_t queue, size_t queue_end)
{
    struct zkr_participant *first = &items[queue];
    size_t newest = leases;

    if (queue == queue_end)
        return;
    first->holds = false;
    for (size_t i = leases; i < queue; i++) {
        if (items[i].token > items[newest].token)
            newest = i;
    }
    if (leases == queue || items[newest].session_id == 0 ||
        items[newest].session_id != first->session_id ||
        items[newest].token <= first->token)
        return;
    items[newest].holds = false;
    first->waits_for = newest;
}

static size_t end_of_part(const struct zkr_participant *items, size_t count,
                          size_t start, enum zkr__part part)
{
    while (start < count && !is_foreign(&items[start]) &&
           part_of(&items[start]) == part)
        start++;
    return start;
}

static size_t least_of_semaphore(const struct zkr_participant *items,
                                 size_t count)
{
    size_t path = end_of_part(items, count, 0, ZKR__PART_PATH);
    size_t leases = end_of_part(items, count, path, ZKR__PART_LEASES);
    size_t queue = end_of_part(items, count, leases, ZKR__PART_QUEUE);

    return queue == path ? 0 : leases + (queue > leases);
}

size_t zkr__roster_least(const struct zkr_participant *items, size_t count,
                         uint32_t flags)
{
    bool wants_holders = (flags & ZKR_PARTICIPANTS_HOLDERS) != 0;
    bool wants_next = (flags & ZKR_PARTICIPANTS_NEXT) != 0;
    size_t least = least_of_semaphore(items, count);

    for (size_t i = 0; i < count && !is_foreign(&items[i]); i++) {
        bool wanted = items[i].holds ? wants_holders : wants_next;

        if (!items[i].holds)
            wants_next = false;
        if (wanted && least < i + 1)
            least = i + 1;
    }
    return least;
}

void zkr__roster_settle(struct zkr_participant *items, size_t count)
{
    size_t path = end_of_part(items, count, 0, ZKR__PART_PATH);
    size_t leases = end_of_part(items, count, path, ZKR__PART_LEASES);
    size_t queue = end_of_part(items, count, leases, ZKR__PART_QUEUE);

    settle_queue(items, 0, path);
    settle_queue(items, path, leases);
    settle_queue(items, leases, queue);
    settle_permits(items, path, leases, queue);
    for (size_t i = queue; i < count; i++) {
        items[i].holds = false;
        items[i].waits_for = ZKR__NOBODY;
    }
}

/* --- a list of them --- */

/* Tells whether the directories among the nodes are those of a semaphore. */
static bool is_semaphore(const struct zkr_participant *nodes, size_t count)
{
    struct zkr__part_count parts[ZKR__PARTS] = { { .exists = false } };

    for (size_t i = 0; i < count; i++) {
        const char *name = nodes[i].name;
        enum zkr__part part = zkr__part_of(name);

        parts[zkr__part_of_dir(name)].exists = true;
        zkr__part_count(&parts[part], part, zkr__path_name(name));
    }
    return zkr__is_semaphore(&parts[ZKR__PART_LEASES], &parts[ZKR__PART_QUEUE]);
}

static bool is_left_out(const char *name, bool semaphore)
{
    return semaphore ? zkr__part_of_dir(name) != ZKR__PART_PATH
                     : zkr__part_of(name) != ZKR__PART_PATH;
}

static size_t kept(const struct zkr_participant *p)
{
    return p->data_size < ZKR_PARTICIPANT_DATA_MAX ? p->data_size
                                                   : ZKR_PARTICIPANT_DATA_MAX;
}

/* A copy of the node whose texts are at `text`, which is behind them then. */
static struct zkr_participant copy_of(const struct zkr_participant *p,
                                      char **text)
{
    struct zkr_participant copy = *p;

    copy.name = *text;
    *text = stpcpy(*text, p->name) + 1;
    copy.data = *text;
    copy.data_size = kept(p);
    if (copy.data_size > 0)
        memcpy(*text, p->data, copy.data_size);
    *text += copy.data_size;
    *(*text)++ = '\0';
    return copy;
}

struct zkr__roster *zkr__roster_build(const struct zkr_participant *nodes,
                                      size_t count, bool semaphore)
{
    size_t size = sizeof(struct zkr__roster) + count * sizeof(*nodes);
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        size += strlen(nodes[i].name) + 1 + kept(&nodes[i]) + 1;
    struct zkr__roster *made = calloc(1, size);
    if (made == NULL)
        return NULL;
    char *text = (char *)(made->items + count);
    for (size_t i = 0; i < count; i++) {
        if (!is_left_out(nodes[i].name, semaphore))
            made->items[n++] = copy_of(&nodes[i], &text);
    }
    made->public = (struct zkr_participants){ .items = made->items,
                                              .total = n,
                                              .semaphore = semaphore };
    made->public.count = zkr__roster_order(made->items, n);
    return made;
}

struct zkr_participants *zkr__roster_make(const struct zkr_participant *nodes,
                                          size_t count)
{
    struct zkr__roster *made =
        zkr__roster_build(nodes, count, is_semaphore(nodes, count));

    if (made == NULL)
        return NULL;
    zkr__roster_settle(made->items, made->public.count);
    return &made->public;
}
