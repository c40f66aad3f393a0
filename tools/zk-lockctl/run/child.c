/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the guard of a command, or of a shell, and has that signal it and tell
 * what becomes of it. */
#include "run/child.h"

#include <errno.h>
#include <poll.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "run/proc.h"

enum { STARTING_MS = 100 };

/* Its child, the command, may have stopped it. */
static void wake_guard(const struct child *c)
{
    if (c->guard_pid > 0)
        (void)kill(c->guard_pid, SIGCONT);
}

void child_signal(struct child *c, int sig, bool all)
{
    struct guard_wish wish = { sig, all };

    wake_guard(c);
    if (c->shell != NULL && c->guard_pid == 0)
        (void)guard_signal_all(c->guard, c->shell, 0, sig);
    else
        (void)send(c->guard_fd, &wish, sizeof(wish),
                   MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* 0 when the command is executed and nobody has the other end any more. */
static int read_error(const struct child *c, int fd)
{
    struct pollfd pollfd = { .fd = fd, .events = POLLIN };
    int error = 0;

    while (poll(&pollfd, 1, STARTING_MS) <= 0)
        wake_guard(c);
    return read(fd, &error, sizeof(error)) == sizeof(error) ? error : 0;
}

/* With a pair of sockets and a pipe, of which it closes all but c->guard_fd. */
static int fork_guard(struct child *c, const struct guard_plan *plan,
                      const int ends[2], const int errors[2])
{
    int error = 0;
    pid_t pid = guard_fork();

    if (pid == 0)
        guard_run(c->guard, plan, ends[1], errors[1]);
    if (pid < 0)
        error = -errno;
    c->guard_pid = pid < 0 ? 0 : pid;
    c->guard_fd = ends[0];
    c->news_fd = c->shell == NULL ? ends[0] : c->shell->process.fd;
    (void)close(ends[1]);
    (void)close(errors[1]);
    if (error == 0)
        error = read_error(c, errors[0]);
    (void)close(errors[0]);
    return error;
}

static int start(struct child *c, const struct guard_plan *plan)
{
    int ends[2];
    int errors[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    if (pipe2(errors, O_CLOEXEC) == 0)
        return fork_guard(c, plan, ends, errors);
    int error = -errno;
    (void)close(ends[0]);
    (void)close(ends[1]);
    return error;
}

static struct guard *share(void)
{
    void *at = mmap(NULL, sizeof(struct guard), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

int child_start(struct child *c, const struct guard_plan *plan,
                int64_t deadline_ms)
{
    *c = (struct child){ .guard_fd = -1,
                         .news_fd = -1,
                         .since_ms = clock_boot_ms() - PROC_START_MS,
                         .shell = plan->shell,
                         .guard = share() };
    if (c->guard == NULL)
        return -errno;
    atomic_store(&c->guard->status, GUARD_RUNS);
    atomic_store(&c->guard->told, plan->shell == NULL);
    atomic_store(&c->guard->deadline_ms, deadline_ms);
    c->guard->joined = plan->group != 0;
    int error = start(c, plan);
    if (error != 0)
        child_done(c);
    return error;
}

static void note_end(struct child *c, int status)
{
    c->ended = true;
    c->status = status;
    atomic_store(&c->guard->status, status);
}

/* Also strangers that are ours, as those that a shell had before it became us.
 * A guard that is stopped would not tell of the end of the command. */
static void reap_ours(struct child *c)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (WIFSTOPPED(status))
            wake_guard(c);
        else if (pid == c->guard_pid)
            c->guard_pid = 0;
        else if (pid == atomic_load(&c->guard->command))
            note_end(c, status);
    }
}

/* The guard was killed, so the kernel has killed the command, and the orphans
 * are ours. */
static void replace_guard(struct child *c)
{
    struct timespec pause = { .tv_nsec = GUARD_AGAIN_MS * 1000000L };

    while (guard_signal_all(c->guard, NULL, c->since_ms, SIGKILL)) {
        (void)nanosleep(&pause, NULL);
        reap_ours(c);
    }
    if (!c->ended)
        note_end(c, SIGKILL);
    c->guard_killed = true;
    atomic_store(&c->guard->empty, true);
}

/* When its guard was killed, we see by ourselves whether anything is left. */
static bool reap_shell(struct child *c)
{
    c->ended = shell_has_ended(c->shell);
    if (c->ended)
        c->news_fd = -1;
    return !c->ended || (c->guard_pid == 0 ? shell_has_left(c->shell)
                                           : !atomic_load(&c->guard->empty));
}

bool child_reap(struct child *c)
{
    struct guard *g = c->guard;
    char byte;
    int status;

    reap_ours(c);
    if (c->shell != NULL)
        return reap_shell(c);
    while (recv(c->guard_fd, &byte, 1, MSG_DONTWAIT) == 1)
        continue;
    status = atomic_load(&g->status);
    if (!c->ended && status != GUARD_RUNS)
        note_end(c, status);
    if (!atomic_load(&g->empty) && c->guard_pid == 0)
        replace_guard(c);
    return !atomic_load(&g->empty);
}

void child_done(struct child *c)
{
    int status = 0;

    child_signal(c, 0, false);
    while (c->guard_pid > 0 && waitpid(c->guard_pid, &status, WUNTRACED) > 0 &&
           WIFSTOPPED(status))
        wake_guard(c);
    if (c->guard_fd >= 0)
        (void)close(c->guard_fd);
    (void)munmap(c->guard, sizeof(*c->guard));
    c->guard = NULL;
}
