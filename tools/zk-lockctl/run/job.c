/* SPDX-License-Identifier: Apache-2.0 */
/* Treats the command as a job of our shell, although we are between the two:
 * its stops, and the terminal. */
#include "run/job.h"

#include <signal.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "run/child.h"

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

/* -- the terminal --------------------------------------------------------- */

void job_open(struct job_control *job)
{
    job->tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    job->give = job->tty >= 0 && tcgetsid(STDIN_FILENO) == getsid(0);
}

static bool belongs_to(const struct job_control *job, pid_t group)
{
    return job->tty >= 0 && tcgetpgrp(job->tty) == group;
}

/* Tells whether we, or our shell with us, have it now. */
static bool is_ours(const struct job_control *job)
{
    return belongs_to(job, getpgrp());
}

bool job_lends(const struct job_control *job)
{
    return job->give && is_ours(job);
}

void job_hand_over(const struct job_control *job, pid_t group)
{
    if (job->tty >= 0)
        (void)tcsetpgrp(job->tty, group);
}

void job_take_back(const struct job_control *job, pid_t group)
{
    if (belongs_to(job, group))
        (void)tcsetpgrp(job->tty, getpgrp());
}

/* -- stops ---------------------------------------------------------------- */

bool job_stop_us(void)
{
    pid_t parent = getppid();

    /* Without a parent in our session our group is orphaned: the kernel would
     * not stop it either. 0 is a parent outside of our container. */
    if (parent == 0 || getsid(parent) != getsid(0))
        return false;
    (void)kill(0, SIGTSTP); /* blocked here, so it stops the others */
    (void)kill(getpid(), SIGSTOP);
    return true;
}

void job_continue(struct job_control *job, struct child *child)
{
    job->told_to_stop = false;
    if (job_lends(job))
        job_hand_over(job, child_pid(child));
    child_signal(child, SIGCONT, false);
}

static void stop_with_us(struct job_control *job, struct child *child, int sig)
{
    job_take_back(job, child_pid(child));
    /* The shell that continues us also sends the CONT that we pass on. */
    if (!job_stop_us() && sig == SIGTSTP)
        job_continue(job, child);
}

/* Another process of our job, such as a pager, wants the terminal and was
 * stopped for it: because the command has it, or because our job does not. */
void job_share_terminal(struct job_control *job, struct child *child, int sig)
{
    if (belongs_to(job, child_pid(child))) {
        job->give = false;
        job_take_back(job, child_pid(child));
    }
    if (is_ours(job))
        (void)kill(0, SIGCONT);
    else
        stop_with_us(job, child, sig);
}

void job_stop(struct job_control *job, struct child *child, bool ending)
{
    struct job_view view = { .signal = child->stopped_by };
    enum job_step step;

    if (view.signal == 0)
        return;
    view.has = belongs_to(job, child_pid(child));
    view.ours = is_ours(job);
    view.lent = job->give;
    view.told = job->told_to_stop;
    view.ending = ending;
    child->stopped_by = 0;
    step = job_next(&view);
    if (step == JOB_LEND) {
        job->give = true;
        job_continue(job, child);
    } else if (step == JOB_STOP) {
        stop_with_us(job, child, view.signal);
    }
}

/* A key that ended the command was meant for all of our job, as the script that
 * has started us, and we were between them. */
void job_end(const struct job_control *job, const struct child *child)
{
    int sig = WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;

    if (!belongs_to(job, child_pid(child)))
        return;
    job_take_back(job, child_pid(child));
    if (sig == SIGINT || sig == SIGQUIT)
        (void)kill(0, sig);
}
