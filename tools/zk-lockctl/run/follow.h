/* SPDX-License-Identifier: Apache-2.0 */
/* Treats the command as a job of our shell, although we are between the two:
 * its stops, and the terminal. */
#pragma once

#include "run/child.h"
#include "run/tty.h"

enum job_step {
    JOB_LEAVE, /* whoever stopped it will continue it */
    JOB_LEND,  /* it wants the terminal: give it, and continue the command */
    JOB_STOP,  /* stop, too, as a job of the shell; the terminal is the shell's
                */
};

/* The facts that are known when it has stopped. */
struct job_view {
    int signal;  /* that stopped it */
    bool has;    /* the command has the terminal */
    bool ours;   /* we, or our shell with us, have it */
    bool lent;   /* the command has had it before */
    bool told;   /* we have passed TSTP on */
    bool ending; /* the command was told to end: we must see to that */
};

/* Decides what to do when the command has stopped. Pure. */
enum job_step job_next(const struct job_view *view);

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
