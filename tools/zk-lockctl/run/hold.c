/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a run for a shell into the background, and prints the code for the
 * shell, which waits for a process in the foreground. */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/escape.h"
#include "model/lock_state.h"

/* -- in the background ---------------------------------------------------- */

/* Keys of the terminal are not for us. The end of the front is a HUP, which
 * ends the wait for the lock; later nobody minds it. A shell that does not read
 * ends us by no signal. */
static int go_to_background(pid_t front)
{
    static char name[] = OWNER_HOLD;

    /* Others are to see that we are not the one who works under the lock. */
    program_invocation_short_name = name;
    (void)prctl(PR_SET_NAME, name);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGHUP, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGHUP);
    if (getppid() != front) /* it died before the line above took effect */
        return EX_SIGNALED + SIGHUP;
    return setsid() < 0 ? lockctl_fail(EX_RUN, "cannot start a session: %s",
                                       strerror(errno))
                        : 0;
}

/* export NAME='VALUE'; for each variable that tells of a lock. A newline alone
 * would not end a command when the quotes around "$(...)" are missing. */
static void write_exports(FILE *code, char *const *env)
{
    for (; *env != NULL; env++) {
        size_t len = strcspn(*env, "=");

        if (strncmp(*env, "ZKLOCK_", strlen("ZKLOCK_")) != 0)
            continue;
        char *value = shell_quote(*env + len + 1);
        (void)fprintf(code, "export %.*s=%s;\n", (int)len, *env, value);
        free(value);
    }
    (void)fputs(":;\n", code);
}

/* What is not whole is not printed. */
static int print_code(const struct run *run)
{
    char *text = NULL;
    size_t size = 0;
    FILE *code = open_memstream(&text, &size);
    char **env = run_env_new(run);
    bool written = code != NULL && env != NULL;
    int result = 0;

    if (written)
        write_exports(code, env);
    free(env);
    if (code != NULL && fclose(code) != 0)
        written = false;
    if (!written)
        result = lockctl_fail(EX_RUN, "out of memory");
    else if (write(STDOUT_FILENO, text, size) != (ssize_t)size)
        result = lockctl_fail(EX_IOERR, "cannot write the output");
    free(text);
    return result;
}

static int start_guard(struct run *run)
{
    struct guard_plan plan = { .shell = &run->shell, .last = run->opts.last };

    run->desk = desk_new(run->session_id, &run->opts.wanted);
    if (run->desk == NULL)
        return lockctl_fail(EX_RUN, "no memory to share: %s", strerror(errno));
    atomic_store(&run->desk->valid_until_ms, run_view_now(run).valid_until_ms);
    int error = child_start(&run->child, &plan, 0);
    return error == 0 ? 0
                      : lockctl_fail(EX_RUN, "cannot start the guard: %s",
                                     strerror(-error));
}

/* The shell goes on when the front has ended, which waits for the byte. */
int hold_begin(struct run *run)
{
    int code = shell_check(&run->shell);

    if (code == 0)
        code = start_guard(run);
    if (code == 0)
        code = print_code(run);
    if (code != 0)
        return code;
    atomic_store(&run->child.guard->deadline_ms,
                 run_view_now(run).valid_until_ms);
    shell_let_go();
    inherited_close(&run->inherited);
    (void)!write(run->front_fd, "", 1);
    return 0;
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
static int wait_in_front(int fd, const struct shell *shell, pid_t pid)
{
    struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
                            { .fd = shell->process.fd, .events = POLLIN } };
    char byte;

    while (poll(fds, 2, -1) < 0)
        continue;
    if ((fds[1].revents & POLLIN) != 0)
        return EX_SIGNALED + SIGHUP;
    return read(fd, &byte, 1) == 1 ? 0 : code_of(pid);
}

int hold_fork(struct run *run, int fn(struct run *run))
{
    pid_t front = getpid();
    int ends[2];
    int code;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return lockctl_fail(EX_RUN, "no pipe: %s", strerror(errno));
    pid_t pid = fork();
    (void)close(ends[pid == 0 ? 0 : 1]);
    if (pid < 0) {
        code = lockctl_fail(EX_RUN, "cannot fork: %s", strerror(errno));
    } else if (pid > 0) {
        code = wait_in_front(ends[0], &run->shell, pid);
    } else {
        run->front_fd = ends[1];
        run->holds = true;
        code = go_to_background(front);
        if (code == 0)
            code = fn(run);
    }
    (void)close(ends[pid == 0 ? 1 : 0]);
    return code;
}
