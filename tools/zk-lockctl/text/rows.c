/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows: as tables for people, as wide as the terminal, or as JSON. The
 * grid decides which columns have room, as in top. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/grow.h"
#include "text/envelope.h"
#include "text/fields.h"
#include "text/grid.h"

enum { TERMINAL_WIDTH = 80 }; /* of one that does not say */

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

enum { NAMES_MAX = 512 };

/* One more name in a list of them. */
static void join(char names[NAMES_MAX], const char *comma, const char *name)
{
    size_t used = strlen(names);

    (void)snprintf(names + used, NAMES_MAX - used, "%s%s",
                   used == 0 ? "" : comma, name);
}

static int fail_column(const struct field *fields, const char *name, size_t len)
{
    char names[NAMES_MAX] = "";

    for (const struct field *f = fields; !field_is_end(f); f++) {
        if (f->column != NULL)
            join(names, ",", f->column);
    }
    return lockctl_fail(EX_USAGE, "--columns: '%.*s' is none; choose from %s",
                        (int)(len > 40 ? 40 : len), name, names);
}

/* "A,B", or "+A,B": these too. */
static int choose(const struct lockctl *ctl, struct grid *grid,
                  const struct field *fields)
{
    const char *list = ctl->columns;

    grid_start(grid, fields, ctl->format != FORMAT_TABLE);
    if (list == NULL)
        return 0;
    if (list[0] == '+')
        list++;
    else
        grid->count = 0;
    do {
        size_t len = strcspn(list, ",");
        const struct field *f = find_column(fields, list, len);

        if (f == NULL || !grid_add(grid, f))
            return fail_column(fields, list, len);
        list += len + (list[len] == ',');
    } while (*list != '\0');
    return 0;
}

/* --- how wide --- */

static int terminal_width(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
               ? size.ws_col
               : TERMINAL_WIDTH;
}

/* A user who asks for columns gets all of them, uncut. */
static bool fits_terminal(const struct lockctl *ctl)
{
    return ctl->format == FORMAT_TABLE && ctl->columns == NULL &&
           isatty(STDOUT_FILENO) == 1;
}

static void say_hidden(const struct lockctl *ctl, const struct grid *grid)
{
    char names[NAMES_MAX] = "";

    for (size_t i = 0; i < grid->count; i++) {
        if (grid->widths[i] == 0)
            join(names, ", ", grid->columns[i]->column);
    }
    if (names[0] != '\0')
        lockctl_say(ctl, "note: no room for %s; -o wide has all columns",
                    names);
}

/* --- printing --- */

static const void *item_at(const struct rows *rows, size_t i)
{
    return rows->item != NULL ? rows->item(rows->of, i)
                              : (const char *)rows->of + i * rows->size;
}

static int print_table(const struct lockctl *ctl, const struct rows *rows)
{
    struct grid grid;
    int code = choose(
        ctl, &grid, rows->columns != NULL ? rows->columns : rows->kind->fields);

    if (code != 0)
        return code;
    grid_take(&grid, NULL);
    for (size_t i = 0; i < rows->count; i++)
        grid_take(&grid, item_at(rows, i));
    if (rows->head != NULL)
        rows->head(rows->of);
    if (fits_terminal(ctl))
        grid_fit(&grid, terminal_width());
    else
        grid_spread(&grid);
    for (size_t i = 0; rows->count > 0 && i <= rows->count; i++) {
        grid_write(&grid, i, stdout);
        (void)putchar('\n');
    }
    if (fflush(stdout) == 0)
        say_hidden(ctl, &grid);
    grid_forget(&grid);
    return ferror(stdout) == 0
               ? 0
               : lockctl_fail(EX_IOERR, "cannot write the output");
}

static void *json_memory(size_t size)
{
    return enough(malloc(size));
}

static int print_json(const struct lockctl *ctl, const struct rows *rows)
{
    json_set_alloc_funcs(json_memory, free);
    json_t *items = json_array();
    for (size_t i = 0; i < rows->count; i++)
        (void)json_array_append_new(
            items, fields_json(rows->kind->fields, item_at(rows, i)));
    return output_json(ctl, rows->kind->list, rows->at_ms, items, rows->notes);
}

int rows_print(const struct lockctl *ctl, const struct rows *rows)
{
    int code =
        output_is_json(ctl) ? print_json(ctl, rows) : print_table(ctl, rows);

    (void)fflush(stdout);
    notes_say(rows->notes, ctl);
    return code;
}
