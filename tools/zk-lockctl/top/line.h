/* A line of the screen of top. Pure. */
#ifndef TOP_LINE_H
#define TOP_LINE_H

#include "text/grid.h"

enum top_look {
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
    enum top_look look;
    int mark_x; /* a part of it that looks TOP_MARKED, */
    int mark_width;
};

/* Cut to that width. */
void top_line_write(struct top_line *line, enum top_look look, int width,
                    const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The left one is cut, to a quarter of the line; then the right is left out. */
void top_line_write_both(struct top_line *line, enum top_look look, int width,
                         const char *left, const char *right);

#endif
