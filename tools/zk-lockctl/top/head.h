/* What stands above the lists of top: servers, totals, what is wrong. Pure. */
#ifndef TOP_HEAD_H
#define TOP_HEAD_H

#include "top/line.h"
#include "top/view.h"

enum { TOP_HEAD_LINES = 3 };

/* Of what the locks do not say themselves. */
struct top_status {
    const char *servers; /* escaped */
    const char *state;   /* of the session */
    bool is_connected;
    const char *error; /* why the last look failed, escaped; "" */
    int64_t now_ms;    /* since 1970 */
    int64_t took_ms;   /* the last look; -1: there was none yet */
};

void top_head_draw(struct top_line lines[TOP_HEAD_LINES], int width,
                   const struct top_view *view, const struct top_model *model,
                   const struct top_status *status);

#endif
