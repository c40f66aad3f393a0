/* SPDX-License-Identifier: Apache-2.0 */
/* Waits with the user while another process acquires the lock, and prints the
 * code for the shell. */
#include "run/front.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/contender.h"

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            text += n;
            size -= (size_t)n;
        }
    }
    return true;
}

/* How far the front has come with the code. */
enum front_step { NOT_PRINTED = 'n', BEGUN = 'b', PRINTED = 'p' };

static bool tell_step(int fd, enum front_step step)
{
    char byte = (char)step;

    return write_all(fd, &byte, 1);
}

/* -- in the background ---------------------------------------------------- */

/* The shell may have all of the code when the front was killed in between. */
int front_print(int front_fd, const char *code, size_t size, bool *ret_unsure)
{
    char step = NOT_PRINTED;

    *ret_unsure = false;
    if (!write_all(front_fd, code, size) || shutdown(front_fd, SHUT_WR) != 0)
        return EX_IOERR;
    while (step != PRINTED && read(front_fd, &step, 1) == 1)
        continue;
    *ret_unsure = step == BEGUN;
    return step == NOT_PRINTED ? EX_IOERR : 0;
}

/* Others are to see that we are not the one who works under the lock. */
static void take_name(void)
{
    static char name[] = OWNER_HOLD;

    program_invocation_short_name = name;
    (void)prctl(PR_SET_NAME, name);
}

/* Keys of the terminal are not for us. The end of the front is a HUP, which
 * ends the wait for the lock; later nobody minds it. */
static int go_to_background(pid_t front)
{
    take_name();
    (void)signal(SIGHUP, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGHUP);
    if (getppid() != front) /* it died before the line above took effect */
        return EX_SIGNALED + SIGHUP;
    return setsid() < 0 ? lockctl_fail(EX_RUN, "cannot start a session: %s",
                                       strerror(errno))
                        : 0;
}

/* -- in the foreground ---------------------------------------------------- */

/* All until the other end is closed; false when the shell has ended before. */
static bool read_code(int fd, const struct script *script, FILE *code)
{
    struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
                            { .fd = script->fd, .events = POLLIN } };
    char part[4096];
    ssize_t n = 1;

    while (n > 0) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return false;
        if ((fds[1].revents & POLLIN) != 0)
            return false;
        if (fds[0].revents == 0)
            continue;
        n = read(fd, part, sizeof(part));
        if (n > 0)
            (void)fwrite(part, 1, (size_t)n, code);
    }
    return true;
}

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

/* What is not whole is not printed. */
static bool is_whole(const char *code, size_t size)
{
    static const char end[] = "\n" FRONT_END;

    return size > strlen(end) && strcmp(code + size - strlen(end), end) == 0;
}

/* A shell that does not read ends us by no signal: we have to say so. */
static int print(int fd, const char *code, size_t size)
{
    (void)signal(SIGPIPE, SIG_IGN);
    if (!tell_step(fd, BEGUN))
        return lockctl_fail(EX_SOFTWARE, "the process that kept the lock was "
                                         "killed");
    if (write_all(STDOUT_FILENO, code, size) && tell_step(fd, PRINTED))
        return 0;
    (void)tell_step(fd, NOT_PRINTED);
    return lockctl_fail(EX_IOERR, "cannot write the output");
}

/* When the code is not printed, the lock is given back. */
static int wait_in_front(int fd, const struct script *script, pid_t pid)
{
    char *text = NULL;
    size_t size = 0;
    FILE *code = open_memstream(&text, &size);
    int result = EX_SIGNALED + SIGHUP;

    if (code == NULL)
        return lockctl_fail(EX_RUN, "out of memory");
    if (read_code(fd, script, code))
        result = 0;
    (void)fclose(code);
    if (result == 0)
        result = is_whole(text, size) ? script_check(script) : code_of(pid);
    if (result == 0)
        result = print(fd, text, size);
    free(text);
    return result;
}

int front_fork(struct run *run, struct keep *keep, int fn(struct run *run))
{
    pid_t front = getpid();
    int ends[2];
    int code;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return lockctl_fail(EX_RUN, "no socket: %s", strerror(errno));
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
