/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the screen of top as lines of text: a head of three lines, a list of
 * locks or of the queue of one, and the keys. */
#include "top/top.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "text/lock_fields.h"

enum { HEADS = 3, HEAD_LINES, FOOT_LINES = 1 };

/* --- a line --- */

/* A text, cut to the width of the screen. */
__attribute__((format(printf, 4, 5))) static void
write_line(const struct top *t, int y, enum top_style style, const char *format,
           ...)
{
    char text[GRID_CELL_MAX];
    char line[GRID_CELL_MAX];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    grid_cut(text, t->width, false, line);
    t->paint(y, style, line);
}

/* A row of a table. */
static void write_row(const struct top *t, int y, enum top_style style,
                      size_t row)
{
    char text[GRID_CELL_MAX] = "";
    FILE *out = fmemopen(text, sizeof(text) - 1, "w");

    if (out == NULL)
        return;
    grid_write(&t->lists[t->mode].grid, row, out);
    (void)fclose(out);
    t->paint(y, style, text);
}

/* --- the head: the ensemble, totals, what is wrong --- */

/* The servers may be many: they are last, and cut. */
static void draw_title(const struct top *t)
{
    char clock[WORD_MAX] = "";

    if (t->scan.at_ms != 0)
        (void)word_clock(t->scan.at_ms, clock);
    write_line(t, 0, TOP_BOLD, "zk-lockctl top  %s  %s  %s", t->state, clock,
               t->ensemble);
}

/* "2 locks, 1 held, 3+ waiting, longest 4m12s". */
static void draw_totals(const struct top *t)
{
    const struct scan *scan = &t->scan;
    size_t held = 0;
    size_t waiters = 0;
    int64_t longest_ms = -1;
    bool more = scan->cut; /* not all are counted */
    char word[WORD_MAX] = "";

    if (scan->at_ms == 0) {
        write_line(t, 1, TOP_PLAIN, "looking...");
        return;
    }
    for (size_t i = 0; i < scan->count; i++) {
        const struct lock *lock = &scan->locks[i];

        held += lock->holders > 0;
        waiters += lock->waiters;
        more = more || lock->cut;
        if (lock->waiters > 0 && lock->longest_wait_ms > longest_ms)
            longest_ms = lock->longest_wait_ms;
    }
    if (longest_ms >= 0)
        (void)word_age(longest_ms, word);
    write_line(t, 1, TOP_PLAIN, "%zu lock%s, %zu held, %zu%s waiting%s%s",
               scan->count, word_plural(scan->count), held, waiters,
               more ? "+" : "", longest_ms >= 0 ? ", longest " : "", word);
}

/* Above its queue. */
static void draw_lock(const struct top *t)
{
    const struct lock *lock = top_lock(t);
    char path[GRID_CELL_MAX];
    char whole[PATH_TEXT_MAX];
    char rest[300] = "";
    char queue[QUEUE_MAX];

    if (lock == NULL) {
        write_line(t, 1, TOP_PLAIN, "nobody uses this lock now");
        return;
    }
    (void)snprintf(
        rest, sizeof(rest), "%s (%s)  %s  %s", zkr__lock_kind_name(lock->kind),
        zkr__dialect_name(lock->dialect), lock_state_name(lock->state),
        cell_queue(lock, lock->cut, queue));
    grid_cut(cell_path(lock->path, whole), t->width - grid_width(rest) - 2,
             true, path);
    write_line(t, 1, TOP_BOLD, "%s  %s", path, rest);
}

/* Returns why the picture is old, or NULL when it is not. */
static const char *trouble(const struct top *t)
{
    if (!t->is_connected)
        return t->state;
    return t->error[0] != '\0' ? t->error : NULL;
}

static void draw_trouble(const struct top *t, const char *why)
{
    char age[WORD_MAX];

    if (t->scan.at_ms == 0)
        write_line(t, 2, TOP_BAD, "NOTHING SEEN YET: %s", why);
    else
        write_line(t, 2, TOP_BAD, "STALE, %s old: %s",
                   word_age(t->now_ms - t->scan.at_ms, age), why);
}

/* Describes how the list was made. */
static void draw_order(const struct top *t)
{
    char typed[sizeof(t->filter) * 4];
    char filter[sizeof(typed) + 40] = "";
    char note[GRID_CELL_MAX] = "";

    if (t->filter[0] != '\0')
        (void)snprintf(filter, sizeof(filter), ", %zu with \"%s\"", t->count,
                       escape_string(t->filter, typed, sizeof(typed)));
    if (t->scan.notes.count > 0)
        (void)snprintf(note, sizeof(note), "  note: %.1000s",
                       t->scan.notes.texts[0]);
    if (t->mode == TOP_LOCKS)
        write_line(t, 2, TOP_PLAIN, "sorted by %s%s%s%s",
                   lock_fields[t->sort].column, t->reversed ? " reversed" : "",
                   filter, note);
    else
        write_line(t, 2, TOP_PLAIN, "%s", note[0] == '\0' ? note : note + 2);
}

static void draw_head(const struct top *t)
{
    const char *why = trouble(t);

    if (t->mode == TOP_QUEUE)
        draw_lock(t);
    else
        draw_totals(t);
    if (why != NULL)
        draw_trouble(t, why);
    else
        draw_order(t);
}

/* --- the columns of the lists --- */

static const char *held_by_owner(const void *item, char room[FIELD_ROOM])
{
    return cell_at_most(((const struct top_owner *)item)->held_ms, room);
}

