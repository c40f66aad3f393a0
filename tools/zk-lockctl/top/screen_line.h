/* SPDX-License-Identifier: Apache-2.0 */
/* One line of the screen of top: a text in one style, not wider than the
 * screen. Pure. */
#ifndef TOP_SCREEN_LINE_H
#define TOP_SCREEN_LINE_H

#include "text/grid.h"

enum top_style {
    TOP_PLAIN,
    TOP_DIM,
    TOP_BOLD,
    TOP_GOOD,
    TOP_BAD,
    TOP_BAR,    /* heads of columns, keys */
    TOP_MARKED, /* in a bar */
    TOP_CURSOR,
};

struct top_line {
    char text[GRID_CELL_MAX]; /* not wider than the screen */
    enum top_style style;
    int mark_x; /* a part of it is TOP_MARKED, */
    int mark_width;
};

/* A text, cut to the width of the screen. */
void top_line_write(struct top_line *line, enum top_style style, int width,
                    const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The left text is cut, to a quarter of the line; then the right is left out.
 */
void top_line_write_both(struct top_line *line, enum top_style style, int width,
                         const char *left, const char *right);
/* A row of a table. */
void top_line_write_row(struct top_line *line, const struct grid *grid,
                        size_t row);

#endif
