/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows: as tables for people, as wide as the terminal, or as JSON. The
 * grid decides which columns have room, as in top. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/plain.h"
#include "text/envelope.h"
#include "text/fields.h"
#include "text/grid.h"

enum {
    COLUMNS_MAX = 32,
    CELL_MAX = 4 * FIELD_ROOM, /* a path, escaped, twice */
    TERMINAL_WIDTH = 80,       /* of one that does not say */
};

struct table {
    const struct lockctl *ctl;
    const struct field *columns[COLUMNS_MAX]; /* those that were chosen */
    int widths[COLUMNS_MAX];                  /* on the screen; 0: no room */
    size_t count;
    char **cells; /* row by row */
    size_t cell_count;
};

/* --- which columns --- */

static const struct field *find_column(const struct field *f, const char *name,
                                       size_t len)
{
    for (; !field_is_end(f); f++) {
        if (f->column != NULL && strlen(f->column) == len &&
            strncasecmp(f->column, name, len) == 0)
            return f;
    }
    return NULL;
}

static int fail_column(const struct field *fields, const char *name, size_t len)
{
    char names[512] = "";
    char plain[100];
    size_t used = 0;

    for (const struct field *f = fields; !field_is_end(f); f++) {
        if (f->column != NULL && used < sizeof(names))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                     used == 0 ? "" : ",", f->column);
    }
    (void)snprintf(plain, sizeof(plain), "%.*s", (int)(len > 40 ? 40 : len),
                   name);
    return lockctl_fail(EX_USAGE, "--columns: '%s' is none; choose from %s",
                        plain, names);
}

/* "A,B", or "+A,B": these too. */
static int choose(struct table *t, const struct field *fields, const char *list)
{
    bool more = list == NULL || list[0] == '+';

    for (const struct field *f = fields; more && !field_is_end(f); f++) {
        if (f->column != NULL && t->count < COLUMNS_MAX &&
            (!f->wide || t->ctl->format != FORMAT_TABLE))
            t->columns[t->count++] = f;
    }
    if (list == NULL)
        return 0;
    list += more;
    do {
        size_t len = strcspn(list, ",");
        const struct field *f = find_column(fields, list, len);

        if (f == NULL || t->count == COLUMNS_MAX)
            return fail_column(fields, list, len);
        t->columns[t->count++] = f;
        list += len + (list[len] == ',');
    } while (*list != '\0');
    return 0;
}

/* --- cells --- */

/* The names of the columns, and their texts. */
static bool keep_cell(struct table *t, size_t i, const char *text)
{
    char *copy = strdup(text);
    int width = grid_width(text);

    t->cells[t->cell_count] = copy;
    t->cell_count += copy != NULL;
    t->widths[i] = width > t->widths[i] ? width : t->widths[i];
    return copy != NULL;
}

static bool add_row(struct table *t, const void *item)
{
    char room[FIELD_ROOM];
    char plain[CELL_MAX];
    bool done = true;

    for (size_t i = 0; done && i < t->count; i++) {
        const char *text = item == NULL ? t->columns[i]->column
                                        : field_text(t->columns[i], item, room);

        done = keep_cell(
            t, i,
            text[0] == '\0' ? "-" : plain_text(text, plain, sizeof(plain)));
    }
    return done;
}

static void table_done(struct table *t)
{
    while (t->cell_count > 0)
        free(t->cells[--t->cell_count]);
    free(t->cells);
}

/* --- how wide --- */

static int terminal_width(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
               ? size.ws_col
               : TERMINAL_WIDTH;
}

/* A column that may be cut asks for its narrow width, and gets what is left. */
static void fit(struct table *t, int width)
{
    struct grid_column wanted[GRID_MAX];
    struct grid grid;

    for (size_t i = 0; i < t->count; i++) {
        const struct field *c = t->columns[i];
        bool cuttable = c->narrow > 0 && t->widths[i] > c->narrow;

        wanted[i] = (struct grid_column){
            .name = c->column,
            .width = cuttable ? c->narrow : t->widths[i],
            .rank = c->rank,
            .flexible = true,
        };
    }
    grid_start(&grid, wanted, t->count);
    memcpy(grid.wanted, t->widths, t->count * sizeof(*grid.wanted));
    grid_fit(&grid, width);
    memcpy(t->widths, grid.widths, t->count * sizeof(*grid.widths));
}

