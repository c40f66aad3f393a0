/* SPDX-License-Identifier: Apache-2.0 */
/* Asks about a lock that is kept for the shell that has started us. */
#ifndef RUN_ASK_HOLDS_H
#define RUN_ASK_HOLDS_H

#include "common/lockctl.h"
#include "run/asking.h"

/* The newest hold is asked first. The exit code; an error was said unless it is
 * 0. */
int ask_holds(const struct lockctl *ctl, const struct question *question);

#endif
