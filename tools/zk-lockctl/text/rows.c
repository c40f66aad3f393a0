/* SPDX-License-Identifier: Apache-2.0 */
/* Prints locks as ls does: a lock is one row of a table, or an item of JSON. */
#include "text/rows.h"

#include "common/escape.h"
#include "text/aligned.h"
#include "text/cells.h"
#include "text/describe.h"

static const struct column columns[] = {
    { .name = "LOCK", .rank = 0, .narrow = 20, .tail = true },
    { .name = "KIND", .rank = 6 },
    { .name = "DIALECT", .rank = 8 },
    { .name = "STATE", .rank = 1 },
    { .name = "HOLDER", .rank = 2, .narrow = 20 },
    { .name = "HELD", .rank = 4, .right = true },
    { .name = "WAIT", .rank = 3, .right = true },
    { .name = "LONGEST", .wide = true, .right = true },
    { .name = "TOKEN", .rank = 7 },
    { .name = "LABEL", .wide = true },
    { .name = "SESSION", .wide = true },
    { .name = "SINCE", .wide = true },
    { .name = "CHILDREN", .wide = true, .right = true },
};
enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

struct cells {
    char path[PATH_TEXT_MAX];
    char holder[WHO_MAX];
    char held[WORD_MAX];
    char waiters[WORD_MAX];
    char longest[WORD_MAX];
    char token[WORD_MAX];
    char label[ZKR_LABEL_MAX * 4 + 1];
    char session[WORD_MAX];
    char since[WORD_MAX];
    char children[WORD_MAX];
};

static void set_holder(struct cells *c, const struct lock *lock,
                       const char *cells[COLUMN_COUNT])
{
    const struct contender *h = lock->holder;

    if (h != NULL || lock->kind == ZKR__KIND_BARRIER)
        cells[4] = cell_holder(lock, c->holder);
    if (h == NULL)
        return;
    cells[5] = cell_at_most(h->age_ms, c->held);
    if (lock->holders > 1)
        return;
    cells[8] = cell_token(h, c->token);
    (void)escape_string(h->owner.label, c->label, sizeof(c->label));
    cells[9] = c->label;
    cells[10] = cell_session(h, c->session);
    cells[11] = word_time(h->node->since_ms, c->since);
}

static bool print_row(struct table *table, const void *of, size_t i)
{
    const struct lock *lock = (const struct lock *)of + i;
    struct cells c;
    const char *cells[COLUMN_COUNT] = { NULL };
    enum style style = lock->state == LOCK_FREE ? STYLE_DIM : STYLE_PLAIN;

    cells[0] = cell_path(lock->path, c.path);
    cells[1] = zkr__lock_kind_name(lock->kind);
    cells[2] = zkr__dialect_name(lock->dialect);
    cells[3] = lock_state_name(lock->state);
    cells[6] = lock->error == ZKR_OK
                   ? cell_count(lock->waiters, false, c.waiters)
                   : "?";
    if (lock->longest_wait_ms >= 0)
        cells[7] = word_age(lock->longest_wait_ms, c.longest);
    cells[12] = cell_count(lock->total, false, c.children);
    set_holder(&c, lock, cells);
    return table_row(table, cells, style);
}

static json_t *describe(const void *of, size_t i)
{
    return describe_lock((const struct lock *)of + i);
}

int rows_print(const struct lockctl *ctl, const struct lock *locks,
               size_t count, int64_t at_ms, const struct notes *notes)
{
    int code = output_is_json(ctl) ? output_items(ctl, "LockList", at_ms,
                                                  describe, locks, count, notes)
                                   : table_print(ctl, columns, COLUMN_COUNT,
                                                 print_row, locks, count);

    notes_say(notes, ctl);
    return code;
}
