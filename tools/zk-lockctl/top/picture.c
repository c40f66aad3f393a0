/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the screen of top as lines of text: a head of three lines, a list of
 * locks or of the queue of one, and the keys. */
#include "top/picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/plain.h"
#include "text/cells.h"

#define COUNT(items) ((int)(sizeof(items) / sizeof((items)[0])))

enum { HEADS = 3, HEAD_LINES, FOOT_LINES = 1 };

/* The data from which the parts of one picture are drawn. */
struct drawing {
    struct top_line *lines;
    int width;
    const struct top_view *view;
    const struct top_model *model;
    const struct top_status *status;
};

/* --- a line --- */

/* Cut to the width of the screen. */
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

/* --- the head: ensemble, totals, what is wrong --- */

static void draw_title(const struct drawing *d)
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
    write_both(&d->lines[0], TOP_BOLD, d->width, left, right);
}

static void draw_totals(const struct drawing *d)
{
    char left[TOP_TOTALS_MAX];
    char right[100];
    char word[WORD_MAX];

    if (d->model->at_ms == 0) {
        write_line(&d->lines[1], TOP_PLAIN, d->width, "looking...");
        return;
    }
    (void)top_model_say_totals(d->model, left);
    (void)snprintf(right, sizeof(right), "%zu grants/min  look %s",
                   d->model->totals.grants,
                   word_duration(d->status->took_ms, word));
    if (grid_width(left) + 2 + grid_width(right) > d->width)
        right[0] = '\0';
    write_both(&d->lines[1], TOP_PLAIN, d->width, left, right);
}

/* Above its queue. */
static void draw_lock(const struct drawing *d)
{
    const struct top_row *row = top_view_row(d->view, d->model);
    char path[GRID_CELL_MAX];
    char rest[300] = "";
    char queue[WORD_MAX];
    const struct lock *lock;

    if (row == NULL) {
        write_line(&d->lines[1], TOP_PLAIN, d->width,
                   "nobody has used this lock for a minute");
        return;
    }
    lock = &row->view.lock;
    (void)snprintf(rest, sizeof(rest), "%s (%s)  %s  %s", kind_name(lock->kind),
                   dialect_name(lock->dialect), lock_state_name(lock->state),
                   cell_queue(lock, lock->cut, queue));
    grid_cut(row->path, d->width - grid_width(rest) - 2, true, path);
    write_line(&d->lines[1], TOP_BOLD, d->width, "%s  %s", path, rest);
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
        write_line(&d->lines[2], begins ? TOP_PLAIN : TOP_BAD, d->width,
                   "NOTHING SEEN YET: %s", why);
    else
        write_line(&d->lines[2], TOP_BAD, d->width, "STALE, %s old: %s",
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
        write_line(&d->lines[2], TOP_PLAIN, d->width, "sorted by %s%s%s%s",
                   top_key_name(view->sort), view->reversed ? " reversed" : "",
                   filter, note);
    else
        write_line(&d->lines[2], TOP_PLAIN, d->width, "%s",
                   note[0] == '\0' ? note : note + 2);
}

static void draw_head(const struct drawing *d)
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

/* --- rows of a list --- */

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
/* clang-format on */

/* A list of locks (`lock` is NULL), or the queue of one. */
struct list {
    struct grid *grid;
    size_t count;
    const struct top_cursor *cursor;
    size_t mark; /* the column that it is sorted by; SIZE_MAX: none */
    const struct top_row *const *rows;
    const struct lock *lock;
    const struct told *told;
};

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
    if (list->lock != NULL)
        queue_cells(list, i, room, cells);
    else
        top_row_cells(list->rows[i], room, cells);
}

static enum top_style style_of(const struct list *list, size_t i)
{
    const struct lock *lock;

