/* SPDX-License-Identifier: Apache-2.0 */
/* The killer: the guard of a shell for which a lock is kept. */
#include "run/killer.h"

#include <errno.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/keep.h"

static void act(const struct run *run, struct killer *k, bool late)
{
    if (!atomic_load(&k->watches))
        return;
    if (late)
        atomic_store(&k->deadline.missed, true);
    keep_end_orphan(run, late);
}

/* It acts when a deadline passes, once; and when we are dead. */
static void watch(const struct run *run, struct killer *k, int fd)
{
    struct pollfd pollfd = { .fd = fd, .events = POLLIN };
    int left_ms;
    int n;

    do {
        bool missed = atomic_load(&k->deadline.missed);

        left_ms = missed ? GUARD_SLEEP_MS : deadline_left_ms(&k->deadline);
        n = poll(&pollfd, 1, left_ms > 0 ? left_ms : GUARD_AGAIN_MS);
        if (n == 0 && !missed && deadline_left_ms(&k->deadline) == 0)
            act(run, k, true);
    } while (n == 0 || (n < 0 && errno == EINTR));
    act(run, k, false);
}

/* Both are above the standard descriptors. */
static void close_others(int fd, int also)
{
    int low = also < fd ? also : fd;
    int high = also > fd ? also : fd;

    if (low > STDERR_FILENO + 1)
        (void)close_range(STDERR_FILENO + 1, (unsigned)low - 1, 0);
    if (high > low + 1)
        (void)close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    (void)close_range((unsigned)high + 1, ~0U, 0);
}

static _Noreturn void become_killer(const struct run *run, struct killer *k,
                                    int fd)
{
    close_others(fd, run->keep->script.fd);
    script_let_go();
    if (chdir("/") == 0)
        watch(run, k, fd);
    _exit(0);
}

/* 0, or -1 with errno. Both processes see `k`: only ours notes the other. */
static int start_process(const struct run *run, struct killer *k)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    pid = guard_fork();
    if (pid == 0)
        become_killer(run, k, ends[0]);
    (void)close(ends[0]);
    k->pid = pid;
    k->fd = ends[1];
    if (pid > 0)
        return 0;
    (void)close(ends[1]);
    return -1;
}

struct killer *killer_start(const struct run *run)
{
    struct killer *k = guard_share(sizeof(*k));

    if (k == NULL || start_process(run, k) == 0)
        return k;
    (void)munmap(k, sizeof(*k));
    return NULL;
}

void killer_dismiss(struct killer *k)
{
    if (k == NULL)
        return;
    atomic_store(&k->watches, false);
    (void)close(k->fd);
    (void)waitpid(k->pid, NULL, 0); /* or it has died before */
    (void)munmap(k, sizeof(*k));
}
