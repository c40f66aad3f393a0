/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the list on the screen: the locks, or the queue of one. */
#include "top/picture_parts.h"

#include "text/lock_fields.h"

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

/* One at a time. */
static const void *item_at(const struct list *list, size_t i)
{
    static struct place place;

    if (list->owners != NULL)
        return &list->owners[i];
    if (list->lock == NULL)
        return list->rows[i];
    place = (struct place){ list->lock, &list->lock->items[i], list->told };
    return &place;
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
    bool done = grid_take(list->grid, NULL);

    for (size_t i = first; done && i < end; i++)
        done = grid_take(list->grid, item_at(list, i));
    grid_fit(list->grid, d->width);
    for (size_t i = first; done && i < end; i++) {
        struct top_line *line = &d->lines[HEAD_LINES + i - first];

        top_line_write_row(line, list->grid, i - first + 1);
        line->style = style_of(list, i);
    }
    if (done)
        top_line_write_row(names, list->grid, 0);
    names->style = TOP_BAR;
    if (grid_place(list->grid, list->mark, &names->mark_x))
        names->mark_width = list->grid->widths[list->mark];
    grid_forget(list->grid);
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
    grid_start(&p->owners, top_owner_fields, true);
    grid_start(&p->locks, top_fields, true);
    grid_start(&p->queue, contender_fields, true);
}

void picture_list(struct top_picture *p, const struct drawing *d, size_t page)
{
    struct list list = d->view->mode == TOP_MODE_QUEUE    ? list_of_queue(p, d)
                       : d->view->mode == TOP_MODE_OWNERS ? list_of_owners(p, d)
                                                          : list_of_locks(p, d);

    draw_list(d, &list, page);
}
