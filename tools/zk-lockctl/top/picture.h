/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the screen of top as lines of text. Pure. */
#pragma once

#include "text/grid.h"
#include "top/view.h"

enum top_style {
    TOP_PLAIN,
    TOP_DIM,
    TOP_BOLD,
    TOP_GOOD,
    TOP_BAD,
    TOP_BAR, /* heads of columns, keys */
    TOP_CURSOR,
};

/* One line of the screen: a text in one style. */
struct top_line {
    char text[GRID_CELL_MAX]; /* not wider than the screen */
    enum top_style style;
};

/* Facts that are shown and do not come from the locks. */
struct top_status {
    char ensemble[ENSEMBLE_MAX]; /* escaped */
    const char *state;           /* of the session */
    bool is_connected;
    char error[1024];    /* why the last look failed, escaped; "" */
    int64_t now_ms;      /* since 1970 */
    int64_t took_ms;     /* the last look; -1: there was none yet */
    int64_t interval_ms; /* between looks */
};

struct top_size {
    int width;
    int height;
};

/* The widths are kept from picture to picture, so that columns do not jump. */
struct top_picture {
    struct top_size size;
    struct grid grids[TOP_MODE_HELP]; /* of each list */
    struct top_line *lines;           /* `height` of them */
};

void top_picture_resize(struct top_picture *picture, struct top_size size);
/* How many lines of a list fit. */
size_t top_picture_page(const struct top_picture *picture);
void top_picture_draw(struct top_picture *picture, const struct top_view *view,
                      const struct top_model *model,
                      const struct top_status *status);
void top_picture_done(struct top_picture *picture);