    if (i == list->cursor->at)
        return TOP_CURSOR;
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

static void draw_names(struct top_line *line, const struct grid *grid)
{
    const char *names[GRID_MAX];

    for (size_t i = 0; i < grid->count; i++)
        names[i] = grid->columns[i].name;
    *line = (struct top_line){ .style = TOP_BAR };
    grid_line(grid, names, line->text);
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
    draw_names(names, list->grid);
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

/* --- the keys: the bottom line, and the help --- */

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
        "R            ask the holder to give the lock back; it asks you first",
        "K            break the lock, the last resort; asks for the token",
        "Space        look now",
        "+ -          look less often, more often",
        "h ?          this help",
        "",
        "HELD         at most: since the node was made, or first seen to hold",
        "LONGEST      how long the one that waits longest has waited",
        "GRANTS       of the last minute, as far as looks have seen them:",
        "             between two of them there may be more",
        "TOKEN        fencing token of the holder, for break --token",
        "CLIENT WATCH as the servers tell; MISSING: it will not wake up",
        "A lock that nobody uses any more is shown as free for a minute.",
    };

    for (int i = 0; i < count && i < COUNT(text); i++)
        write_line(&d->lines[2 + i], TOP_PLAIN, d->width, "%s", text[i]);
}

/* clang-format off */
static const struct grid_column lock_hints[] = {
    { .name = "Enter queue ", .width = 12, .rank = 2 },
    { .name = "/ filter ", .width = 9, .rank = 3 },
    { .name = "s sort ", .width = 7, .rank = 4 },
    { .name = "R ask ", .width = 6, .rank = 5 },
    { .name = "K break ", .width = 8, .rank = 6 },
    { .name = "Space now ", .width = 10, .rank = 7 },
    { .name = "r reverse ", .width = 10, .rank = 8 },
    { .name = "+- interval ", .width = 12, .rank = 9 },
    { .name = "? help ", .width = 7, .rank = 1 },
    { .name = "q quit", .width = 6, .rank = 0 },
};

static const struct grid_column other_hints[] = {
    { .name = "R ask ", .width = 6, .rank = 2 },
    { .name = "K break ", .width = 8, .rank = 3 },
    { .name = "Space now ", .width = 10, .rank = 4 },
    { .name = "+- interval ", .width = 12, .rank = 5 },
    { .name = "? help ", .width = 7, .rank = 1 },
    { .name = "q back", .width = 6, .rank = 0 },
};
/* clang-format on */

static void draw_hints(const struct drawing *d, struct top_line *line)
{
    struct grid grid;

    if (d->view->mode == TOP_MODE_LOCKS)
        grid_start(&grid, lock_hints, COUNT(lock_hints));
    else
        grid_start(&grid, other_hints, COUNT(other_hints));
    grid_fit(&grid, d->width);
    draw_names(line, &grid);
}

/* Draws the filter while it is being typed. */
static void draw_filter(const struct drawing *d, struct top_line *line)
{
    char filter[sizeof(d->view->filter) * 16];
    char text[sizeof(filter) + 16];

    (void)snprintf(text, sizeof(text), "/%s_",
                   plain_escape(d->view->filter, filter, sizeof(filter)));
    write_both(line, TOP_BAR, d->width, text, "Enter keep  Esc clear");
}

/* --- the question in front of the list --- */

/* Returns how many bytes of a word, which is too long, fit. */
static size_t fitting(const char *word, size_t size, int width)
{
    char part[GRID_CELL_MAX];

    while (size > 0) {
        (void)snprintf(part, sizeof(part), "%.*s", (int)size, word);
        if (((unsigned char)word[size] & 0xc0u) != 0x80u &&
            grid_width(part) <= width)
            break;
        size--;
    }
    return size;
}

/* Copies as many words as fit into `line`, or a part of one; returns the
 * rest, which is all of it when there is no room at all. */
static const char *wrap(const char *text, int width, char line[GRID_CELL_MAX])
{
    char longer[GRID_CELL_MAX];
    size_t used = 0;

    while (text[used] != '\0') {
        size_t end = used + strspn(text + used, " ");

        end += strcspn(text + end, " ");
        (void)snprintf(longer, sizeof(longer), "%.*s", (int)end, text);
        if (grid_width(longer) > width) {
            used = used > 0 ? used : fitting(text, end, width);
            break;
        }
        used = end;
    }
    (void)snprintf(line, GRID_CELL_MAX, "%.*s", (int)used, text);
    return text + used + (used > 0 ? strspn(text + used, " ") : 0);
}

