/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what top knows of the locks, look after look, in the order that the
 * user wants. */
#include "top/model.h"

#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/grow.h"
#include "text/lock_fields.h"

/* --- grants --- */

/* Slots that were not written since then are empty. */
static void history_move(struct top_history *h, int64_t at_ms)
{
    int64_t slot = at_ms / TOP_SLOT_MS;

    if (slot - h->slot >= TOP_SLOTS || slot < h->slot) {
        *h = (struct top_history){ .slot = slot };
        return;
    }
    while (h->slot < slot) {
        h->slot++;
        h->grants[h->slot % TOP_SLOTS] = 0;
    }
}

static size_t history_sum(const struct top_history *h)
{
    size_t sum = 0;

    for (size_t i = 0; i < TOP_SLOTS; i++)
        sum += h->grants[i];
    return sum;
}

static void count_grant(const struct event *event, void *user)
{
    struct top_history *h = user;

    if (event->kind == EVENT_ACQUIRED)
        h->grants[h->slot % TOP_SLOTS]++;
}

/* --- the owners --- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct top_owner *find_owner(struct top_owners *owners, const char *who)
{
    struct top_owner *added;

    for (size_t i = 0; i < owners->count; i++) {
        if (strcmp(owners->items[i].who, who) == 0)
            return &owners->items[i];
    }
    added = GROW(owners);
    if (added == NULL)
        return NULL;
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

/* Adds the holders of a lock. False: out of memory. */
static bool add_holders(struct top_owners *owners, const struct lock *lock)
{
    for (size_t i = 0; i < lock->listed; i++) {
        const struct contender *c = &lock->items[i];
        char plain[WHO_MAX];
        char who[WHO_MAX];
        struct top_owner *o;

        if (!c->node->holds || was_met(lock, c))
            continue;
        o = find_owner(owners,
                       plain_copy(contender_who(c, who), plain, WHO_MAX));
        if (o == NULL)
            return false;
        o->locks++;
        o->waiters += lock->waiters;
        o->held_ms = larger(o->held_ms, c->age_ms);
        if (lock->waiters > 0)
            o->longest_ms = larger(o->longest_ms, lock->longest_wait_ms);
    }
    return true;
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

static void row_done(struct top_row *row)
{
    lock_done(&row->view.lock);
    free(row->view.known);
}

static void set_holder(struct top_row *row)
{
    const struct lock *lock = &row->view.lock;
    int64_t from_ms;
    char who[WHO_MAX];

    plain_copy(cell_holder(lock, who), row->holder, sizeof(row->holder));
    row->held_ms = -1;
    if (lock->holder == NULL)
        return;
    from_ms = row->view.known[lock->holder - lock->items].held_from_ms;
    row->held_ms = from_ms > 0 ? lock->at_ms - from_ms : lock->holder->age_ms;
    if (row->held_ms < 0)
        row->held_ms = 0;
}

/* `old` is the row of that lock, or NULL. */
static bool make_row(const struct top_model *model, const struct top_row *old,
                     struct lock *lock, int64_t at_ms, struct top_row *row)
{
    struct view last = { .lock.path = NULL };
    bool was_seen =
        old == NULL ? model->at_ms != 0 : old->view.lock.state != LOCK_UNKNOWN;

    if (old != NULL)
        last = old->view;
    last.lock.at_ms = model->began_ms;
    *row = (struct top_row){ .view = { .lock = *lock }, .used_ms = at_ms };
    *lock = (struct lock){ .path = NULL };
    if (old != NULL)
        row->history = old->history;
    if (old != NULL && row->view.lock.count == 0 &&
        row->view.lock.error == ZKR_OK)
        row->used_ms = old->used_ms;
    history_move(&row->history, at_ms);
    if (!events_between(was_seen ? &last : NULL, &row->view, count_grant,
                        &row->history))
        return false;
    row->grants = history_sum(&row->history);
    set_holder(row);
    return true;
}

static bool is_partial(const struct scan *scan)
{
    return scan->cut || scan->denied > 0;
}

/* It was not found: nobody uses it now, unless something was not looked at. */
static bool make_missing(const struct top_model *model,
                         const struct top_row *old, const struct scan *scan,
                         struct top_row *row)
{
    struct lock lock = { .path = strdup(old->view.lock.path),
                         .state = is_partial(scan) ? LOCK_UNKNOWN : LOCK_FREE,
                         .kind = old->view.lock.kind,
                         .longest_wait_ms = -1,
                         .at_ms = scan->at_ms };

    return lock.path != NULL && make_row(model, old, &lock, scan->at_ms, row);
}

/* Both lists are in the order of the paths. */
static bool merge(const struct top_model *model, struct scan *scan,
                  struct top_model *next)
{
    size_t i = 0;
    size_t k = 0;

    while (i < model->count || k < scan->count) {
        struct top_row *row = &next->rows[next->count];
        const struct top_row *old = i < model->count ? &model->rows[i] : NULL;
        int order = old == NULL ? 1
                    : k == scan->count
                        ? -1
                        : strcmp(old->view.lock.path, scan->locks[k].path);
        bool made;

        if (order < 0 && scan->at_ms - old->used_ms >= TOP_MINUTE_MS) {
            i++;
            continue;
        }
        i += order <= 0;
        made = order < 0 ? make_missing(model, old, scan, row)
                         : make_row(model, order == 0 ? old : NULL,
                                    &scan->locks[k++], scan->at_ms, row);
        next->count++;
        if (!made)
            return false;
    }
    return true;
}

static void add_up(struct top_model *model, bool more)
{
    struct top_totals t = { .longest_wait_ms = -1, .more = more };

    for (size_t i = 0; i < model->count; i++) {
        const struct top_row *row = &model->rows[i];

        t.held += row->view.lock.holders > 0;
        t.waiters += row->view.lock.waiters;
        t.more = t.more || row->view.lock.cut;
        t.grants += row->grants;
        if (row->view.lock.waiters > 0 &&
            row->view.lock.longest_wait_ms > t.longest_wait_ms)
            t.longest_wait_ms = row->view.lock.longest_wait_ms;
    }
    model->totals = t;
}

static bool add_owners(struct top_model *model)
{
    struct top_owners *owners = &model->owners;

    for (size_t i = 0; i < model->count; i++) {
        if (!add_holders(owners, &model->rows[i].view.lock))
            return false;
    }
    if (owners->count > 0)
        qsort(owners->items, owners->count, sizeof(*owners->items),
              compare_owners);
    return true;
}

bool top_model_take(struct top_model *model, struct scan *scan)
{
    struct top_model next = { .at_ms = scan->at_ms,
                              .began_ms = scan->began_ms != 0 ? scan->began_ms
                                                              : scan->at_ms,
                              .partial = is_partial(scan) };
    bool merged;

    next.rows = calloc(model->count + scan->count + 1, sizeof(*next.rows));
    merged =
        next.rows != NULL && merge(model, scan, &next) && add_owners(&next);
    if (!merged) {
        top_model_done(&next);
        return false;
    }
    next.notes = scan->notes;
    scan->notes = (struct notes){ .texts = NULL };
    top_model_done(model);
    *model = next;
    add_up(model, scan->cut);
    return true;
}

void top_model_done(struct top_model *model)
{
    for (size_t i = 0; i < model->count; i++)
        row_done(&model->rows[i]);
    free(model->rows);
    free(model->shown);
    free(model->owners.items);
    notes_done(&model->notes);
    *model = (struct top_model){ .rows = NULL };
}

/* --- the order --- */

static int compare(const void *a, const void *b, void *user)
{
    const struct top_row *const *x = a;
    const struct top_row *const *y = b;
    const struct top_order *order = user;
    int result = field_compare(&top_fields[order->key], *x, *y);

    if (order->key == TOP_STATE) /* the held before the free */
        result = -result;
    if (result != 0)
        return order->reversed ? -result : result;
    /* A lock with a holder matters more than one without. */
    result = field_compare(&top_fields[TOP_HELD], *x, *y);
    return result != 0 ? result
                       : strcmp((*x)->view.lock.path, (*y)->view.lock.path);
}

/* A row of several holders names none of them. */
static bool is_held_by(const struct lock *lock, const char *filter)
{
    char plain[WHO_MAX];
    char who[WHO_MAX];

    for (size_t i = 0; i < lock->listed; i++) {
        const struct contender *c = &lock->items[i];

        if (c->node->holds &&
            strcasestr(plain_copy(contender_who(c, who), plain, WHO_MAX),
                       filter) != NULL)
            return true;
    }
    return false;
}

static bool passes(const struct top_row *row, const char *filter)
{
    char path[TOP_PATH_MAX];

    return filter[0] == '\0' ||
           strcasestr(plain_escape(row->view.lock.path, path, sizeof(path)),
                      filter) != NULL ||
           strcasestr(row->holder, filter) != NULL ||
           is_held_by(&row->view.lock, filter);
}

bool top_model_arrange(struct top_model *model, const struct top_order *order)
{
    struct top_order by = *order;

    free(model->shown);
    model->shown_count = 0;
    model->shown = calloc(model->count + 1, sizeof(*model->shown));
    if (model->shown == NULL)
        return false;
    for (size_t i = 0; i < model->count; i++) {
        if (passes(&model->rows[i], order->filter))
            model->shown[model->shown_count++] = &model->rows[i];
    }
    qsort_r(model->shown, model->shown_count, sizeof(*model->shown), compare,
            &by);
    return true;
}

size_t top_model_find(const struct top_model *model, const char *path)
{
    size_t i = 0;

    while (i < model->shown_count &&
           strcmp(model->shown[i]->view.lock.path, path) != 0)
        i++;
    return i;
}

const struct top_row *top_model_row(const struct top_model *model,
                                    const char *path)
{
    for (size_t i = 0; i < model->count; i++) {
        if (strcmp(model->rows[i].view.lock.path, path) == 0)
            return &model->rows[i];
    }
    return NULL;
}
