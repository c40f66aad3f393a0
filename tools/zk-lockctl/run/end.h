/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a command that was told to end and does not, and the processes that it
 * leaves behind. */
#ifndef RUN_END_H
#define RUN_END_H

#include "common/lockctl.h"
#include "run/child.h"

struct end {
    const struct lockctl *ctl; /* to speak */
    struct child *child;
    int64_t kill_after_ms; /* from TERM to KILL of the command; -1: never */
    int64_t grace_ms;      /* likewise of what it leaves behind */
    bool refused;          /* it was said that a signal was not allowed */
    bool forced;           /* KILL was sent as TERM was not enough */
    int64_t kill_ms;       /* when the command is killed for that; 0: it was not
                              told to end */
    int64_t kill_rest_ms;  /* when what the command has left behind is killed;
                              0: not asked to end yet */
};

/* Sends a signal to all that the command has started. */
void end_signal_all(struct end *e, int sig);
/* Says once that the signal is refused for one of them. */
void end_say_refused(struct end *e);
/* What follows a TERM that was sent. */
void end_told(struct end *e);
/* Sends KILL where TERM is not enough; returns when to look again. */
int64_t end_see_to(struct end *e);

#endif