/* clang-format off */
static const struct field owner_columns[] = {
    { "OWNER", NULL, FIELD_CHARS, .at = AT(top_owner, who), .rank = 0, .narrow = 24 },
    { "LOCKS", NULL, FIELD_COUNT, .at = AT(top_owner, locks), .rank = 1, .right = true },
    { "HELD", .text = held_by_owner, .rank = 3, .right = true },
    { "WAIT", NULL, FIELD_COUNT, .at = AT(top_owner, waiters), .rank = 2, .right = true },
    { "LONGEST", NULL, FIELD_MS, .at = AT(top_owner, longest_ms), .rank = 4, .right = true },
    { .key = NULL },
};
/* clang-format on */

/* Those of ls, but the longest wait is as important as the others; those of
 * show, but for what the servers are not asked for. */
static void choose_columns(struct grid *grid, enum top_mode mode)
{
    static struct field longest;
    size_t count = 0;

    grid_start(grid,
               mode == TOP_LOCKS   ? lock_fields
               : mode == TOP_QUEUE ? contender_fields
                                   : owner_columns,
               true);
    if (mode == TOP_LOCKS) {
        longest = lock_fields[TOP_LONGEST];
        longest.wide = false;
        grid->columns[TOP_LONGEST] = &longest;
    }
    for (size_t i = 0; i < grid->count; i++) {
        if (mode == TOP_QUEUE && grid->columns[i]->in == AT(contender, client))
            continue;
        grid->wanted[count] = grid->wanted[i];
        grid->columns[count++] = grid->columns[i];
    }
    grid->count = count;
}

/* --- the list --- */

static enum top_style style_of(enum top_mode mode, const void *item)
{
    const struct lock *lock = item;

    if (mode == TOP_OWNERS)
        return ((const struct top_owner *)item)->waiters > 0 ? TOP_BOLD
                                                             : TOP_PLAIN;
    if (mode == TOP_QUEUE) {
        const struct zkr_participant *p =
            ((const struct contender *)item)->node;

        return p->kind == ZKR_PARTICIPANT_FOREIGN ? TOP_DIM
               : p->holds                         ? TOP_GOOD
                                                  : TOP_PLAIN;
    }
    return lock->state == LOCK_UNKNOWN ? TOP_BAD
           : lock->waiters > 0         ? TOP_BOLD
           : lock->holders == 0        ? TOP_DIM
                                       : TOP_PLAIN;
}

/* Draws the part of the list that fits on the page. */
static void draw_list(struct top *t)
{
    struct top_list *l = &t->lists[t->mode];
    size_t end = l->first + top_page(t);
    int y = HEADS;

    if (end > t->count)
        end = t->count;
    if (l->grid.count == 0)
        choose_columns(&l->grid, t->mode);
    grid_take(&l->grid, NULL);
    for (size_t i = l->first; i < end; i++)
        grid_take(&l->grid, t->rows[i]);
    grid_fit(&l->grid, t->width);
    write_row(t, y++, TOP_BAR, 0);
    for (size_t i = l->first; i < end; i++)
        write_row(t, y++,
                  i == l->at ? TOP_CURSOR : style_of(t->mode, t->rows[i]),
                  i - l->first + 1);
    grid_forget(&l->grid);
}

/* --- help and keys --- */

const char top_keys[] =
    "Up Down j k  PgUp PgDn  Home End g G\n"
    "             move; the cursor follows its lock, but on the first line\n"
    "             it stays\n"
    "Enter        the queue of the lock: who holds, who waits for whom\n"
    "Esc q        back; Esc also ends a filter, q at last the program\n"
    "s > <        sort by the next, or the previous column\n"
    "r            the other way round\n"
    "/            only locks whose path, holder or label has this text; Enter "
    "keeps it\n"
    "o            the owners, by the locks they hold; Enter: those of one\n"
    "R            ask the holder to give the lock back: zk-lockctl revoke\n"
    "K            break the lock, the last resort: zk-lockctl break\n"
    "h ?          this help\n"
    "HELD         at most: since the node was made\n"
    "LONGEST      how long the one that waits longest has waited\n"
    "TOKEN        fencing token of the holder, for break --token\n";

static void draw_help(const struct top *t, int end)
{
    const char *line = top_keys;

    for (int y = 2; y < end && *line != '\0'; y++) {
        int len = (int)strcspn(line, "\n");

        write_line(t, y, TOP_PLAIN, "%.*s", len, line);
        line += len + 1;
    }
}

/* The most important keys are first: a narrow screen cuts the rest. */
static void draw_hints(const struct top *t, int y)
{
    write_line(t, y, TOP_BAR, "%s",
               t->mode == TOP_LOCKS && !t->help
                   ? "q quit  ? help  Enter queue  / filter  s sort  R ask  "
                     "K break"
                   : "q back  ? help  R ask  K break");
}

/* Draws the filter while it is being typed. */
static void draw_filter(const struct top *t, int y)
{
    char filter[sizeof(t->filter) * 4];

    write_line(t, y, TOP_BAR, "/%s_  Enter keep  Esc clear",
               escape_string(t->filter, filter, sizeof(filter)));
}

/* A smaller screen has one row of a list, and what is below is not seen. */
static int height_of(const struct top *t)
{
    return t->height > HEAD_LINES + FOOT_LINES ? t->height
                                               : HEAD_LINES + FOOT_LINES + 1;
}

size_t top_page(const struct top *t)
{
    return (size_t)(height_of(t) - HEAD_LINES - FOOT_LINES);
}

void top_draw(struct top *t)
{
    int last = height_of(t) - 1;

    top_settle(t);
    draw_title(t);
    if (t->help) {
        draw_help(t, last);
    } else {
        draw_head(t);
        draw_list(t);
    }
    if (t->typing)
        draw_filter(t, last);
    else if (t->said != NULL)
        write_line(t, last, TOP_BAD, "%s", t->said);
    else
        draw_hints(t, last);
}
