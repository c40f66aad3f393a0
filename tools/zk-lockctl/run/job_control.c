/* SPDX-License-Identifier: Apache-2.0 */
/* Decides what to do when the command has stopped, so that the shell sees what
 * it would see without us. Pure. */
#include "run/job_control.h"

#include <signal.h>

enum job_step job_next(const struct job_view *v)
{
    if (v->signal == SIGTTIN || v->signal == SIGTTOU)
        return v->ours ? JOB_LEND : v->ending ? JOB_LEAVE : JOB_STOP;
    if (v->ending || (!v->has && !v->ours))
        return JOB_LEAVE;
    /* A program that catches TTOU and TSTP, to leave the screen in order, then
     * stops itself by SIGSTOP, as top(1) does: which of them was it? */
    if (v->signal == SIGSTOP && !v->has && !v->told && !v->lent)
        return JOB_LEND;
    return JOB_STOP;
}
