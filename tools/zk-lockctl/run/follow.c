/* SPDX-License-Identifier: Apache-2.0 */
/* Treats the command as a job of our shell, although we are between the two:
 * its stops, and the terminal. */
#include "run/follow.h"

#include <signal.h>

#include <sys/wait.h>

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

void follow_continue(struct follow *f)
{
    f->told_to_stop = false;
    if (f->tty->give && tty_is_ours(f->tty))
        tty_hand_over(f->tty, f->child->pid);
    child_signal(f->child, SIGCONT, false);
}

static void stop_with_job(struct follow *f, int sig)
{
    tty_take_back(f->tty, f->child->pid);
    /* The shell that continues us also sends the CONT that we pass on. */
    if (!tty_stop_with_job() && sig == SIGTSTP)
        follow_continue(f);
}

/* Another process of our job, such as a pager, wants the terminal and was
 * stopped for it: because the command has it, or because our job does not. */
void follow_share_terminal(struct follow *f, int sig)
{
    if (tty_belongs_to(f->tty, f->child->pid)) {
        f->tty->give = false;
        tty_take_back(f->tty, f->child->pid);
    }
    if (tty_is_ours(f->tty))
        tty_tell_job(SIGCONT);
    else
        stop_with_job(f, sig);
}

static void lend_terminal(struct follow *f)
{
    f->tty->give = true;
    tty_hand_over(f->tty, f->child->pid);
    child_signal(f->child, SIGCONT, false);
}

void follow_stop(struct follow *f, bool ending)
{
    struct job_view view = { .signal = f->child->stopped_by };
    enum job_step step;

    if (view.signal == 0)
        return;
    view.has = tty_belongs_to(f->tty, f->child->pid);
    view.ours = tty_is_ours(f->tty);
    view.lent = f->tty->give;
    view.told = f->told_to_stop;
    view.ending = ending;
    f->child->stopped_by = 0;
    step = job_next(&view);
    if (step == JOB_LEND)
        lend_terminal(f);
    else if (step == JOB_STOP)
        stop_with_job(f, view.signal);
}

/* A key that ended the command was meant for all of our job, as the script that
 * has started us, and we were between them. */
void follow_take_terminal_back(struct follow *f)
{
    int sig = WIFSIGNALED(f->child->status) ? WTERMSIG(f->child->status) : 0;

    if (!tty_belongs_to(f->tty, f->child->pid))
        return;
    tty_take_back(f->tty, f->child->pid);
    if (sig == SIGINT || sig == SIGQUIT)
        tty_tell_job(sig);
}
