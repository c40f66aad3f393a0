/* SPDX-License-Identifier: Apache-2.0 */
/* Treats the command as a job of our shell, although we are between the two:
 * its stops, and the terminal. */
#ifndef RUN_FOLLOW_H
#define RUN_FOLLOW_H

#include "run/child.h"
#include "run/tty.h"

struct follow {
    struct tty *tty;
    struct child *child;
    bool told_to_stop; /* TSTP was passed on, and no CONT since */
};

/* The command may have stopped: stops, too, or continues it. `ending`: it was
 * told to end. */
void follow_stop(struct follow *f, bool ending);
/* Continues the command, with the terminal if our job has that. */
void follow_continue(struct follow *f);
/* Lets another process of our job have the terminal, which was stopped by that
 * signal. */
void follow_share_terminal(struct follow *f, int sig);
/* Takes the terminal back when the command has ended. */
void follow_take_terminal_back(struct follow *f);

#endif
