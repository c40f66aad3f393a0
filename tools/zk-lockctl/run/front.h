/* SPDX-License-Identifier: Apache-2.0 */
/* The process in the foreground of hold: it waits with the user until another
 * process keeps the lock, and has printed the code for the shell. */
#ifndef RUN_FRONT_H
#define RUN_FRONT_H

#include "run/keep.h"

/* Call `fn` in a process in the background, with `keep` in the run; it ends
 * when this one does before the lock is acquired. Returns in both, with the
 * exit code. */
int front_fork(struct run *run, struct keep *keep, int fn(struct run *run));

/* For the process in the background: the code is printed. */
void front_go_on(int front_fd);

#endif
