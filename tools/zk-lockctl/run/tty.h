/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the terminal to a process group, and takes it back (job control). */
#pragma once

#include <stdbool.h>

#include <sys/types.h>

struct tty {
    int fd;    /* the controlling terminal; -1: none */
    bool give; /* the command gets it whenever we have it: at the start because
                  stdin is the terminal, later because it has asked; no more
                  when somebody else of our job has asked */
};

void tty_open(struct tty *tty);

/* Tells whether we, or our shell with us, have it now. */
bool tty_is_ours(const struct tty *tty);
bool tty_belongs_to(const struct tty *tty, pid_t group);

/* Gives it to a group. Async-signal-safe. SIGTTOU must be blocked. */
void tty_hand_over(const struct tty *tty, pid_t group);

/* Take it back from a group, if it has it. */
void tty_take_back(const struct tty *tty, pid_t group);

/* Sends a signal to all of our group. */
void tty_tell_job(int sig);

/* Stop ourselves and whoever shares our group, as the shell expects when a job
 * of its stops; returns when somebody continues us. False, at once, where
 * nobody would. */
bool tty_stop_with_job(void);
