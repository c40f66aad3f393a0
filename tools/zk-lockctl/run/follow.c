/* SPDX-License-Identifier: Apache-2.0 */
/* Treats the command as a job of our shell, although we are between the two:
 * its stops, and the terminal. */
#include "run/run.h"

#include <signal.h>

#include <sys/wait.h>

void run_continue(struct run *run)
{
    run->told_to_stop = false;
    if (run->tty.give && tty_is_ours(&run->tty))
        tty_hand_over(&run->tty, run->child.pid);
    child_continue(&run->child);
}

static void stop_with_job(struct run *run, int sig)
{
    tty_take_back(&run->tty, run->child.pid);
    /* The shell that continues us also sends the CONT that we pass on. */
    if (!tty_stop_with_job() && sig == SIGTSTP)
        run_continue(run);
}

/* Another process of our job, such as a pager, wants the terminal and was
 * stopped for it: because the command has it, or because our job does not. */
void run_share_terminal(struct run *run, int sig)
{
    if (tty_belongs_to(&run->tty, run->child.pid)) {
        run->tty.give = false;
        tty_take_back(&run->tty, run->child.pid);
    }
    if (tty_is_ours(&run->tty))
        tty_tell_job(SIGCONT);
    else
        stop_with_job(run, sig);
}

static void lend_terminal(struct run *run)
{
    run->tty.give = true;
    tty_hand_over(&run->tty, run->child.pid);
    child_continue(&run->child);
}

void run_follow_stop(struct run *run)
{
    struct job_view view = { .signal = run->child.stopped_by };
    enum job_step step;

    if (view.signal == 0)
        return;
    view.has = tty_belongs_to(&run->tty, run->child.pid);
    view.ours = tty_is_ours(&run->tty);
    view.lent = run->tty.give;
    view.told = run->told_to_stop;
    view.ending = run->kill_ms != 0;
    run->child.stopped_by = 0;
    step = job_next(&view);
    if (step == JOB_LEND)
        lend_terminal(run);
    else if (step == JOB_STOP)
        stop_with_job(run, view.signal);
}

/* A key that ended the command was meant for all of our job, as the script that
 * has started us, and we were between them. */
void run_take_terminal_back(struct run *run)
{
    int sig = WIFSIGNALED(run->child.status) ? WTERMSIG(run->child.status) : 0;

    if (!tty_belongs_to(&run->tty, run->child.pid))
        return;
    tty_take_back(&run->tty, run->child.pid);
    if (sig == SIGINT || sig == SIGQUIT)
        tty_tell_job(sig);
}
