/* SPDX-License-Identifier: Apache-2.0 */
/* Fits columns of text to the width of a screen: chooses columns, their widths,
 * and cuts texts. */
#include "text/grid.h"

#include <string.h>
#include <wchar.h>

enum { DOTS = 3 };

/* --- texts --- */

struct character {
    size_t size;  /* bytes */
    int width;    /* 0: it combines with the one before */
    bool unknown; /* nobody knows how to show it */
};

static struct character first_of(const char *text)
{
    mbstate_t state = { 0 };
    wchar_t wide;
    size_t size = mbrtowc(&wide, text, strlen(text), &state);

    if (size == 0 || size == (size_t)-1 || size == (size_t)-2)
        return (struct character){ .size = 1, .width = 1, .unknown = true };
    if (wcwidth(wide) < 0)
        return (struct character){ .size = size, .width = 1, .unknown = true };
    return (struct character){ .size = size, .width = wcwidth(wide) };
}

int grid_width(const char *text)
{
    int width = 0;

    while (*text != '\0') {
        struct character c = first_of(text);

        text += c.size;
        width += c.width;
    }
    return width;
}

/* Copies as much of the text as fits into that width, behind the `used` bytes
 * of `out`. */
static void copy(const char *text, int width, char *out, size_t used)
{
    while (*text != '\0') {
        struct character c = first_of(text);

        if (c.width > width || used + c.size + DOTS >= GRID_CELL_MAX)
            break;
        if (c.unknown)
            out[used++] = '?';
        else
            used = (size_t)((char *)mempcpy(out + used, text, c.size) - out);
        width -= c.width;
        text += c.size;
    }
    out[used] = '\0';
}

/* The end of a text; it begins with no combining character. */
static const char *tail_of(const char *text, int width)
{
    int left = grid_width(text);

    while (*text != '\0') {
        struct character c = first_of(text);

        if (left <= width && c.width > 0)
            break;
        left -= c.width;
        text += c.size;
    }
    return text;
}

void grid_cut(const char *text, int width, bool tail, char out[GRID_CELL_MAX])
{
    if (grid_width(text) <= width) {
        copy(text, width, out, 0);
    } else if (width <= DOTS) {
        copy("...", width, out, 0);
    } else if (tail) {
        (void)strcpy(out, "...");
        copy(tail_of(text, width - DOTS), width - DOTS, out, DOTS);
    } else {
        copy(text, width - DOTS, out, 0);
        (void)strcat(out, "...");
    }
}

/* --- columns --- */

void grid_start(struct grid *grid, const struct grid_column *columns,
                size_t count)
{
    *grid = (struct grid){ .columns = columns, .count = count };
    for (size_t i = 0; i < count; i++)
        grid->wanted[i] = grid_width(columns[i].name);
}

void grid_see(struct grid *grid, const char *const *cells)
{
    for (size_t i = 0; i < grid->count; i++) {
        int width = cells[i] == NULL ? 0 : grid_width(cells[i]);

        if (width > grid->wanted[i])
            grid->wanted[i] = width;
    }
}

static size_t column_of(const struct grid *grid, size_t rank)
{
    size_t i = 0;

    while (i + 1 < grid->count && grid->columns[i].rank != (int)rank)
        i++;
    return i;
}

/* The choice depends on the width of the screen alone, so that no column comes
 * and goes with the texts. Returns how much room is left. */
static int choose(struct grid *grid, int width)
{
    int left = width + 1; /* there is no gap before the first */

    memset(grid->widths, 0, sizeof(grid->widths));
    for (size_t rank = 0; rank < grid->count; rank++) {
        size_t i = column_of(grid, rank);
        int wanted = grid->columns[i].width;

        if (rank == 0 && wanted > width)
            wanted = width;
        if (wanted + 1 > left)
            break;
        grid->widths[i] = wanted;
        left -= wanted + 1;
    }
    return left;
}

void grid_fit(struct grid *grid, int width)
{
    int left = choose(grid, width);

    for (size_t i = 0; i < grid->count; i++) {
        if (grid->columns[i].flexible && grid->wanted[i] < grid->widths[i]) {
            left += grid->widths[i] - grid->wanted[i];
            grid->widths[i] = grid->wanted[i];
        }
    }
    for (size_t rank = 0; rank < grid->count; rank++) {
        size_t i = column_of(grid, rank);
        int more = grid->wanted[i] - grid->widths[i];

        if (!grid->columns[i].flexible || grid->widths[i] == 0 || more <= 0)
            continue;
        if (more > left)
            more = left;
        grid->widths[i] += more;
        left -= more;
    }
}

static size_t pad(char line[GRID_CELL_MAX], size_t used, int width)
{
    for (; width > 0 && used + 1 < GRID_CELL_MAX; width--)
        line[used++] = ' ';
    line[used] = '\0';
    return used;
}

void grid_line(const struct grid *grid, const char *const *cells,
               char line[GRID_CELL_MAX])
{
    size_t used = 0;

    line[0] = '\0';
    for (size_t i = 0; i < grid->count; i++) {
        bool empty = cells[i] == NULL || cells[i][0] == '\0';
        char text[GRID_CELL_MAX];
        int spare;

        if (grid->widths[i] == 0)
            continue;
        grid_cut(empty ? "-" : cells[i], grid->widths[i], grid->columns[i].tail,
                 text);
        spare = grid->widths[i] - grid_width(text);
        if (used + strlen(text) + (size_t)grid->widths[i] + 2 >= GRID_CELL_MAX)
            break;
        if (used > 0)
            used = pad(line, used, 1);
        if (grid->columns[i].right)
            used = pad(line, used, spare);
        used = (size_t)(stpcpy(line + used, text) - line);
        if (!grid->columns[i].right)
            used = pad(line, used, spare);
    }
}

bool grid_place(const struct grid *grid, size_t column, int *ret_x)
{
    int x = 0;

    if (column >= grid->count || grid->widths[column] == 0)
        return false;
    for (size_t i = 0; i < column; i++)
        x += grid->widths[i] == 0 ? 0 : grid->widths[i] + 1;
    *ret_x = x;
    return true;
}
