/* What top says where there is no screen: tables, one after the other, or lines
 * for programs. */
#include "top/print.h"

#include <stdio.h>
#include <string.h>

#include "text/describe.h"
#include "text/output.h"
#include "top/cells.h"

/* As the screen names them. */
enum { TIME = TOP_LOCK_CELLS, COLUMN_COUNT };

static const struct column columns[COLUMN_COUNT] = {
    [TOP_LOCK] = { .name = "LOCK", .rank = 0, .narrow = 20, .tail = true },
    [TOP_KIND] = { .name = "KIND", .rank = 7 },
    [TOP_STATE] = { .name = "STATE", .rank = 5 },
    [TOP_HOLDER] = { .name = "HOLDER", .rank = 2, .narrow = 20 },
    [TOP_HELD] = { .name = "HELD", .rank = 4, .right = true },
    [TOP_WAIT] = { .name = "WAIT", .rank = 1, .right = true },
    [TOP_LONGEST] = { .name = "LONGEST", .rank = 3, .right = true },
    [TOP_GRANTS] = { .name = "GRANTS", .rank = 6, .right = true },
    [TOP_TOKEN] = { .name = "TOKEN", .rank = 8 },
    [TOP_DIALECT] = { .name = "DIALECT", .wide = true },
    [TOP_LABEL] = { .name = "LABEL", .wide = true },
    [TOP_SESSION] = { .name = "SESSION", .wide = true },
    [TIME] = { .name = "TIME", .wide = true },
};

int top_print_start(struct top_printer *p, const struct lockctl *ctl)
{
    *p = (struct top_printer){ .ctl = ctl };
    return ctl->format == FORMAT_CSV
               ? table_new(ctl, columns, COLUMN_COUNT, &p->csv)
               : 0;
}

int top_print_end(struct top_printer *p)
{
    int code = p->csv == NULL ? 0 : table_end(p->csv);

    p->csv = NULL;
    return code;
}

static int print_rows(struct table *table, const struct top_model *model)
{
    const char *cells[COLUMN_COUNT];
    struct top_cells room;
    char time[WORD_MAX];

    cells[TIME] = word_time(model->at_ms, time);
    for (size_t i = 0; i < model->shown_count; i++) {
        const struct lock *lock = &model->shown[i]->view.lock;

        top_cells_of_lock(model->shown[i], &room, cells);
        if (!table_row(table, cells,
                       lock->state == LOCK_FREE ? STYLE_DIM : STYLE_PLAIN))
            return lockctl_fail_error(ZKR_ENOMEM, "");
    }
    return 0;
}

static void print_title(const struct top_printer *p,
                        const struct top_model *model)
{
    const struct top_totals *t = &model->totals;
    char time[WORD_MAX];
    char age[WORD_MAX];

    (void)printf("%s%s  %zu lock%s, %zu held, %zu%s waiting",
                 p->looks > 0 ? "\n" : "", word_time(model->at_ms, time),
                 model->count, model->count == 1 ? "" : "s", t->held,
                 t->waiters, t->more ? "+" : "");
    if (t->longest_wait_ms >= 0)
        (void)printf(", longest %s", word_age(t->longest_wait_ms, age));
    (void)putchar('\n');
}

static int print_table(const struct top_printer *p,
                       const struct top_model *model)
{
    struct table *table;
    int code = table_new(p->ctl, columns, COLUMN_COUNT, &table);
    int ended;

    if (code != 0)
        return code;
    print_title(p, model);
    code = print_rows(table, model);
    ended = table_end(table);
    return code != 0 ? code : ended;
}

static json_t *describe(const struct top_row *row, int64_t at_ms)
{
    json_t *lock = describe_lock(&row->view.lock);

    if (lock == NULL)
        return NULL;
    (void)json_object_set_new(lock, "at", json_time(at_ms));
    (void)json_object_set_new(lock, "held_ms_max",
                              row->held_ms < 0 ? json_null()
                                               : json_integer(row->held_ms));
    (void)json_object_set_new(lock, "grants_last_minute",
                              json_integer((json_int_t)row->grants));
    return lock;
}

static int print_json(const struct top_printer *p,
                      const struct top_model *model)
{
    json_t *items = json_array();

    for (size_t i = 0; i < model->shown_count; i++) {
        if (json_array_append_new(
                items, describe(model->shown[i], model->at_ms)) != 0) {
            json_decref(items);
            return lockctl_fail_error(ZKR_ENOMEM, "");
        }
    }
    return output_json(p->ctl, "LockTop", model->at_ms, items, &model->notes);
}

int top_print(struct top_printer *p, const struct top_model *model)
{
    int code;

    if (p->csv != NULL)
        code = print_rows(p->csv, model);
    else if (output_is_json(p->ctl))
        code = print_json(p, model);
    else
        code = print_table(p, model);
    if (p->looks++ == 0)
        notes_say(&model->notes, p->ctl);
    return code;
}
