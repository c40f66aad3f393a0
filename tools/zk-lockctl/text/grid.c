/* SPDX-License-Identifier: Apache-2.0 */
#include "text/grid.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "common/grow.h"

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

bool grid_add(struct grid *g, const struct field *column)
{
    if (g->count == GRID_MAX)
        return false;
    g->wanted[g->count] = grid_width(column->column);
    g->columns[g->count++] = column;
    return true;
}

void grid_start(struct grid *g, const struct field *fields, bool wide)
{
    *g = (struct grid){ .count = 0 };
    for (const struct field *f = fields; !field_is_end(f); f++) {
        if (f->column != NULL && (!f->wide || wide))
            (void)grid_add(g, f);
    }
}

/* --- rows --- */

void grid_take(struct grid *g, const void *item)
{
    char room[FIELD_ROOM];

    for (size_t i = 0; i < g->count; i++) {
        const char *text = item == NULL ? g->columns[i]->column
                                        : field_text(g->columns[i], item, room);
        char *cell = enough(strdup(text[0] == '\0' ? "-" : text));

        *(char **)GROW(&g->cells) = cell;
        if (grid_width(cell) > g->wanted[i])
            g->wanted[i] = grid_width(cell);
    }
}

void grid_forget(struct grid *g)
{
    while (g->cells.count > 0)
        free(g->cells.items[--g->cells.count]);
    free(g->cells.items);
    g->cells.items = NULL;
}

/* --- widths --- */

static int rank_of(const struct field *f)
{
    return f->wide ? GRID_MAX + f->rank : f->rank;
}

/* The columns: first the one that is kept before all others. */
static void sort_by_rank(const struct grid *g, size_t order[GRID_MAX])
{
    for (size_t i = 0; i < g->count; i++) {
        size_t k = i;

        for (; k > 0 &&
               rank_of(g->columns[order[k - 1]]) > rank_of(g->columns[i]);
             k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static int least_of(const struct grid *g, size_t i)
{
    int narrow = g->columns[i]->narrow;

    return narrow > 0 && g->wanted[i] > narrow ? narrow : g->wanted[i];
}

void grid_fit(struct grid *g, int width)
{
    size_t order[GRID_MAX];
    int left = width + 1; /* there is no gap before the first */

    memset(g->widths, 0, sizeof(g->widths));
    sort_by_rank(g, order);
    for (size_t k = 0; k < g->count; k++) {
        int least = least_of(g, order[k]);

        if (k == 0 && least > width)
            least = width;
        if (least + 1 > left)
            break;
        g->widths[order[k]] = least;
        left -= least + 1;
    }
    for (size_t k = 0; k < g->count; k++) {
        int *at = &g->widths[order[k]];
        int more = g->wanted[order[k]] - *at;

        if (*at == 0 || more <= 0)
            continue;
        if (more > left)
            more = left;
        *at += more;
        left -= more;
    }
}

void grid_spread(struct grid *g)
{
    memcpy(g->widths, g->wanted, sizeof(g->widths));
}

/* --- writing --- */

static void write_cell(const struct grid *g, size_t i, const char *text,
                       bool last, FILE *out)
{
    char cut[GRID_CELL_MAX];
    int spare = g->widths[i] - grid_width(text);
    bool right = g->columns[i]->right;

    if (spare < 0) {
        grid_cut(text, g->widths[i], g->columns[i]->tail, cut);
        text = cut;
        spare = g->widths[i] - grid_width(text);
    }
    (void)fprintf(out, "%*s%s%*s", right ? spare : 0, "", text,
                  right || last ? 0 : spare, "");
}

void grid_write(const struct grid *g, size_t row, FILE *out)
{
    char *const *cells = g->cells.items + row * g->count;
    size_t last = g->count;
    bool first = true;

    while (last > 0 && g->widths[--last] == 0)
        continue;
    for (size_t i = 0; i < g->count; i++) {
        if (g->widths[i] == 0)
            continue;
        (void)fputs(first ? "" : " ", out);
        write_cell(g, i, cells[i], i == last, out);
        first = false;
    }
}
