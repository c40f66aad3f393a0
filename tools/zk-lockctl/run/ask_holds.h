/* SPDX-License-Identifier: Apache-2.0 */
/* Asks about a lock that is kept for the shell that has started us. */
#ifndef RUN_ASK_HOLDS_H
#define RUN_ASK_HOLDS_H

#include "common/lockctl.h"
#include "run/asking.h"

/* [LOCK], without options for servers. 0, or an exit code after an error was
 * said. */
int ask_parse(const struct lockctl *ctl, int argc, char **argv,
              struct question *question);

/* The newest hold is asked first. The exit code; an error was said unless it is
 * 0. */
int ask_holds(const struct lockctl *ctl, const struct question *question);

#endif
