/* SPDX-License-Identifier: Apache-2.0 */
/* top: shows the locks at and below a path on a screen. */
#pragma once

#include <signal.h>

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
/* hand_over.c: hands the terminal to another verb, such as break. Leaves the
 * screen, shows the command, and runs it when the user presses Enter. `signals`
 * is a descriptor that becomes readable when top is to end, and `mask` is the
 * set of blocked signals that the command gets. True: top is to end. */
bool hand_over(const struct lockctl *ctl, const struct top_act *act,
               int signals, const sigset_t *mask);

/* There is no screen: says what prints the same. The exit code. */
int top_has_no_screen(void);
