/* SPDX-License-Identifier: Apache-2.0 */
/* Starts children that inherit nothing, and guards a temporary directory. */
#include "spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between fork and exec: other threads may hold any lock of libc, so only
 * async-signal-safe calls here. */
static _Noreturn void become(char *const argv[], int in, int out)
{
    sigset_t none;

    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(in < 0 ? open("/dev/null", O_RDONLY) : in, STDIN_FILENO);
    dup2(out < 0 ? open("/dev/null", O_WRONLY) : out, STDOUT_FILENO);
    dup2(STDOUT_FILENO, STDERR_FILENO);
    syscall(SYS_close_range, 3, ~0U, 0); /* musl has no close_range() */
    execvp(argv[0], argv);
    _exit(127);
}

pid_t spawn(char *const argv[], int in, int out)
{
    pid_t pid = fork();

    if (pid == 0)
        become(argv, in, out);
    return pid;
}

pid_t spawn_bound(char *const argv[], int in, int out)
{
    pid_t parent = getpid();
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The parent may have died before the line above took effect. */
    if (getppid() != parent)
        _exit(127);
    become(argv, in, out);
}

bool spawn_run(char *const argv[], int out)
{
    pid_t pid = spawn(argv, -1, out);
    int status = -1;

    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status == 0;
}

/* A line on stdin: remove now.  End of file: the test process died, and its
 * servers may live a moment longer, still writing. */
static char guard_script[] = "read -r line || sleep 0.2\n"
                             "for attempt in 1 2 3 4 5; do\n"
                             "    rm -rf -- \"$1\" && exit 0\n"
                             "    sleep 1\n"
                             "done\n";

int guard_start(struct guard *g, const char *dir)
{
    char *argv[] = {
        "/bin/sh", "-c", guard_script, "guard", (char *)dir, NULL
    };
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    g->pid = spawn(argv, ends[0], -1);
    g->fd = ends[1];
    close(ends[0]);
    if (g->pid > 0)
        return 0;
    close(g->fd);
    return -1;
}

int guard_make(struct guard *g, char *dir, size_t size)
{
    const char *tmp = getenv("TMPDIR");

    (void)snprintf(dir, size, "%s/zkrecipes-test-XXXXXX",
                   tmp != NULL && *tmp != '\0' ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        return -1;
    if (guard_start(g, dir) == 0)
        return 0;
    (void)rmdir(dir);
    return -1;
}

void guard_finish(struct guard *g)
{
    /* If the guard is gone already, nothing can be asked of it. */
    (void)!write(g->fd, "\n", 1);
    close(g->fd);
    waitpid(g->pid, NULL, 0);
}
