/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the screen of top that have files of their own: the head, and a
 * list. Pure. */
#ifndef TOP_PICTURE_PARTS_H
#define TOP_PICTURE_PARTS_H

#include "top/picture.h"

enum { HEADS = 3, HEAD_LINES, FOOT_LINES = 1 };

/* The data from which the parts of one picture are drawn. */
struct drawing {
    struct top_line *lines;
    int width;
    const struct top_view *view;
    const struct top_model *model;
    const struct top_status *status;
};

/* picture_head.c: the ensemble; totals, or the lock whose queue is shown; what
 * is wrong, or how the list was made. */
void picture_title(const struct drawing *d);
void picture_head(const struct drawing *d);

/* picture_list.c: the locks, or the queue of one: so many lines of it. */
void picture_list_start(struct top_picture *picture);
void picture_list(struct top_picture *picture, const struct drawing *d,
                  size_t page);

#endif
