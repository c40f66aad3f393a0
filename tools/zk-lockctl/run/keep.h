/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps locks for a shell, in a process of its own, until the shell ends or
 * gives them back. */
#pragma once

#include "run/run.h"
#include "run/script.h"

struct keep {
    struct script script;
    int front_fd; /* a pipe to the process in the foreground, see below */
};

/* In the killer: ends the shell when we were killed; or, `late`, when we did
 * not run until the end of the lease. */
void keep_end_orphan(const struct run *run, bool late);

/* For run_all(), of a run with `keep`: wait, print the code for the shell, and
 * keep the locks. The exit code. */
int run_keep(struct run *run);

/* front.c: the process in the foreground waits with the user until another one
 * keeps the lock, and has printed the code for the shell. */

/* Call `fn` in a process in the background, with `keep` in the run; it ends
 * when this one does before the lock is acquired. Returns in both, with the
 * exit code. */
int front_fork(struct run *run, struct keep *keep, int fn(struct run *run));

/* For the process in the background: the code is printed. */
void front_go_on(int front_fd);
