/* SPDX-License-Identifier: Apache-2.0 */
/* Waits with the user while another process acquires the lock, and prints the
 * code for the shell. The shell has to wait for both. */
#include "run/keep.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/contender.h"
#include "run/desk.h"

/* -- in the background ---------------------------------------------------- */

void front_go_on(int front_fd)
{
    (void)!write(front_fd, "", 1);
}

/* Others are to see that we are not the one who works under the lock. */
static void take_name(void)
{
    static char name[] = OWNER_HOLD;

    program_invocation_short_name = name;
    (void)prctl(PR_SET_NAME, name);
}

/* Keys of the terminal are not for us. The end of the front is a HUP, which
 * ends the wait for the lock; later nobody minds it. A shell that does not read
 * ends us by no signal. */
static int go_to_background(pid_t front)
{
    sigset_t release;

    take_name();
    (void)sigemptyset(&release);
    (void)sigaddset(&release, DESK_RELEASE);
    (void)sigprocmask(SIG_BLOCK, &release, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGHUP);
    if (getppid() != front) /* it died before the line above took effect */
        return EX_SIGNALED + SIGHUP;
    return setsid() < 0 ? lockctl_fail(EX_RUN, "cannot start a session: %s",
                                       strerror(errno))
                        : 0;
}

/* -- in the foreground ---------------------------------------------------- */

static int code_of(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status))
        return lockctl_fail(EX_SIGNALED + WTERMSIG(status),
                            "not acquired: the process in the background was "
                            "killed by signal %d",
                            WTERMSIG(status));
    return WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : EX_SOFTWARE;
}

/* 0 when the code is printed; or why it is not. */
static int wait_in_front(int fd, const struct script *script, pid_t pid)
{
    struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
                            { .fd = script->fd, .events = POLLIN } };
    char byte;

    while (poll(fds, 2, -1) < 0)
        continue;
    if ((fds[1].revents & POLLIN) != 0)
        return EX_SIGNALED + SIGHUP;
    return read(fd, &byte, 1) == 1 ? 0 : code_of(pid);
}

int front_fork(struct run *run, struct keep *keep, int fn(struct run *run))
{
    pid_t front = getpid();
    int ends[2];
    int code;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return lockctl_fail(EX_RUN, "no pipe: %s", strerror(errno));
    pid = fork();
    (void)close(ends[pid == 0 ? 0 : 1]);
    if (pid < 0) {
        code = lockctl_fail(EX_RUN, "cannot fork: %s", strerror(errno));
    } else if (pid > 0) {
        code = wait_in_front(ends[0], &keep->script, pid);
    } else {
        keep->front_fd = ends[1];
        run->keep = keep;
        code = go_to_background(front);
        if (code == 0)
            code = fn(run);
    }
    (void)close(ends[pid == 0 ? 1 : 0]);
    return code;
}
