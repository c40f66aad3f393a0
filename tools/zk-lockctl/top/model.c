/* SPDX-License-Identifier: Apache-2.0 */
#include "top/model.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "text/grid.h"
#include "text/lock_fields.h"

/* --- columns --- */

const struct field *top_fields(void)
{
    static struct field fields[GRID_MAX];

    for (size_t i = 0; fields[0].column == NULL; i++) {
        if (field_is_end(&lock_fields[i]))
            memcpy(fields, lock_fields, i * sizeof(*fields));
    }
    fields[TOP_LONGEST].wide = false;
    return fields;
}

static const char *held_by_owner(const void *item, char room[FIELD_ROOM])
{
    return cell_at_most(((const struct top_owner *)item)->held_ms, room);
}

/* clang-format off */
#define AT(member) offsetof(struct top_owner, member)
const struct field top_owner_fields[] = {
    { "OWNER", NULL, FIELD_CHARS, .at = AT(who), .rank = 0, .narrow = 24 },
    { "LOCKS", NULL, FIELD_COUNT, .at = AT(locks), .rank = 1, .right = true },
    { "HELD", .text = held_by_owner, .rank = 3, .right = true },
    { "WAIT", NULL, FIELD_COUNT, .at = AT(waiters), .rank = 2, .right = true },
    { "LONGEST", NULL, FIELD_MS, .at = AT(longest_ms), .rank = 4, .right = true },
    { .key = NULL },
};
#undef AT
/* clang-format on */

/* --- the owners --- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct top_owner *find_owner(struct top_owners *owners, const char *who)
{
    for (size_t i = 0; i < owners->count; i++) {
        if (strcmp(owners->items[i].who, who) == 0)
            return &owners->items[i];
    }
    struct top_owner *added = GROW(owners);
    added->held_ms = added->longest_ms = -1;
    (void)strcpy(added->who, who);
    return added;
}

/* An owner with several leases of a semaphore holds it once. */
static bool was_met(const struct lock *lock, const struct contender *c)
{
    char who[WHO_MAX];
    char other[WHO_MAX];

    (void)contender_who(c, who);
    for (const struct contender *b = lock->items; b < c; b++) {
        if (b->node->holds && strcmp(contender_who(b, other), who) == 0)
            return true;
    }
    return false;
}

/* Adds the holders of a lock. */
static void add_holders(struct top_owners *owners, const struct lock *lock)
{
    for (size_t i = 0; i < lock->listed; i++) {
        const struct contender *c = &lock->items[i];
        char who[WHO_MAX];

        if (!c->node->holds || was_met(lock, c))
            continue;
        struct top_owner *o = find_owner(owners, contender_who(c, who));
        o->locks++;
        o->waiters += lock->waiters;
        o->held_ms = larger(o->held_ms, c->age_ms);
        if (lock->waiters > 0)
            o->longest_ms = larger(o->longest_ms, lock->longest_wait_ms);
    }
}

static int compare_owners(const void *a, const void *b)
{
    const struct top_owner *x = a;
    const struct top_owner *y = b;

    if (x->locks != y->locks)
        return x->locks < y->locks ? 1 : -1;
    if (x->waiters != y->waiters)
        return x->waiters < y->waiters ? 1 : -1;
    return strcmp(x->who, y->who);
}

/* --- the next look --- */

static struct top_totals add_up(const struct scan *scan)
{
    struct top_totals t = { .longest_wait_ms = -1, .more = scan->cut };

    for (size_t i = 0; i < scan->count; i++) {
        const struct lock *lock = &scan->locks[i];

        t.held += lock->holders > 0;
        t.waiters += lock->waiters;
        t.more = t.more || lock->cut;
        if (lock->waiters > 0)
            t.longest_wait_ms =
                larger(t.longest_wait_ms, lock->longest_wait_ms);
    }
    return t;
}

void top_model_take(struct top_model *model, struct scan *scan)
{
    struct top_owners *owners = &model->owners;

    top_model_done(model);
    model->scan = *scan;
    *scan = (struct scan){ .locks = NULL };
    for (size_t i = 0; i < model->scan.count; i++)
        add_holders(owners, &model->scan.locks[i]);
    sort_array(owners->items, owners->count, sizeof(*owners->items),
               compare_owners);
    model->totals = add_up(&model->scan);
}

void top_model_done(struct top_model *model)
{
    scan_done(&model->scan);
    free(model->shown);
    free(model->owners.items);
    *model = (struct top_model){ .shown = NULL };
}

/* --- the order --- */

static int compare_by(enum top_key key, const struct lock *a,
                      const struct lock *b)
{
    char one[WHO_MAX];
    char other[WHO_MAX];

    return key == TOP_HOLDER
               ? strcmp(cell_holder(a, one), cell_holder(b, other))
               : field_compare(&lock_fields[key], a, b);
}

static int compare(const void *a, const void *b, void *user)
{
    const struct lock *const *x = a;
    const struct lock *const *y = b;
    const struct top_order *order = user;
    int result = compare_by(order->key, *x, *y);

    if (order->key == TOP_STATE) /* the held before the free */
        result = -result;
    if (result != 0)
        return order->reversed ? -result : result;
    /* A lock with a holder matters more than one without. */
    result = compare_by(TOP_HELD, *x, *y);
    return result != 0 ? result : strcmp((*x)->path, (*y)->path);
}

/* A row of several holders names none of them. */
static bool is_held_by(const struct lock *lock, const char *filter)
{
    char who[WHO_MAX];

    for (size_t i = 0; i < lock->listed; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->holds && strcasestr(contender_who(c, who), filter) != NULL)
            return true;
    }
    return false;
}

static bool passes(const struct lock *lock, const char *filter)
{
    char path[PATH_TEXT_MAX];
    char who[WHO_MAX];

    return filter[0] == '\0' ||
           strcasestr(cell_path(lock->path, path), filter) != NULL ||
           strcasestr(cell_holder(lock, who), filter) != NULL ||
           is_held_by(lock, filter);
}

void top_model_arrange(struct top_model *model, const struct top_order *order)
{
    const struct scan *scan = &model->scan;
    struct top_order by = *order;

    free(model->shown);
    model->shown_count = 0;
    model->shown = enough(calloc(scan->count + 1, sizeof(*model->shown)));
    for (size_t i = 0; i < scan->count; i++) {
        if (passes(&scan->locks[i], order->filter))
            model->shown[model->shown_count++] = &scan->locks[i];
    }
    qsort_r(model->shown, model->shown_count, sizeof(*model->shown), compare,
            &by);
}

size_t top_model_find(const struct top_model *model, const char *path)
{
    size_t i = 0;

    while (i < model->shown_count && strcmp(model->shown[i]->path, path) != 0)
        i++;
    return i;
}

const struct lock *top_model_lock(const struct top_model *model,
                                  const char *path)
{
    const struct lock key = { .path = (char *)(uintptr_t)path };

    return find_in_array(&key, model->scan.locks, model->scan.count,
                         sizeof(key), lock_by_path);
}