/* One of its lines; returns false when the page has no room for all of it. */
static bool draw_wrapped(const struct drawing *d, const char *text, size_t page,
                         size_t *y)
{
    enum top_style style = strstr(text, "DANGER") != NULL ? TOP_BAD : TOP_PLAIN;
    const char *indent = "";
    char line[GRID_CELL_MAX];

    while (*text != '\0') {
        const char *rest = wrap(text, d->width - (int)strlen(indent), line);

        if (*y == page || rest == text)
            return false;
        write_line(&d->lines[HEAD_LINES + (*y)++], style, d->width, "%s%s",
                   indent, line);
        text = rest;
        indent = "    ";
    }
    return true;
}

static bool draw_dialog(const struct drawing *d, size_t page)
{
    const struct notes *lines = &d->view->dialog.lines;
    bool is_whole = true;
    size_t y = 0;

    for (size_t i = 0; i < lines->count && is_whole; i++)
        is_whole = draw_wrapped(d, lines->texts[i], page, &y);
    return is_whole;
}

/* There is no question without what it is about. */
static void draw_prompt(const struct drawing *d, struct top_line *line,
                        bool is_whole)
{
    char prompt[DIALOG_PROMPT_MAX];

    dialog_prompt(&d->view->dialog, prompt);
    write_line(line, TOP_BAR, d->width, "%s",
               is_whole ? prompt
                        : "this does not fit: enlarge the terminal, or Esc");
}

static void draw_said(const struct drawing *d, struct top_line *line)
{
    char plain[EXPLAINED_MAX * 4];

    write_line(line, d->view->said.code == 0 ? TOP_GOOD : TOP_BAD, d->width,
               "%s", plain_copy(d->view->said.text, plain, sizeof(plain)));
}

/* --- all of it --- */

bool top_picture_resize(struct top_picture *p, struct top_size size)
{
    top_picture_done(p);
    if (size.height < HEAD_LINES + FOOT_LINES + 1)
        size.height = HEAD_LINES + FOOT_LINES + 1;
    if (size.width < 1)
        size.width = 1;
    p->size = size;
    p->lines = calloc((size_t)size.height, sizeof(*p->lines));
    grid_start(&p->locks, lock_columns, TOP_LOCK_CELLS);
    grid_start(&p->queue, queue_columns, QUEUE_CELLS);
    return p->lines != NULL;
}

size_t top_picture_page(const struct top_picture *p)
{
    return (size_t)(p->size.height - HEAD_LINES - FOOT_LINES);
}

static void draw_page(struct top_picture *p, const struct drawing *d)
{
    struct list list = d->view->mode == TOP_MODE_QUEUE ? list_of_queue(p, d)
                                                       : list_of_locks(p, d);

    draw_head(d);
    draw_list(d, &list, top_picture_page(p));
}

void top_picture_draw(struct top_picture *p, const struct top_view *view,
                      const struct top_model *model,
                      const struct top_status *status)
{
    const struct drawing d = { p->lines, p->size.width, view, model, status };
    struct top_line *last = &p->lines[p->size.height - 1];

    memset(p->lines, 0, (size_t)p->size.height * sizeof(*p->lines));
    draw_title(&d);
    p->shows_dialog = false;
    if (dialog_path(&view->dialog) != NULL) {
        draw_head(&d);
        p->shows_dialog = draw_dialog(&d, top_picture_page(p));
        draw_prompt(&d, last, p->shows_dialog);
        return;
    }
    if (view->mode == TOP_MODE_HELP)
        draw_help(&d, p->size.height - 2 - FOOT_LINES);
    else
        draw_page(p, &d);
    if (view->typing)
        draw_filter(&d, last);
    else if (view->said.text[0] != '\0')
        draw_said(&d, last);
    else
        draw_hints(&d, last);
}

void top_picture_done(struct top_picture *p)
{
    free(p->lines);
    *p = (struct top_picture){ .lines = NULL };
}
