/* SPDX-License-Identifier: Apache-2.0 */
/* The process in the foreground of hold: it waits with the user, and prints the
 * code for the shell when another process keeps the lock. */
#ifndef RUN_FRONT_H
#define RUN_FRONT_H

#include "run/keep.h"

/* The last line of the code. */
#define FRONT_END ":;\n"

/* Call `fn` in a process in the background, with `keep` in the run; it ends
 * when this one does before the code is printed. Returns in both, with the exit
 * code. */
int front_fork(struct run *run, struct keep *keep, int fn(struct run *run));

/* For the process in the background: 0 when this code was printed, or may have
 * been: nobody knows, because the front was killed. */
int front_print(int front_fd, const char *code, size_t size, bool *ret_unsure);

#endif
