/* SPDX-License-Identifier: Apache-2.0 */
/* Treats the command as a job of our shell, although we are between the two:
 * its stops, and the terminal. */
#pragma once

#include <stdbool.h>

#include <sys/types.h>

struct child;

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

struct job_control {
    int tty;   /* the controlling terminal; -1: none */
    bool give; /* the command gets it whenever we have it: at the start because
                  stdin is the terminal, later because it has asked; no more
                  when somebody else of our job has asked */
    bool told_to_stop; /* TSTP was passed on, and no CONT since */
};

void job_open(struct job_control *job);

/* Tells whether the command is to have the terminal, and we can give it. */
bool job_lends(const struct job_control *job);
/* Gives it to a group. Async-signal-safe. SIGTTOU must be blocked. */
void job_hand_over(const struct job_control *job, pid_t group);
/* Takes it back from a group, if that has it. */
void job_take_back(const struct job_control *job, pid_t group);

/* Stop ourselves and whoever shares our group, as the shell expects when a job
 * of its stops; returns when somebody continues us. False, at once, where
 * nobody would. */
bool job_stop_us(void);

/* The command may have stopped: stops, too, or continues it. `ending`: it was
 * told to end. */
void job_stop(struct job_control *job, struct child *child, bool ending);
/* Continues the command, with the terminal if our job has that. */
void job_continue(struct job_control *job, struct child *child);
/* Lets another process of our job have the terminal, which was stopped by that
 * signal. */
void job_share_terminal(struct job_control *job, struct child *child, int sig);
/* The command has ended: its terminal is ours. */
void job_end(const struct job_control *job, const struct child *child);
