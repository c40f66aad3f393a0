/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the list on the screen: the locks, or the queue of one. */
#include "top/picture_parts.h"

#include <string.h>

#include "common/plain.h"
#include "text/cells.h"

enum {
    QUEUE_POS,
    QUEUE_STATE,
    QUEUE_OWNER,
    QUEUE_SINCE,
    QUEUE_BLOCKER,
    QUEUE_WATCH,
    QUEUE_LABEL,
    QUEUE_CLIENT,
    QUEUE_MODE,
    QUEUE_TOKEN,
    QUEUE_SESSION,
    QUEUE_NODE,
    QUEUE_CELLS,
};

enum {
    OWNER_WHO,
    OWNER_LOCKS,
    OWNER_HELD,
    OWNER_WAIT,
    OWNER_LONGEST,
    OWNER_CELLS
};

/* clang-format off */
static const struct grid_column lock_columns[TOP_LOCK_CELLS] = {
    [TOP_LOCK] =    { .name = "LOCK", .width = 20, .rank = 0, .flexible = true, .tail = true },
    [TOP_KIND] =    { .name = "KIND", .width = 6, .rank = 7, .flexible = true },
    [TOP_STATE] =   { .name = "STATE", .width = 6, .rank = 5, .flexible = true },
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

static const struct grid_column queue_columns[QUEUE_CELLS] = {
    [QUEUE_POS] =     { .name = "POS", .width = 4, .rank = 0, .right = true },
    [QUEUE_STATE] =   { .name = "STATE", .width = 7, .rank = 1 },
    [QUEUE_OWNER] =   { .name = "OWNER", .width = 24, .rank = 2, .flexible = true },
    [QUEUE_SINCE] =   { .name = "SINCE", .width = 8, .rank = 3, .right = true },
    [QUEUE_BLOCKER] = { .name = "BLOCKED-BY", .width = 10, .rank = 4 },
    [QUEUE_WATCH] =   { .name = "WATCH", .width = 7, .rank = 5 },
    [QUEUE_LABEL] =   { .name = "LABEL", .width = 12, .rank = 6, .flexible = true },
    [QUEUE_CLIENT] =  { .name = "CLIENT", .width = 15, .rank = 8, .flexible = true },
    [QUEUE_MODE] =    { .name = "MODE", .width = 9, .rank = 9 },
    [QUEUE_TOKEN] =   { .name = "TOKEN", .width = 13, .rank = 7, .flexible = true },
    [QUEUE_SESSION] = { .name = "SESSION", .width = 18, .rank = 10 },
    [QUEUE_NODE] =    { .name = "NODE", .width = 20, .rank = 11, .flexible = true, .tail = true },
};

static const struct grid_column owner_columns[OWNER_CELLS] = {
    [OWNER_WHO] =     { .name = "OWNER", .width = 24, .rank = 0, .flexible = true },
    [OWNER_LOCKS] =   { .name = "LOCKS", .width = 5, .rank = 1, .right = true },
    [OWNER_HELD] =    { .name = "HELD", .width = 8, .rank = 3, .right = true },
    [OWNER_WAIT] =    { .name = "WAIT", .width = 4, .rank = 2, .right = true },
    [OWNER_LONGEST] = { .name = "LONGEST", .width = 7, .rank = 4, .right = true },
};
/* clang-format on */

/* A list of locks, the queue of one, or the owners: what is not NULL. */
struct list {
    struct grid *grid;
    size_t count;
    const struct top_cursor *cursor;
    size_t mark; /* the column that it is sorted by; SIZE_MAX: none */
    const struct top_row *const *rows;
    const struct lock *lock;
    const struct told *told;
    const struct top_owner *owners;
};

static void owner_cells(const struct top_owner *o, struct top_cells *room,
                        const char **cells)
{
    cells[OWNER_WHO] = o->who;
    cells[OWNER_LOCKS] = cell_count(o->locks, false, room->words[OWNER_LOCKS]);
    cells[OWNER_HELD] = cell_at_most(o->held_ms, room->words[OWNER_HELD]);
    cells[OWNER_WAIT] = cell_count(o->waiters, false, room->words[OWNER_WAIT]);
    if (o->longest_ms >= 0)
        cells[OWNER_LONGEST] =
            word_age(o->longest_ms, room->words[OWNER_LONGEST]);
}

static void queue_cells(const struct list *list, size_t i,
                        struct top_cells *room, const char **cells)
{
    const struct lock *lock = list->lock;
    const struct contender *c = &lock->items[i];
    char client[CLIENT_MAX];
    char who[WHO_MAX];

    if (c->node->kind != ZKR_PARTICIPANT_FOREIGN)
        cells[QUEUE_POS] = cell_count(i, false, room->words[QUEUE_POS]);
    cells[QUEUE_STATE] = cell_state(lock, c);
    cells[QUEUE_OWNER] =
        plain_copy(contender_who(c, who), room->owner, sizeof(room->owner));
    cells[QUEUE_SINCE] = cell_since(c, room->words[QUEUE_SINCE]);
    cells[QUEUE_BLOCKER] = cell_blocker(lock, c, room->words[QUEUE_BLOCKER]);
    cells[QUEUE_WATCH] = cell_watch(lock, list->told, c);
    cells[QUEUE_CLIENT] = plain_copy(cell_client(list->told, c, client),
                                     room->client, sizeof(room->client));
    cells[QUEUE_LABEL] =
        plain_escape(c->owner.label, room->label, sizeof(room->label));
    cells[QUEUE_MODE] = cell_mode(c);
    cells[QUEUE_TOKEN] = cell_token(c, room->words[QUEUE_TOKEN]);
    cells[QUEUE_SESSION] = cell_session(c, room->words[QUEUE_SESSION]);
    cells[QUEUE_NODE] =
        plain_escape(c->node->name, room->node, sizeof(room->node));
}

static void make_cells(const struct list *list, size_t i,
                       struct top_cells *room, const char *cells[GRID_MAX])
{
    memset(cells, 0, GRID_MAX * sizeof(*cells));
    if (list->owners != NULL)
        owner_cells(&list->owners[i], room, cells);
    else if (list->lock != NULL)
        queue_cells(list, i, room, cells);
    else
        top_row_cells(list->rows[i], room, cells);
}

static enum top_style style_of(const struct list *list, size_t i)
{
    const struct lock *lock;

    if (i == list->cursor->at)
        return TOP_CURSOR;
    if (list->owners != NULL)
        return list->owners[i].waiters > 0 ? TOP_BOLD : TOP_PLAIN;
    if (list->lock != NULL) {
        const struct zkr_participant *p = list->lock->items[i].node;

        return p->kind == ZKR_PARTICIPANT_FOREIGN ? TOP_DIM
               : p->holds                         ? TOP_GOOD
               : told_wakes(list->told, &list->lock->items[i]) == ANSWER_NO
                   ? TOP_BAD
                   : TOP_PLAIN;
    }
    lock = &list->rows[i]->view.lock;
    return lock->state == LOCK_UNKNOWN ? TOP_BAD
           : lock->waiters > 0         ? TOP_BOLD
           : lock->holders == 0        ? TOP_DIM
                                       : TOP_PLAIN;
}

/* Draws the part of a list that fits on the page. */
static void draw_list(const struct drawing *d, const struct list *list,
                      size_t page)
{
    size_t first = list->cursor->first;
    size_t end = first + page < list->count ? first + page : list->count;
    struct top_line *names = &d->lines[HEADS];
    const char *cells[GRID_MAX];
    struct top_cells room;

    for (size_t i = first; i < end; i++) {
        make_cells(list, i, &room, cells);
        grid_see(list->grid, cells);
    }
    grid_fit(list->grid, d->width);
    top_line_write_names(names, list->grid);
    if (grid_place(list->grid, list->mark, &names->mark_x))
        names->mark_width = list->grid->widths[list->mark];
    for (size_t i = first; i < end; i++) {
        struct top_line *line = &d->lines[HEAD_LINES + i - first];

        make_cells(list, i, &room, cells);
        grid_line(list->grid, cells, line->text);
        line->style = style_of(list, i);
    }
}

static struct list list_of_locks(struct top_picture *p, const struct drawing *d)
{
    return (struct list){ .grid = &p->locks,
                          .count = d->model->shown_count,
                          .cursor = &d->view->locks,
                          .mark = d->view->sort,
                          .rows = d->model->shown };
}

static struct list list_of_queue(struct top_picture *p, const struct drawing *d)
{
    static const struct lock none = { .path = NULL };
    const struct top_row *row = top_view_row(d->view, d->model);
    const struct lock *lock = row == NULL ? &none : &row->view.lock;

    return (struct list){ .grid = &p->queue,
                          .count = lock->listed,
                          .cursor = &d->view->queue,
                          .mark = SIZE_MAX,
                          .lock = lock,
                          .told = d->status->told };
}

static struct list list_of_owners(struct top_picture *p,
                                  const struct drawing *d)
{
    return (struct list){ .grid = &p->owners,
                          .count = d->model->owners.count,
                          .cursor = &d->view->owners,
                          .mark = SIZE_MAX,
                          .owners = d->model->owners.items };
}

void picture_list_start(struct top_picture *p)
{
    grid_start(&p->owners, owner_columns, OWNER_CELLS);
    grid_start(&p->locks, lock_columns, TOP_LOCK_CELLS);
    grid_start(&p->queue, queue_columns, QUEUE_CELLS);
}

void picture_list(struct top_picture *p, const struct drawing *d, size_t page)
{
    struct list list = d->view->mode == TOP_MODE_QUEUE    ? list_of_queue(p, d)
                       : d->view->mode == TOP_MODE_OWNERS ? list_of_owners(p, d)
                                                          : list_of_locks(p, d);

    draw_list(d, &list, page);
}
