/* SPDX-License-Identifier: Apache-2.0 */
/* top: shows the locks at and below a path on a screen. */
#pragma once

#include "common/lockctl.h"
#include "top/view.h"

struct top_opts {
    struct lockctl *ctl; /* its session ends with the verb */
    const char *root;
    struct top_view view; /* as it is at the beginning */
    int64_t interval_ms;  /* between looks */
};

/* Until the user quits, a signal ends it, or the session is over. The exit
 * code; an error was said unless it is 0. */
int top_live(struct top_opts *opts);
/* There is no screen: says what prints the same. The exit code. */
int top_has_no_screen(void);