/* A user who asks for columns gets all of them, uncut. */
static bool fits_terminal(const struct table *t)
{
    return t->ctl->format == FORMAT_TABLE && t->ctl->columns == NULL &&
           t->count <= GRID_MAX && isatty(STDOUT_FILENO) == 1;
}

/* Said once, as top prints table after table. */
static void say_hidden(const struct table *t)
{
    static bool said;
    char names[512] = "";
    size_t used = 0;

    for (size_t i = 0; i < t->count && used < sizeof(names); i++) {
        if (t->widths[i] == 0)
            used +=
                (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                 used == 0 ? "" : ", ", t->columns[i]->column);
    }
    if (used > 0 && !said)
        lockctl_say(t->ctl, "note: no room for %s; -o wide has all columns",
                    names);
    said = said || used > 0;
}

/* --- printing --- */

static const void *item_at(const struct rows *rows, size_t i)
{
    return rows->item != NULL ? rows->item(rows->of, i)
                              : (const char *)rows->of + i * rows->size;
}

static void print_cell(const struct table *t, size_t i, const char *text,
                       bool last)
{
    char cut[GRID_CELL_MAX];
    int spare = t->widths[i] - grid_width(text);
    bool right = t->columns[i]->right;

    if (spare < 0) {
        grid_cut(text, t->widths[i], t->columns[i]->tail, cut);
        text = cut;
        spare = t->widths[i] - grid_width(text);
    }
    (void)printf("%*s%s%*s", right ? spare : 0, "", text,
                 right || last ? 0 : spare, "");
}

static void print_line(const struct table *t, char *const *cells,
                       enum style style)
{
    static const char *const colors[] = {
        [STYLE_PLAIN] = "",
        [STYLE_DIM] = "\033[2m",
        [STYLE_GOOD] = "\033[32m",
        [STYLE_BAD] = "\033[31m",
    };
    bool colored = style != STYLE_PLAIN && output_wants_color(t->ctl);
    size_t last = t->count;
    bool first = true;

    while (last > 0 && t->widths[--last] == 0)
        continue;
    (void)fputs(colored ? colors[style] : "", stdout);
    for (size_t i = 0; i < t->count; i++) {
        if (t->widths[i] == 0)
            continue;
        (void)fputs(first ? "" : " ", stdout);
        print_cell(t, i, cells[i], i == last);
        first = false;
    }
    (void)puts(colored ? "\033[0m" : "");
}

static int print_table(const struct lockctl *ctl, const struct rows *rows)
{
    struct table t = { .ctl = ctl };
    int code = ctl->format == FORMAT_DOT
                   ? lockctl_fail(EX_USAGE, "-o dot is for deadlocks")
                   : choose(&t, rows->fields, ctl->columns);
    bool done;

    if (code != 0)
        return code;
    t.cells = calloc((rows->count + 1) * t.count, sizeof(*t.cells));
    done = t.cells != NULL && add_row(&t, NULL);
    for (size_t i = 0; done && i < rows->count; i++)
        done = add_row(&t, item_at(rows, i));
    if (done && rows->head != NULL)
        rows->head(rows->of);
    if (done && fits_terminal(&t))
        fit(&t, terminal_width());
    for (size_t i = 0; done && rows->count > 0 && i <= rows->count; i++)
        print_line(&t, t.cells + i * t.count,
                   i == 0 || rows->style == NULL
                       ? STYLE_PLAIN
                       : rows->style(item_at(rows, i - 1)));
    if (done && fflush(stdout) == 0)
        say_hidden(&t);
    table_done(&t);
    if (!done)
        return lockctl_fail_error(ZKR_ENOMEM, "");
    return ferror(stdout) == 0
               ? 0
               : lockctl_fail(EX_IOERR, "cannot write the output");
}

static int print_json(const struct lockctl *ctl, const struct rows *rows)
{
    json_t *items = json_array();

    for (size_t i = 0; i < rows->count; i++) {
        if (json_array_append_new(
                items, fields_json(rows->fields, item_at(rows, i))) != 0) {
            json_decref(items);
            return lockctl_fail_error(ZKR_ENOMEM, "");
        }
    }
    return output_json(ctl, rows->kind, rows->at_ms, items, rows->notes);
}

int rows_print(const struct lockctl *ctl, const struct rows *rows)
{
    int code =
        output_is_json(ctl) ? print_json(ctl, rows) : print_table(ctl, rows);

    (void)fflush(stdout);
    if (!rows->silent)
        notes_say(rows->notes, ctl);
    return code;
}
