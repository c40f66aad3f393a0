/* top on a screen: looks, keys and signals, as they come. */
#ifndef TOP_LIVE_H
#define TOP_LIVE_H

#include "common/lockctl.h"
#include "top/view.h"

/* Until the user quits, or a signal ends it; the session ends, too. The exit
 * code; `ret_started` is false when the terminal cannot do it: then nothing has
 * happened. */
int top_live(struct lockctl *ctl, const char *root, struct top_view *view,
             bool *ret_started);

#endif
