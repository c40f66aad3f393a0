/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the head of the screen: the ensemble, totals, what is wrong. */
#include "top/picture_parts.h"

#include <stdio.h>

#include "common/plain.h"
#include "text/cells.h"

void picture_title(const struct drawing *d)
{
    char left[GRID_CELL_MAX];
    char right[200];
    char interval[WORD_MAX];
    char clock[WORD_MAX] = "";

    if (d->model->at_ms != 0)
        (void)word_clock(d->model->at_ms, clock);
    (void)snprintf(left, sizeof(left), "zk-lockctl top  %.1000s",
                   d->status->ensemble);
    (void)snprintf(right, sizeof(right), "%s  every %s  %s", d->status->state,
                   word_duration(d->view->interval_ms, interval), clock);
    top_line_write_both(&d->lines[0], TOP_BOLD, d->width, left, right);
}

static void draw_totals(const struct drawing *d)
{
    char left[TOP_TOTALS_MAX];
    char right[100];
    char word[WORD_MAX];

    if (d->model->at_ms == 0) {
        top_line_write(&d->lines[1], TOP_PLAIN, d->width, "looking...");
        return;
    }
    (void)top_model_say_totals(d->model, left);
    (void)snprintf(right, sizeof(right), "%zu grants/min  look %s",
                   d->model->totals.grants,
                   word_duration(d->status->took_ms, word));
    if (grid_width(left) + 2 + grid_width(right) > d->width)
        right[0] = '\0';
    top_line_write_both(&d->lines[1], TOP_PLAIN, d->width, left, right);
}

/* Above its queue. */
static void draw_lock(const struct drawing *d)
{
    const struct top_row *row = top_view_row(d->view, d->model);
    char path[GRID_CELL_MAX];
    char rest[300] = "";
    char queue[QUEUE_MAX];
    const struct lock *lock;

    if (row == NULL) {
        top_line_write(&d->lines[1], TOP_PLAIN, d->width,
                       "nobody has used this lock for a minute");
        return;
    }
    lock = &row->view.lock;
    (void)snprintf(
        rest, sizeof(rest), "%s (%s)  %s  %s", zkr__lock_kind_name(lock->kind),
        zkr__dialect_name(lock->dialect), lock_state_name(lock->state),
        cell_queue(lock, lock->cut, queue));
    grid_cut(row->path, d->width - grid_width(rest) - 2, true, path);
    top_line_write(&d->lines[1], TOP_BOLD, d->width, "%s  %s", path, rest);
}

/* A look under way is shown only when it takes long. */
static bool is_late(const struct drawing *d)
{
    enum { LATE_MS = 2000 };
    int64_t took_ms = d->status->took_ms;
    int64_t pause =
        d->view->interval_ms > 2 * took_ms ? d->view->interval_ms : 2 * took_ms;

    return d->model->at_ms != 0 &&
           d->status->now_ms - d->model->at_ms > pause + took_ms + LATE_MS;
}

/* Returns why the picture is old, or NULL when it is not. */
static const char *trouble(const struct drawing *d, char room[GRID_CELL_MAX])
{
    const struct top_status *status = d->status;

    if (!status->is_connected) {
        (void)snprintf(room, GRID_CELL_MAX, "%s%s%s", status->state,
                       status->absence[0] == '\0' ? "" : ": ", status->absence);
        return room;
    }
    if (status->error[0] != '\0')
        return status->error;
    return is_late(d) ? "no answer yet" : NULL;
}

/* At the beginning "connecting" alone is no trouble. */
static void draw_trouble(const struct drawing *d, const char *why)
{
    bool begins = d->status->error[0] == '\0' && d->status->absence[0] == '\0';
    char age[WORD_MAX];

    if (d->model->at_ms == 0)
        top_line_write(&d->lines[2], begins ? TOP_PLAIN : TOP_BAD, d->width,
                       "NOTHING SEEN YET: %s", why);
    else
        top_line_write(&d->lines[2], TOP_BAD, d->width, "STALE, %s old: %s",
                       word_age(d->status->now_ms - d->model->at_ms, age), why);
}

/* Describes how the list was made. */
static void draw_order(const struct drawing *d)
{
    const struct top_view *view = d->view;
    char typed[sizeof(view->filter) * 16];
    char filter[sizeof(typed) + 40] = "";
    char note[GRID_CELL_MAX] = "";

    if (view->filter[0] != '\0')
        (void)snprintf(filter, sizeof(filter), ", %zu with \"%s\"",
                       d->model->shown_count,
                       plain_escape(view->filter, typed, sizeof(typed)));
    if (view->mode == TOP_MODE_QUEUE && d->status->told_note[0] != '\0')
        (void)snprintf(note, sizeof(note), "  note: %.1000s",
                       d->status->told_note);
    else if (d->model->notes.count > 0)
        (void)snprintf(note, sizeof(note), "  note: %.1000s",
                       d->model->notes.texts[0]);
    if (view->mode == TOP_MODE_LOCKS)
        top_line_write(&d->lines[2], TOP_PLAIN, d->width, "sorted by %s%s%s%s",
                       top_fields[view->sort].column,
                       view->reversed ? " reversed" : "", filter, note);
    else
        top_line_write(&d->lines[2], TOP_PLAIN, d->width, "%s",
                       note[0] == '\0' ? note : note + 2);
}

void picture_head(const struct drawing *d)
{
    char room[GRID_CELL_MAX];
    const char *why = trouble(d, room);

    if (d->view->mode == TOP_MODE_QUEUE)
        draw_lock(d);
    else
        draw_totals(d);
    if (why != NULL)
        draw_trouble(d, why);
    else
        draw_order(d);
}
