/* SPDX-License-Identifier: Apache-2.0 */
/* Prints tables for people, as wide as the terminal. The grid decides
 * which columns have room, as in top; libsmartcols prints them. */
#include "text/aligned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <libsmartcols/libsmartcols.h>

#include "common/plain.h"
#include "text/envelope.h"
#include "text/grid.h"

enum {
    COLUMNS_MAX = 32,
    CELL_MAX = 4 * 4 * ZKR_PATH_MAX + 1, /* a path, escaped, twice */
    TERMINAL_WIDTH = 80,                 /* of one that does not say */
};

struct row {
    char **cells; /* of the chosen columns */
    enum style style;
};

struct table {
    const struct lockctl *ctl;
    const struct column *columns;
    size_t chosen[COLUMNS_MAX]; /* which of them, in this order */
    int widths[COLUMNS_MAX];    /* on the screen; 0: no room */
    size_t count;
    struct row *rows;
    size_t row_count;
    size_t row_room;
};

static const struct column *column_at(const struct table *t, size_t i)
{
    return &t->columns[t->chosen[i]];
}

/* --- which columns --- */

static size_t find_column(const struct column *columns, size_t count,
                          const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(columns[i].name) == len &&
            strncasecmp(columns[i].name, name, len) == 0)
            return i;
    }
    return SIZE_MAX;
}

static int fail_column(const struct column *columns, size_t count)
{
    char names[512] = "";
    size_t used = 0;

    for (size_t i = 0; i < count && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                 i == 0 ? "" : ",", columns[i].name);
    return lockctl_fail(EX_USAGE, "--columns: choose from %s", names);
}

/* "A,B", or "+A,B": these too. */
static int choose(struct table *t, const char *list, size_t count)
{
    if (list != NULL && list[0] == '+')
        list++;
    else if (list != NULL)
        t->count = 0;
    while (list != NULL && *list != '\0') {
        size_t len = strcspn(list, ",");
        size_t i = find_column(t->columns, count, list, len);

        if (i == SIZE_MAX || t->count == COLUMNS_MAX)
            return fail_column(t->columns, count);
        t->chosen[t->count++] = i;
        list += len + (list[len] == ',');
    }
    return t->count > 0 ? 0 : fail_column(t->columns, count);
}

/* --- rows --- */

int table_new(const struct lockctl *ctl, const struct column *columns,
              size_t count, struct table **ret_table)
{
    struct table *t;
    int code;

    if (ctl->format == FORMAT_DOT)
        return lockctl_fail(EX_USAGE, "-o dot is for deadlocks");
    t = calloc(1, sizeof(*t));
    if (t == NULL)
        return lockctl_fail_error(ZKR_ENOMEM, "");
    t->ctl = ctl;
    t->columns = columns;
    for (size_t i = 0; i < count && i < COLUMNS_MAX; i++) {
        if (!columns[i].wide || ctl->format != FORMAT_TABLE)
            t->chosen[t->count++] = i;
    }
    code = choose(t, ctl->columns, count);
    if (code != 0) {
        free(t);
        return code;
    }
    *ret_table = t;
    return 0;
}

static void free_cells(const struct table *t, struct row *row)
{
    for (size_t k = 0; k < t->count; k++)
        free(row->cells[k]);
    free(row->cells);
}

static struct row *add_row(struct table *t)
{
    struct row row = { .cells = calloc(t->count, sizeof(*row.cells)) };

    if (row.cells != NULL && t->row_count == t->row_room) {
        size_t room = t->row_room == 0 ? 16 : t->row_room * 2;
        struct row *grown = realloc(t->rows, room * sizeof(*grown));

        if (grown == NULL) {
            free(row.cells);
            return NULL;
        }
        t->rows = grown;
        t->row_room = room;
    }
    if (row.cells == NULL)
        return NULL;
    t->rows[t->row_count] = row;
    return &t->rows[t->row_count++];
}

bool table_row(struct table *t, const char *const *cells, enum style style)
{
    char plain[CELL_MAX];
    struct row *row;

    row = add_row(t);
    if (row == NULL)
        return false;
    row->style = style;
    for (size_t i = 0; i < t->count; i++) {
        const char *cell = cells[t->chosen[i]];

        if (cell == NULL || cell[0] == '\0')
            cell = "-";
        row->cells[i] = strdup(plain_text(cell, plain, sizeof(plain)));
        if (row->cells[i] == NULL) {
            free_cells(t, row);
            t->row_count--;
            return false;
        }
    }
    return true;
}

