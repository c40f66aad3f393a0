/* SPDX-License-Identifier: Apache-2.0 */
/* Receives signals as events: those that we pass on, and the end of a child. */
#pragma once

#include <signal.h>
#include <stdbool.h>

struct signals {
    int fd; /* a signalfd */
    sigset_t mask_before;
    struct sigaction pipe_before;
    struct sigaction child_before;
};

/* From now on signals come through the descriptor: INT, TERM, HUP, QUIT, USR1,
 * USR2, WINCH, TSTP, CONT, TTIN, TTOU, unless we were started with them
 * ignored, and CHLD. -1 with errno on failure. */
int signals_take(struct signals *s);

/* Restores them for a child. Async-signal-safe. */
void signals_restore(const struct signals *s);

/* Returns the next signal that has come, or 0. */
int signals_next(const struct signals *s);

/* All that have come. */
void signals_collect(const struct signals *s, sigset_t *ret_arrived);

/* Tells whether the signal ends a program that does not handle it. */
bool signals_is_fatal(int sig);
