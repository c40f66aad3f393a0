/* Who stands where in the queue of a lock, seen by one who only looks on. Pure,
 * but for one array. */
#include "inspect/roster.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "lock/node_name.h"
#include "lock/queue.h"

static bool is_foreign(const struct zkr_participant *p)
{
    return p->kind == ZKR_PARTICIPANT_FOREIGN;
}

static bool is_unfair(const struct zkr_participant *p)
{
    return strcmp(p->marker, ZKR__UNFAIR_NAME) == 0;
}

void zkr__roster_read(struct zkr_participant *p)
{
    static const enum zkr_participant_kind kinds[] = {
        [ZKR__FOREIGN] = ZKR_PARTICIPANT_FOREIGN,
        [ZKR__EXCLUSIVE] = ZKR_PARTICIPANT_EXCLUSIVE,
        [ZKR__SHARED] = ZKR_PARTICIPANT_SHARED,
    };
    const struct zkr__markers *all = &zkr__known_markers;

    p->sequence = 0;
    p->marker = "";
    p->kind = kinds[zkr__node_name_parse(p->name, all, &p->sequence)];
    if (!is_foreign(p)) {
        p->marker = zkr__node_name_marker(p->name, all);
        return;
    }
    p->kind = kinds[zkr__node_name_other(p->name, &p->marker, &p->sequence)];
    if (is_foreign(p))
        p->marker = "";
    if (strcmp(p->name, ZKR__UNFAIR_NAME) == 0) {
        p->kind = ZKR_PARTICIPANT_EXCLUSIVE;
        p->marker = ZKR__UNFAIR_NAME;
    }
}

static struct zkr__contender contender(const struct zkr_participant *p)
{
    return (struct zkr__contender){
        .name = p->name,
        .seq = p->sequence,
        .kind =
            p->kind == ZKR_PARTICIPANT_SHARED ? ZKR__SHARED : ZKR__EXCLUSIVE,
    };
}

static int in_order(const void *a, const void *b)
{
    const struct zkr__contender x = contender(a);
    const struct zkr__contender y = contender(b);

    if (is_foreign(a) != is_foreign(b))
        return is_foreign(a) ? 1 : -1;
    return zkr__queue_compare(&x, &y);
}

int zkr__roster_new(const char *const *names, size_t count, size_t limit,
                    struct zkr_participant **ret_items, size_t *ret_count)
{
    struct zkr_participant *items = calloc(count + 1, sizeof(*items));
    size_t n = 0;

    if (items == NULL)
        return ZKR_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (!zkr__path_is_child_name(names[i]))
            continue;
        items[n].name = names[i];
        zkr__roster_read(&items[n++]);
    }
    qsort(items, n, sizeof(*items), in_order);
    *ret_items = items;
    *ret_count = n < limit ? n : limit;
    return ZKR_OK;
}

/* A writer and the reader that it is being turned into: one session has made
 * the second at the place of the first. */
static bool is_downgrade(const struct zkr_participant *a,
                         const struct zkr_participant *b)
{
    return a->kind != b->kind && a->sequence == b->sequence &&
           a->session_id == b->session_id && a->session_id != 0;
}

static bool excludes(const struct zkr_participant *a,
                     const struct zkr_participant *b)
{
    if (a->kind == ZKR_PARTICIPANT_SHARED && b->kind == ZKR_PARTICIPANT_SHARED)
        return false;
    return !is_unfair(a) && !is_unfair(b) && !is_downgrade(a, b);
}

static size_t end_of_equals(const struct zkr_participant *items, size_t count,
                            size_t i)
{
    size_t end = i;

    while (end < count && !is_foreign(&items[end]) &&
           items[end].sequence == items[i].sequence)
        end++;
    return end;
}

/* Among those with its own number, who count as ahead: see queue.h. */
static size_t nearest_equal(const struct zkr_participant *items, size_t start,
                            size_t end, size_t self)
{
    for (size_t i = end; i-- > start;) {
        if (i != self && excludes(&items[i], &items[self]))
            return i;
    }
    return ZKR__NOBODY;
}

/* The last of those with lower numbers: of all, and of the exclusive ones. */
struct before {
    size_t any;
    size_t exclusive;
};

static void settle_equals(struct zkr_participant *items, size_t start,
                          size_t end, const struct before *before)
{
    for (size_t i = start; i < end; i++) {
        struct zkr_participant *p = &items[i];

        p->waits_for = nearest_equal(items, start, end, i);
        if (p->waits_for == ZKR__NOBODY && !is_unfair(p))
            p->waits_for = p->kind == ZKR_PARTICIPANT_SHARED ? before->exclusive
                                                             : before->any;
        p->holds = p->waits_for == ZKR__NOBODY;
    }
}

static void move_on(struct before *before, const struct zkr_participant *items,
                    size_t start, size_t end)
{
    for (size_t i = start; i < end; i++) {
        if (is_unfair(&items[i]))
            continue;
        before->any = i;
        if (items[i].kind == ZKR_PARTICIPANT_EXCLUSIVE)
            before->exclusive = i;
    }
}

void zkr__roster_settle(struct zkr_participant *items, size_t count)
{
    struct before before = { ZKR__NOBODY, ZKR__NOBODY };
    size_t start = 0;
    size_t end;

    for (; start < count && !is_foreign(&items[start]); start = end) {
        end = end_of_equals(items, count, start);
        settle_equals(items, start, end, &before);
        move_on(&before, items, start, end);
    }
    for (; start < count; start++) {
        items[start].holds = false;
        items[start].waits_for = ZKR__NOBODY;
    }
}
