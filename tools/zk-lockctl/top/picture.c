/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the screen of top as lines of text: a head of three lines, a list of
 * locks or of the queue of one, and the keys. */
#include "top/picture.h"

#include <stdlib.h>
#include <string.h>

#include "top/picture_parts.h"

bool top_picture_resize(struct top_picture *p, struct top_size size)
{
    top_picture_done(p);
    if (size.height < HEAD_LINES + FOOT_LINES + 1)
        size.height = HEAD_LINES + FOOT_LINES + 1;
    if (size.width < 1)
        size.width = 1;
    p->size = size;
    p->lines = calloc((size_t)size.height, sizeof(*p->lines));
    picture_list_start(p);
    return p->lines != NULL;
}

size_t top_picture_page(const struct top_picture *p)
{
    return (size_t)(p->size.height - HEAD_LINES - FOOT_LINES);
}

void top_picture_draw(struct top_picture *p, const struct top_view *view,
                      const struct top_model *model,
                      const struct top_status *status)
{
    const struct drawing d = { p->lines, p->size.width, view, model, status };
    struct top_line *last = &p->lines[p->size.height - 1];

    memset(p->lines, 0, (size_t)p->size.height * sizeof(*p->lines));
    picture_title(&d);
    if (view->mode == TOP_MODE_HELP) {
        picture_help(&d, p->size.height - 2 - FOOT_LINES);
    } else {
        picture_head(&d);
        picture_list(p, &d, top_picture_page(p));
    }
    if (view->typing)
        picture_filter(&d, last);
    else if (view->said != NULL)
        top_line_write(last, TOP_BAD, d.width, "%s", view->said);
    else
        picture_hints(&d, last);
}

void top_picture_done(struct top_picture *p)
{
    free(p->lines);
    *p = (struct top_picture){ .lines = NULL };
}
