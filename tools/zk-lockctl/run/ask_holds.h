/* SPDX-License-Identifier: Apache-2.0 */
/* Looks after a lock that is kept for the shell that has started us. */
#ifndef RUN_ASK_HOLDS_H
#define RUN_ASK_HOLDS_H

#include "common/lockctl.h"

/* [LOCK], without options for servers: "hold --check", or "release". The newest
 * hold comes first. The exit code; an error was said unless it is 0. */
int ask_holds(const struct lockctl *ctl, bool release, int argc, char **argv);

#endif
