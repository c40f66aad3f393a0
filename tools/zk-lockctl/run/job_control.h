/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what to do when the command has stopped, so that the shell sees what
 * it would see without us. Pure. */
#ifndef RUN_JOB_CONTROL_H
#define RUN_JOB_CONTROL_H

#include <stdbool.h>

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

enum job_step job_next(const struct job_view *view);

#endif
