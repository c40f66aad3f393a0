/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps locks for a shell, in a process of its own, until the shell ends or
 * gives them back: a run whose command is the shell. */
#pragma once

#include "run/desk.h"
#include "run/run.h"

struct hold {
    struct shell shell;
    int front_fd;      /* a pipe to the process in the foreground */
    struct desk *desk; /* NULL: the locks are not acquired */
};

/* The process in the foreground waits with the user until another one keeps the
 * locks, and has printed the code for the shell. Calls `fn` in a process in the
 * background, with `hold` in the run; it ends when this one does before the
 * locks are acquired. Returns in both, with the exit code. */
int hold_fork(struct run *run, struct hold *hold, int fn(struct run *run));

/* The locks are acquired: starts the guard of the shell, and prints the code.
 * 0, or an exit code after an error was said. */
int hold_begin(struct run *run);
