/* SPDX-License-Identifier: Apache-2.0 */
/* What we were started with, and the command is to find again: descriptors and
 * signals. Ours meanwhile: no other descriptors are for the command, and
 * signals come as events. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <sys/signalfd.h>

struct inherited {
    int *fds; /* that were open, from 3 up */
    size_t count;
    int signal_fd; /* a signalfd: those that we pass on, and CHLD */
    sigset_t mask;
    struct sigaction pipe;
    struct sigaction child;
};

/* A socket must not become our stdin, stdout or stderr. The command finds them
 * closed as we did. */
void inherited_fill_standard(void);

/* Notes the descriptors. -1, with errno, on failure. */
int inherited_note(struct inherited *in);
void inherited_done(struct inherited *in);
/* Closes those that are noted. */
void inherited_close(const struct inherited *in);

/* From now on signals come through the descriptor: INT, TERM, HUP, QUIT, USR1,
 * USR2, WINCH, TSTP, CONT, TTIN, TTOU, unless we were started with them
 * ignored, CHLD, and one more (0: none). -1 with errno on failure. */
int inherited_take_signals(struct inherited *in, int also);

/* For a child, before it executes the command: signals are as they were, and
 * the exec closes all other descriptors. Async-signal-safe. -1 with errno on
 * failure. */
int inherited_restore(const struct inherited *in);

/* Reads signals that have come; how many. A terminal, which sends its own to
 * all of our process group, has the code SI_KERNEL. */
enum { SIGNALS_MAX = 16 };
size_t signals_read(const struct inherited *in,
                    struct signalfd_siginfo came[SIGNALS_MAX]);
/* Stops us, as the shell expects when a job of its stops; returns when somebody
 * continues us. False, at once, where nobody would. */
bool signals_stop_us(void);
/* Tells whether the signal ends a program that does not handle it. */
bool signals_is_fatal(int sig);
