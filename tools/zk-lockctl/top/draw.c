/* The screen of top as lines of text. */
#include "top/draw.h"

#include <stdlib.h>

#include "top/cells.h"
#include "top/foot.h"

/* clang-format off */
static const struct grid_column lock_columns[TOP_LOCK_CELLS] = {
    [TOP_LOCK] =    { .name = "LOCK", .width = 20, .rank = 0, .flexible = true, .tail = true },
    [TOP_KIND] =    { .name = "KIND", .width = 6, .rank = 7 },
    [TOP_STATE] =   { .name = "STATE", .width = 6, .rank = 5 },
    [TOP_HOLDER] =  { .name = "HOLDER", .width = 22, .rank = 2, .flexible = true },
    [TOP_HELD] =    { .name = "HELD", .width = 8, .rank = 4, .right = true },
    [TOP_WAIT] =    { .name = "WAIT", .width = 4, .rank = 1, .right = true },
    [TOP_LONGEST] = { .name = "LONGEST", .width = 7, .rank = 3, .right = true },
    [TOP_GRANTS] =  { .name = "GRANTS", .width = 6, .rank = 6, .right = true },
    [TOP_TOKEN] =   { .name = "TOKEN", .width = 13, .rank = 9, .flexible = true },
    [TOP_DIALECT] = { .name = "DIALECT", .width = 9, .rank = 10 },
    [TOP_LABEL] =   { .name = "LABEL", .width = 12, .rank = 8, .flexible = true },
    [TOP_SESSION] = { .name = "SESSION", .width = 18, .rank = 11 },
};

static const struct grid_column queue_columns[TOP_QUEUE_CELLS] = {
    [TOP_QUEUE_POS] =     { .name = "POS", .width = 4, .rank = 0, .right = true },
    [TOP_QUEUE_STATE] =   { .name = "STATE", .width = 7, .rank = 1 },
    [TOP_QUEUE_OWNER] =   { .name = "OWNER", .width = 24, .rank = 2, .flexible = true },
    [TOP_QUEUE_SINCE] =   { .name = "SINCE", .width = 8, .rank = 3, .right = true },
    [TOP_QUEUE_BLOCKER] = { .name = "BLOCKED-BY", .width = 10, .rank = 4 },
    [TOP_QUEUE_LABEL] =   { .name = "LABEL", .width = 20, .rank = 5, .flexible = true },
    [TOP_QUEUE_MODE] =    { .name = "MODE", .width = 9, .rank = 6 },
    [TOP_QUEUE_TOKEN] =   { .name = "TOKEN", .width = 13, .rank = 7, .flexible = true },
    [TOP_QUEUE_SESSION] = { .name = "SESSION", .width = 18, .rank = 8 },
    [TOP_QUEUE_NODE] =    { .name = "NODE", .width = 20, .rank = 9, .flexible = true, .tail = true },
};
/* clang-format on */

enum { HEADS = TOP_HEAD_LINES, HEAD_LINES, FOOT_LINES = 1 };

/* --- lists --- */

static void write_heads(struct top_drawing *d, const struct grid *grid,
                        size_t mark)
{
    const char *heads[GRID_MAX];
    struct top_line *line = &d->lines[HEADS];

    for (size_t i = 0; i < grid->count; i++)
        heads[i] = grid->columns[i].name;
    *line = (struct top_line){ .look = TOP_BAR };
    grid_line(grid, heads, line->text);
    if (grid_place(grid, mark, &line->mark_x))
        line->mark_width = grid->widths[mark];
}

static enum top_look look_of(const struct lock *lock)
{
    if (lock->state == LOCK_UNKNOWN)
        return TOP_BAD;
    if (lock->holders == 0 && lock->waiters == 0)
        return TOP_DIM;
    return lock->waiters > 0 ? TOP_BOLD : TOP_PLAIN;
}

/* All of a list of so many, as far as there is room. */
struct list {
    size_t count;
    const struct top_cursor *cursor;
};

static size_t end_of(const struct top_drawing *d, const struct list *list)
{
    size_t end = list->cursor->first + top_drawing_page(d);

    return end < list->count ? end : list->count;
}

