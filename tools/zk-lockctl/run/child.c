/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the command as a process group, signals it, and finds its
 * descendants. */
#include "run/child.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/proc.h"

/* Children that are not of the command: the killer, and those that a shell had
 * before it became us. */
static pid_t *strangers;
static size_t stranger_count;

static bool is_stranger(pid_t pid)
{
    for (size_t i = 0; i < stranger_count; i++) {
        if (strangers[i] == pid)
            return true;
    }
    return false;
}

static bool note_stranger(pid_t pid, void *failed)
{
    pid_t *more =
        realloc(strangers, (stranger_count + 1) * sizeof(strangers[0]));

    if (more == NULL) {
        *(bool *)failed = true;
        return false;
    }
    strangers = more;
    strangers[stranger_count++] = pid;
    return true;
}

bool child_adopt_orphans(void)
{
    bool failed = false;

    return proc_each_child(note_stranger, &failed) && !failed &&
           prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

/* Runs between fork and exec: other threads may have held any lock of libc. */
static _Noreturn void become(const struct child_plan *plan, bool lend,
                             pid_t parent, int error_fd)
{
    int error;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before the line above took effect */
        _exit(127);
    (void)setpgid(0, 0);
    killer_watch(plan->killer, getpid()); /* our parent may be stopped now */
    if (lend)
        tty_hand_over(plan->tty, getpid());
    if (fds_close_others_on_exec(plan->fds) == 0) {
        signals_restore(plan->signals);
        (void)execvpe(plan->argv[0], plan->argv, plan->env);
    }
    error = errno;
    (void)!write(error_fd, &error, sizeof(error));
    _exit(127);
}

int child_start(struct child *c, const struct child_plan *plan,
                const char **ret_step)
{
    bool lend = plan->tty->give && tty_is_ours(plan->tty);
    pid_t parent = getpid();
    int ends[2];
    int error = 0;

    *ret_step = "fork";
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    c->pid = fork();
    if (c->pid == 0)
        become(plan, lend, parent, ends[1]);
    error = c->pid < 0 ? errno : 0;
    (void)close(ends[1]);
    if (error == 0) {
        (void)setpgid(c->pid, c->pid);
        *ret_step = "exec";
        if (read(ends[0], &error, sizeof(error)) != sizeof(error))
            error = 0;
    }
    (void)close(ends[0]);
    if (error != 0 && c->pid > 0) {
        killer_watch(plan->killer, 0);
        (void)waitpid(c->pid, NULL, 0);
        tty_take_back(plan->tty, c->pid);
    }
    if (error != 0)
        c->pid = 0;
    return error;
}

void child_signal(const struct child *c, int sig)
{
    if (c->pid > 0)
        (void)kill(-c->pid, sig);
}

struct sending {
    pid_t group;
    int sig;
    bool refused;
};

static bool send_to(pid_t pid, void *arg)
{
    struct sending *s = arg;

    if (is_stranger(pid))
        return true;
    /* Its pid cannot be another's: nobody but us waits for it. */
    if (getpgid(pid) != s->group && kill(pid, s->sig) != 0 && errno == EPERM)
        s->refused = true;
    return true;
}

bool child_signal_all(const struct child *c, int sig)
{
    struct sending s = { c->pid, sig, false };

    if (kill(-c->pid, sig) != 0 && errno == EPERM)
        s.refused = true;
    (void)proc_each_child(send_to, &s);
    return !s.refused;
}

void child_continue(struct child *c)
{
    c->stopped_by = 0;
    child_signal(c, SIGCONT);
}

void child_reap(struct child *c)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (pid != c->pid)
            continue;
        if (WIFSTOPPED(status)) {
            c->stopped_by = WSTOPSIG(status);
            continue;
        }
        c->ended = true;
        c->status = status;
    }
}

static bool found(pid_t pid, void *arg)
{
    *(bool *)arg = !is_stranger(pid);
    return !*(bool *)arg;
}

bool child_has_descendants(void)
{
    bool any = false;

    /* A process that could not be looked at may be one. */
    return !proc_each_child(found, &any) || any;
}
