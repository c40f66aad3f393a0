/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows: as tables for people, as wide as the terminal, or as JSON. The
 * grid decides which columns have room, as in top; libsmartcols keeps the cells
 * and prints them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <libsmartcols/libsmartcols.h>

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
    struct libscols_table *scols;
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

/* The widths are ours: libsmartcols shall cut nothing, and wrap nothing. The
 * cells are escaped already: it must not do that again. */
static bool add_columns(struct table *t)
{
    t->scols = scols_new_table();
    for (size_t i = 0; t->scols != NULL && i < t->count; i++) {
        if (scols_table_new_column(t->scols, t->columns[i]->column, 1,
                                   t->columns[i]->right ? SCOLS_FL_RIGHT : 0) ==
            NULL)
            return false;
        t->widths[i] = grid_width(t->columns[i]->column);
    }
    return t->scols != NULL &&
           scols_table_enable_noencoding(t->scols, 1) == 0 &&
           scols_table_enable_colors(t->scols, output_wants_color(t->ctl)) == 0;
}

static bool add_row(struct table *t, const void *item, enum style style)
{
    static const char *const colors[] = {
        [STYLE_PLAIN] = NULL,
        [STYLE_DIM] = "\033[2m",
        [STYLE_GOOD] = "green",
        [STYLE_BAD] = "red",
    };
    struct libscols_line *line = scols_table_new_line(t->scols, NULL);
    char room[FIELD_ROOM];
    char plain[CELL_MAX];

    if (line == NULL || scols_line_set_color(line, colors[style]) != 0)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        const char *text = field_text(t->columns[i], item, room);
        int width;

        text = text[0] == '\0' ? "-" : plain_text(text, plain, sizeof(plain));
        width = grid_width(text);
        t->widths[i] = width > t->widths[i] ? width : t->widths[i];
        if (scols_line_set_data(line, i, text) != 0)
            return false;
    }
    return true;
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

static bool cut_cell(const struct table *t, struct libscols_line *line,
                     size_t i)
{
    const char *text = scols_cell_get_data(scols_line_get_cell(line, i));
    char cut[GRID_CELL_MAX];

    if (grid_width(text) <= t->widths[i])
        return true;
    grid_cut(text, t->widths[i], t->columns[i]->tail, cut);
    return scols_line_set_data(line, i, cut) == 0;
}

/* Hides the columns without room, and cuts the others. */
static bool shrink(struct table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->widths[i] == 0 &&
            scols_column_set_flags(scols_table_get_column(t->scols, i),
                                   SCOLS_FL_HIDDEN) != 0)
            return false;
        for (size_t k = 0;
             t->widths[i] > 0 && k < scols_table_get_nlines(t->scols); k++) {
            if (!cut_cell(t, scols_table_get_line(t->scols, k), i))
                return false;
        }
    }
    return true;
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

static int print_cells(struct table *t)
{
    size_t width = 1;
    bool done = true;

    if (fits_terminal(t)) {
        fit(t, terminal_width());
        done = shrink(t);
    }
    for (size_t i = 0; i < t->count; i++)
        width += t->widths[i] == 0 ? 0 : (size_t)t->widths[i] + 1;
    done = done && scols_table_set_termwidth(t->scols, width) == 0 &&
           scols_print_table(t->scols) == 0;
    if (fflush(stdout) == 0)
        say_hidden(t);
    return done && ferror(stdout) == 0
               ? 0
               : lockctl_fail(EX_IOERR, "cannot write the output");
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
    done = add_columns(&t);
    for (size_t i = 0; done && i < rows->count; i++) {
        const void *item = item_at(rows, i);

        done = add_row(&t, item,
                       rows->style == NULL ? STYLE_PLAIN : rows->style(item));
    }
    if (done && rows->head != NULL)
        rows->head(rows->of);
    if (!done)
        code = lockctl_fail_error(ZKR_ENOMEM, "");
    else if (rows->count > 0)
        code = print_cells(&t);
    scols_unref_table(t.scols);
    return code;
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