static struct top_line *line_of(struct top_drawing *d, const struct list *list,
                                size_t i)
{
    return &d->lines[HEAD_LINES + i - list->cursor->first];
}

static void draw_locks(struct top_drawing *d, const struct top_view *view,
                       const struct top_model *model)
{
    struct list list = { model->shown_count, &view->locks };
    const char *cells[TOP_LOCK_CELLS];
    struct top_cells room;

    for (size_t i = list.cursor->first; i < end_of(d, &list); i++) {
        top_cells_of_lock(model->shown[i], &room, cells);
        grid_see(&d->locks, cells);
    }
    grid_fit(&d->locks, d->size.width);
    write_heads(d, &d->locks, view->sort);
    for (size_t i = list.cursor->first; i < end_of(d, &list); i++) {
        struct top_line *line = line_of(d, &list, i);

        top_cells_of_lock(model->shown[i], &room, cells);
        grid_line(&d->locks, cells, line->text);
        line->look = i == list.cursor->at
                         ? TOP_CURSOR
                         : look_of(&model->shown[i]->view.lock);
    }
}

static void draw_queue(struct top_drawing *d, const struct top_view *view,
                       const struct top_row *row)
{
    const struct lock none = { .path = NULL };
    const struct lock *lock = row == NULL ? &none : &row->view.lock;
    struct list list = { lock->listed, &view->queue };
    const char *cells[TOP_QUEUE_CELLS];
    struct top_cells room;

    for (size_t i = list.cursor->first; i < end_of(d, &list); i++) {
        top_cells_of_contender(lock, i, &room, cells);
        grid_see(&d->queue, cells);
    }
    grid_fit(&d->queue, d->size.width);
    write_heads(d, &d->queue, SIZE_MAX);
    for (size_t i = list.cursor->first; i < end_of(d, &list); i++) {
        struct top_line *line = line_of(d, &list, i);
        const struct contender *c = &lock->items[i];

        top_cells_of_contender(lock, i, &room, cells);
        grid_line(&d->queue, cells, line->text);
        line->look = i == list.cursor->at                       ? TOP_CURSOR
                     : c->node->kind == ZKR_PARTICIPANT_FOREIGN ? TOP_DIM
                     : c->node->holds                           ? TOP_GOOD
                                                                : TOP_PLAIN;
    }
}

/* --- */

bool top_drawing_resize(struct top_drawing *d, struct top_screen_size size)
{
    top_drawing_done(d);
    if (size.height < HEAD_LINES + FOOT_LINES + 1)
        size.height = HEAD_LINES + FOOT_LINES + 1;
    if (size.width < 1)
        size.width = 1;
    d->size = size;
    d->lines = calloc((size_t)size.height, sizeof(*d->lines));
    grid_start(&d->locks, lock_columns, TOP_LOCK_CELLS);
    grid_start(&d->queue, queue_columns, TOP_QUEUE_CELLS);
    return d->lines != NULL;
}

size_t top_drawing_page(const struct top_drawing *d)
{
    return (size_t)(d->size.height - HEAD_LINES - FOOT_LINES);
}

void top_draw(struct top_drawing *d, const struct top_view *view,
              const struct top_model *model, const struct top_status *status)
{
    for (int i = 0; i < d->size.height; i++)
        d->lines[i] = (struct top_line){ .look = TOP_PLAIN };
    top_head_draw(d->lines, d->size.width, view, model, status);
    if (view->mode == TOP_MODE_HELP)
        top_help_draw(d->lines + 2, d->size.height - 2 - FOOT_LINES,
                      d->size.width);
    else if (view->mode == TOP_MODE_QUEUE)
        draw_queue(d, view, top_view_row(view, model));
    else
        draw_locks(d, view, model);
    top_foot_draw(&d->lines[d->size.height - 1], d->size.width, view);
}

void top_drawing_done(struct top_drawing *d)
{
    free(d->lines);
    *d = (struct top_drawing){ .lines = NULL };
}
