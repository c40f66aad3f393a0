/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways in which top shows the locks at and below a path. */
#ifndef TOP_TOP_H
#define TOP_TOP_H

#include "common/lockctl.h"
#include "top/view.h"

struct top_opts {
    struct lockctl *ctl; /* its session ends with the verb */
    char root[ZKR_PATH_MAX + 1];
    struct top_view view; /* as it is at the beginning */
    uint32_t count;       /* of looks; 0: without end */
    bool ask_servers;     /* with four letter words */
};

/* On the screen, until the user quits, or a signal ends it. The session may
 * still be connecting; when it is refused, that is the end. The exit code;
 * `ret_started` is false when the terminal cannot do it: then nothing has
 * happened. */
int top_live(struct top_opts *opts, const struct opening *opening,
             bool *ret_started);

/* As tables, one after the other, or as lines for programs, with a session that
 * is connected. The exit code. */
int top_print(const struct top_opts *opts);

#endif
