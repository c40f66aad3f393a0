/* SPDX-License-Identifier: Apache-2.0 */
/* Fits columns of text to the width of a screen: chooses columns, their widths,
 * and cuts texts. Pure; texts are in the encoding of the locale, and
 * escaped. */
#ifndef TEXT_GRID_H
#define TEXT_GRID_H

#include <stdbool.h>
#include <stddef.h>

enum {
    GRID_MAX = 16,
    GRID_CELL_MAX = 2048, /* bytes of a cell, or of a line of cells */
};

struct grid_column {
    const char *name;
    int width;     /* on the screen */
    int rank;      /* the highest is given up first; from 0 on, each once */
    bool flexible; /* as wide as its texts, where there is room */
    bool right;    /* a number */
    bool tail;     /* its end says more than its beginning */
};

struct grid {
    const struct grid_column *columns;
    size_t count;
    int wanted[GRID_MAX]; /* the widest text that was seen */
    int widths[GRID_MAX]; /* 0: no room */
};

/* Forget the texts. */
void grid_start(struct grid *grid, const struct grid_column *columns,
                size_t count);
/* These texts, one for each column, are going to be shown. */
void grid_see(struct grid *grid, const char *const *cells);
void grid_fit(struct grid *grid, int width);
/* One line; NULL and "" are shown as "-". */
void grid_line(const struct grid *grid, const char *const *cells,
               char line[GRID_CELL_MAX]);
/* Where on the screen a column begins; false when it has no room. */
bool grid_place(const struct grid *grid, size_t column, int *ret_x);

/* Columns that a text takes on the screen. */
int grid_width(const char *text);
/* Cut to that width, with "..." at the end, or at the beginning. A character
 * that cannot be shown becomes '?'. */
void grid_cut(const char *text, int width, bool tail, char out[GRID_CELL_MAX]);

#endif
