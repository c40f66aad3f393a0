/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the screen of top as lines of text: a head of three lines, a list of
 * locks or of the queue of one, and the keys. */
#include "top/picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/grow.h"
#include "text/lock_fields.h"

#define COUNT(items) ((int)(sizeof(items) / sizeof((items)[0])))

enum { HEADS = 3, HEAD_LINES, FOOT_LINES = 1 };

/* The data from which one picture is drawn. */
struct drawing {
    struct top_line *lines;
    int width;
    const struct top_view *view;
    const struct top_model *model;
    const struct top_status *status;
};

/* --- a line --- */

/* A text, cut to the width of the screen. */
__attribute__((format(printf, 4, 5))) static void
write_line(struct top_line *line, enum top_style style, int width,
           const char *format, ...)
{
    char text[GRID_CELL_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    *line = (struct top_line){ .style = style };
    grid_cut(text, width, false, line->text);
}

/* The left text is cut, to a quarter of the line; then the right is left out.
 */
static void write_both(struct top_line *line, enum top_style style, int width,
                       const char *left, const char *right)
{
    char text[GRID_CELL_MAX];
    int rest = width - grid_width(right) - 2;

    if (rest < width / 4) {
        write_line(line, style, width, "%s", left);
        return;
    }
    grid_cut(left, rest, false, text);
    write_line(line, style, width, "%s%*s%s", text, rest + 2 - grid_width(text),
               "", right);
}

/* A row of a table. */
static void write_row(struct top_line *line, const struct grid *grid,
                      size_t row)
{
    FILE *out = fmemopen(line->text, sizeof(line->text) - 1, "w");

    if (out == NULL)
        return;
    grid_write(grid, row, out);
    (void)fclose(out);
}

/* --- the head: the ensemble, totals, what is wrong --- */

static void draw_title(const struct drawing *d)
{
    char left[GRID_CELL_MAX];
    char right[200];
    char interval[WORD_MAX];
    char clock[WORD_MAX] = "";

    if (d->model->scan.at_ms != 0)
        (void)word_clock(d->model->scan.at_ms, clock);
    (void)snprintf(left, sizeof(left), "zk-lockctl top  %.1000s",
                   d->status->ensemble);
    (void)snprintf(right, sizeof(right), "%s  every %s  %s", d->status->state,
                   word_duration(d->status->interval_ms, interval), clock);
    write_both(&d->lines[0], TOP_BOLD, d->width, left, right);
}

/* "2 locks, 1 held, 3+ waiting, longest 4m12s". */
static void draw_totals(const struct drawing *d)
{
    const struct top_totals *t = &d->model->totals;
    bool waits = t->longest_wait_ms >= 0;
    char left[200];
    char right[100];
    char word[WORD_MAX] = "";

    if (d->model->scan.at_ms == 0) {
        write_line(&d->lines[1], TOP_PLAIN, d->width, "looking...");
        return;
    }
    if (waits)
        (void)word_age(t->longest_wait_ms, word);
    (void)snprintf(
        left, sizeof(left), "%zu lock%s, %zu held, %zu%s waiting%s%s",
        d->model->scan.count, word_plural(d->model->scan.count), t->held,
        t->waiters, t->more ? "+" : "", waits ? ", longest " : "", word);
    (void)snprintf(right, sizeof(right), "look %s",
                   word_duration(d->status->took_ms, word));
    if (grid_width(left) + 2 + grid_width(right) > d->width)
        right[0] = '\0';
    write_both(&d->lines[1], TOP_PLAIN, d->width, left, right);
}

/* Above its queue. */
static void draw_lock(const struct drawing *d)
{
    const struct lock *lock = top_view_lock(d->view, d->model);
    char path[GRID_CELL_MAX];
    char whole[PATH_TEXT_MAX];
    char rest[300] = "";
    char queue[QUEUE_MAX];

    if (lock == NULL) {
        write_line(&d->lines[1], TOP_PLAIN, d->width,
                   "nobody uses this lock now");
        return;
    }
    (void)snprintf(
        rest, sizeof(rest), "%s (%s)  %s  %s", zkr__lock_kind_name(lock->kind),
        zkr__dialect_name(lock->dialect), lock_state_name(lock->state),
        cell_queue(lock, lock->cut, queue));
    grid_cut(cell_path(lock->path, whole), d->width - grid_width(rest) - 2,
             true, path);
    write_line(&d->lines[1], TOP_BOLD, d->width, "%s  %s", path, rest);
}

/* A look under way is shown only when it takes long. */
static bool is_late(const struct drawing *d)
{
    enum { LATE_MS = 2000 };
    int64_t took_ms = d->status->took_ms;
    int64_t pause = d->status->interval_ms > 2 * took_ms
                        ? d->status->interval_ms
                        : 2 * took_ms;

    return d->model->scan.at_ms != 0 &&
           d->status->now_ms - d->model->scan.at_ms > pause + took_ms + LATE_MS;
}

/* Returns why the picture is old, or NULL when it is not. */
static const char *trouble(const struct drawing *d)
{
    const struct top_status *status = d->status;

    if (!status->is_connected)
        return status->state;
    if (status->error[0] != '\0')
        return status->error;
    return is_late(d) ? "no answer yet" : NULL;
}

static void draw_trouble(const struct drawing *d, const char *why)
{
    char age[WORD_MAX];

    if (d->model->scan.at_ms == 0)
        write_line(&d->lines[2], TOP_BAD, d->width, "NOTHING SEEN YET: %s",
                   why);
    else
        write_line(&d->lines[2], TOP_BAD, d->width, "STALE, %s old: %s",
                   word_age(d->status->now_ms - d->model->scan.at_ms, age),
                   why);
}

/* Describes how the list was made. */
static void draw_order(const struct drawing *d)
{
    const struct top_view *view = d->view;
    char typed[sizeof(view->filter) * 4];
    char filter[sizeof(typed) + 40] = "";
    char note[GRID_CELL_MAX] = "";

    if (view->filter[0] != '\0')
        (void)snprintf(filter, sizeof(filter), ", %zu with \"%s\"",
                       d->model->shown_count,
                       escape_string(view->filter, typed, sizeof(typed)));
    if (d->model->scan.notes.count > 0)
        (void)snprintf(note, sizeof(note), "  note: %.1000s",
                       d->model->scan.notes.texts[0]);
    if (view->mode == TOP_MODE_LOCKS)
        write_line(&d->lines[2], TOP_PLAIN, d->width, "sorted by %s%s%s%s",
                   lock_fields[view->sort].column,
                   view->reversed ? " reversed" : "", filter, note);
    else
        write_line(&d->lines[2], TOP_PLAIN, d->width, "%s",
                   note[0] == '\0' ? note : note + 2);
}

static void draw_head(const struct drawing *d)
{
    const char *why = trouble(d);

    if (d->view->mode == TOP_MODE_QUEUE)
        draw_lock(d);
    else
        draw_totals(d);
    if (why != NULL)
        draw_trouble(d, why);
    else
        draw_order(d);
}

/* --- the list --- */

/* One at a time. */
static const void *item_at(const struct drawing *d, size_t i)
{
    static struct contender_row row;
    const struct lock *lock = top_view_lock(d->view, d->model);

    if (d->view->mode == TOP_MODE_OWNERS)
        return &d->model->owners.items[i];
    if (d->view->mode == TOP_MODE_LOCKS)
        return d->model->shown[i];
    row = contender_row(lock, &lock->items[i], NULL);
    return &row;
}

static enum top_style style_of(enum top_mode mode, const void *item)
{
    const struct lock *lock = item;

    if (mode == TOP_MODE_OWNERS)
        return ((const struct top_owner *)item)->waiters > 0 ? TOP_BOLD
                                                             : TOP_PLAIN;
    if (mode == TOP_MODE_QUEUE) {
        const struct zkr_participant *p =
            ((const struct contender_row *)item)->node;

        return p->kind == ZKR_PARTICIPANT_FOREIGN ? TOP_DIM
               : p->holds                         ? TOP_GOOD
                                                  : TOP_PLAIN;
    }
    return lock->state == LOCK_UNKNOWN ? TOP_BAD
           : lock->waiters > 0         ? TOP_BOLD
           : lock->holders == 0        ? TOP_DIM
                                       : TOP_PLAIN;
}

/* Draws the part of a list that fits on the page. */
static void draw_list(const struct drawing *d, struct grid *grid, size_t page)
{
    enum top_mode mode = d->view->mode;
    const struct top_cursor *cursor = &d->view->cursors[mode];
    size_t count = top_view_count(d->view, d->model, mode);
    size_t end = cursor->first + page < count ? cursor->first + page : count;
    struct top_line *line = &d->lines[HEADS];

    grid_take(grid, NULL);
    for (size_t i = cursor->first; i < end; i++) {
        grid_take(grid, item_at(d, i));
        line[1 + i - cursor->first].style =
            i == cursor->at ? TOP_CURSOR : style_of(mode, item_at(d, i));
    }
    grid_fit(grid, d->width);
    line->style = TOP_BAR;
    for (size_t i = cursor->first; i <= end; i++)
        write_row(line++, grid, i - cursor->first);
    grid_forget(grid);
}

/* --- help and keys --- */

static void draw_help(const struct drawing *d, int count)
{
    static const char *const text[] = {
        "Up Down j k  PgUp PgDn  Home End g G",
        "             move; the cursor follows its lock, but on the first line",
        "             it stays",
        "Enter        the queue of the lock: who holds, who waits for whom",
        "Esc q        back; Esc also ends a filter, q at last the program",
        "s > <        sort by the next, or the previous column",
        "r            the other way round",
        "/            only locks and holders with this text; Enter keeps it",
        "o            the owners, by the locks they hold; Enter: those of one",
        "R            ask the holder to give the lock back: zk-lockctl revoke",
        "K            break the lock, the last resort: zk-lockctl break",
        "Space        look now",
        "h ?          this help",
        "HELD         at most: since the node was made",
        "LONGEST      how long the one that waits longest has waited",
        "TOKEN        fencing token of the holder, for break --token",
    };

    for (int i = 0; i < count && i < COUNT(text); i++)
        write_line(&d->lines[2 + i], TOP_PLAIN, d->width, "%s", text[i]);
}

/* The most important keys are first: a narrow screen cuts the rest. */
static void draw_hints(const struct drawing *d, struct top_line *line)
{
    write_line(line, TOP_BAR, d->width, "%s",
               d->view->mode == TOP_MODE_LOCKS
                   ? "q quit  ? help  Enter queue  / filter  s sort  R ask  "
                     "K break  Space now"
                   : "q back  ? help  R ask  K break  Space now");
}

/* Draws the filter while it is being typed. */
static void draw_filter(const struct drawing *d, struct top_line *line)
{
    char filter[sizeof(d->view->filter) * 4];
    char text[sizeof(filter) + 16];

    (void)snprintf(text, sizeof(text), "/%s_",
                   escape_string(d->view->filter, filter, sizeof(filter)));
    write_both(line, TOP_BAR, d->width, text, "Enter keep  Esc clear");
}

/* The servers are not asked for them. */
static void drop_clients(struct grid *grid)
{
    size_t n = 0;

    for (size_t i = 0; i < grid->count; i++) {
        if (grid->columns[i]->in == offsetof(struct contender_row, client))
            continue;
        grid->wanted[n] = grid->wanted[i];
        grid->columns[n++] = grid->columns[i];
    }
    grid->count = n;
}

void top_picture_resize(struct top_picture *p, struct top_size size)
{
    top_picture_done(p);
    if (size.height < HEAD_LINES + FOOT_LINES + 1)
        size.height = HEAD_LINES + FOOT_LINES + 1;
    if (size.width < 1)
        size.width = 1;
    p->size = size;
    p->lines = enough(calloc((size_t)size.height, sizeof(*p->lines)));
    grid_start(&p->grids[TOP_MODE_OWNERS], top_owner_fields, true);
    grid_start(&p->grids[TOP_MODE_LOCKS], top_fields(), true);
    grid_start(&p->grids[TOP_MODE_QUEUE], contender_fields, true);
    drop_clients(&p->grids[TOP_MODE_QUEUE]);
}

size_t top_picture_page(const struct top_picture *p)
{
    return (size_t)(p->size.height - HEAD_LINES - FOOT_LINES);
}

void top_picture_draw(struct top_picture *p, const struct top_view *view,
                      const struct top_model *model,
                      const struct top_status *status)
{
    const struct drawing d = { p->lines, p->size.width, view, model, status };
    struct top_line *last = &p->lines[p->size.height - 1];

    memset(p->lines, 0, (size_t)p->size.height * sizeof(*p->lines));
    draw_title(&d);
    if (view->mode == TOP_MODE_HELP) {
        draw_help(&d, p->size.height - 2 - FOOT_LINES);
    } else {
        draw_head(&d);
        draw_list(&d, &p->grids[view->mode], top_picture_page(p));
    }
    if (view->typing)
        draw_filter(&d, last);
    else if (view->said != NULL)
        write_line(last, TOP_BAD, d.width, "%s", view->said);
    else
        draw_hints(&d, last);
}

void top_picture_done(struct top_picture *p)
{
    free(p->lines);
    *p = (struct top_picture){ .lines = NULL };
}