static void free_table(struct table *t)
{
    for (size_t i = 0; i < t->row_count; i++)
        free_cells(t, &t->rows[i]);
    free(t->rows);
    free(t);
}

/* --- how wide --- */

static void measure(struct table *t)
{
    for (size_t k = 0; k < t->count; k++) {
        t->widths[k] = grid_width(column_at(t, k)->name);
        for (size_t i = 0; i < t->row_count; i++) {
            int width = grid_width(t->rows[i].cells[k]);

            t->widths[k] = width > t->widths[k] ? width : t->widths[k];
        }
    }
}

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
        const struct column *c = column_at(t, i);
        bool cuttable = c->narrow > 0 && t->widths[i] > c->narrow;

        wanted[i] = (struct grid_column){
            .name = c->name,
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
                                 used == 0 ? "" : ", ", column_at(t, i)->name);
    }
    if (used > 0 && !said)
        lockctl_say(t->ctl, "note: no room for %s; -o wide has all columns",
                    names);
    said = said || used > 0;
}

/* A user who asks for columns gets all of them, uncut. */
static bool fits_terminal(const struct table *t)
{
    return t->ctl->format == FORMAT_TABLE && t->ctl->columns == NULL &&
           t->count <= GRID_MAX && isatty(STDOUT_FILENO) == 1;
}

/* --- printing --- */

/* The widths are ours: libsmartcols shall cut nothing, and wrap nothing. The
 * cells are escaped already: it must not do that again. */
static struct libscols_table *new_scols(const struct table *t)
{
    struct libscols_table *scols = scols_new_table();
    size_t width = 1;

    for (size_t i = 0; scols != NULL && i < t->count; i++) {
        if (t->widths[i] == 0)
            continue;
        width += (size_t)t->widths[i] + 1;
        if (scols_table_new_column(scols, column_at(t, i)->name, 1,
                                   column_at(t, i)->right ? SCOLS_FL_RIGHT
                                                          : 0) == NULL) {
            scols_unref_table(scols);
            return NULL;
        }
    }
    if (scols != NULL &&
        (scols_table_enable_noencoding(scols, 1) != 0 ||
         scols_table_enable_colors(scols, output_wants_color(t->ctl)) != 0 ||
         scols_table_set_termwidth(scols, width) != 0)) {
        scols_unref_table(scols);
        return NULL;
    }
    return scols;
}

static bool add_line(const struct table *t, const struct row *row,
                     struct libscols_table *scols)
{
    static const char *const colors[] = {
        [STYLE_PLAIN] = NULL,
        [STYLE_DIM] = "\033[2m",
        [STYLE_GOOD] = "green",
        [STYLE_BAD] = "red",
    };
    struct libscols_line *line = scols_table_new_line(scols, NULL);
    size_t shown = 0;

    if (line == NULL || scols_line_set_color(line, colors[row->style]) != 0)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        const char *text = row->cells[i];
        char cut[GRID_CELL_MAX];

        if (t->widths[i] == 0)
            continue;
        if (grid_width(text) > t->widths[i]) {
            grid_cut(text, t->widths[i], column_at(t, i)->tail, cut);
            text = cut;
        }
        if (scols_line_set_data(line, shown++, text) != 0)
            return false;
    }
    return true;
}

static bool print_all(const struct table *t)
{
    struct libscols_table *scols = new_scols(t);
    bool done = scols != NULL;

    for (size_t i = 0; done && i < t->row_count; i++)
        done = add_line(t, &t->rows[i], scols);
    done = done && scols_print_table(scols) == 0;
    scols_unref_table(scols);
    return done;
}

int table_end(struct table *t)
{
    bool done = true;

    if (t->row_count > 0) {
        measure(t);
        if (fits_terminal(t))
            fit(t, terminal_width());
        done = print_all(t);
        if (fflush(stdout) == 0)
            say_hidden(t);
    }
    free_table(t);
    return done && ferror(stdout) == 0
               ? 0
               : lockctl_fail(EX_IOERR, "cannot write the output");
}

int table_rows(struct table *table, table_row_fn *row, const void *of,
               size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!row(table, of, i))
            return lockctl_fail_error(ZKR_ENOMEM, "");
    }
    return 0;
}

int table_print(const struct lockctl *ctl, const struct column *columns,
                size_t column_count, table_row_fn *row, const void *of,
                size_t count)
{
    struct table *table;
    int code = table_new(ctl, columns, column_count, &table);
    int ended;

    if (code != 0)
        return code;
    code = table_rows(table, row, of, count);
    ended = table_end(table);
    return code != 0 ? code : ended;
}
