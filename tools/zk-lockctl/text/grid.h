/* SPDX-License-Identifier: Apache-2.0 */
/* A table of the fields of items, as wide as a screen: chooses columns, their
 * widths, and cuts texts. Texts are in the encoding of the locale, and
 * escaped. */
#pragma once

#include <stdio.h>

#include "text/fields.h"

enum {
    GRID_MAX = 32,
    GRID_CELL_MAX = 2048, /* bytes of a text that is cut */
};

struct grid {
    const struct field *columns[GRID_MAX];
    size_t count;
    int wanted[GRID_MAX]; /* of the widest text so far, or of the name */
    int widths[GRID_MAX]; /* 0: no room */
    struct {
        char **items;
        size_t count;
    } cells; /* row by row */
};

/* All columns of the fields; with `wide` also those that say so. */
void grid_start(struct grid *grid, const struct field *fields, bool wide);
/* One more column; false: there are too many. */
bool grid_add(struct grid *grid, const struct field *column);

/* The next row; NULL: the names of the columns. */
void grid_take(struct grid *grid, const void *item);
/* Forgets the rows, and keeps how wide they were: so columns do not jump. */
void grid_forget(struct grid *grid);

/* Columns are given up by their rank, the wide ones before all others, until
 * the rest fits. Those that may be cut get what is left. */
void grid_fit(struct grid *grid, int width);
/* Or each is as wide as its texts. */
void grid_spread(struct grid *grid);
/* One row, without an end of line. */
void grid_write(const struct grid *grid, size_t row, FILE *out);

/* Columns that a text takes on the screen. */
int grid_width(const char *text);
/* Cut to that width, with "..." at the end, or at the beginning. A character
 * that cannot be shown becomes '?'. */
void grid_cut(const char *text, int width, bool tail, char out[GRID_CELL_MAX]);
