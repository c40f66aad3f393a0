/* The screen of top as lines of text. Pure. */
#ifndef TOP_DRAW_H
#define TOP_DRAW_H

#include "top/head.h"

struct top_screen_size {
    int width;
    int height;
};

/* The widths are kept from picture to picture, so that columns do not jump. */
struct top_drawing {
    struct top_screen_size size;
    struct grid locks;
    struct grid queue;
    struct top_line *lines; /* `height` of them */
};

/* False: out of memory. */
bool top_drawing_resize(struct top_drawing *drawing,
                        struct top_screen_size size);
/* Lines of a list that fit. */
size_t top_drawing_page(const struct top_drawing *drawing);
void top_draw(struct top_drawing *drawing, const struct top_view *view,
              const struct top_model *model, const struct top_status *status);
void top_drawing_done(struct top_drawing *drawing);

#endif
