/* SPDX-License-Identifier: Apache-2.0 */
/* Hands the terminal of top to another verb, such as break, and takes it back
 * when that has ended. */
#pragma once

#include <signal.h>

#include "top/view.h"

/* Leaves the screen, shows the command, and runs it when the user presses
 * Enter. `signals` is a descriptor that becomes readable when top is to end,
 * and `mask` is the set of blocked signals that the command gets. True: top is
 * to end. */
bool hand_over(const struct lockctl *ctl, const struct top_act *act,
               int signals, const sigset_t *mask);
