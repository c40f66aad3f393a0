/* What the keys of top do: the bottom line, and the help. Pure. */
#ifndef TOP_FOOT_H
#define TOP_FOOT_H

#include "top/line.h"
#include "top/view.h"

void top_foot_draw(struct top_line *line, int width,
                   const struct top_view *view);
/* As many of its lines as there are. */
void top_help_draw(struct top_line *lines, int count, int width);

#endif
