/* SPDX-License-Identifier: Apache-2.0 */
/* The killer: a process beside the one that keeps a lock for a shell. It is in
 * a session of its own, so that a signal to us does not hit it. */
#include "run/killer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/now.h"

struct killer {
    atomic_bool watches;
    _Atomic int64_t deadline_ms; /* 0: none */
    atomic_bool late;            /* it has acted after one */
    pid_t pid;
    int fd; /* a socket; end of file at its other end: we are dead */
    struct killer_way way;
};

enum { LONGEST_SLEEP_MS = 1000 };

static int sleep_ms(struct killer *k)
{
    int64_t left = atomic_load(&k->deadline_ms);

    if (left == 0 || atomic_load(&k->late))
        return LONGEST_SLEEP_MS;
    left -= clock_boot_ms();
    return left < 0                  ? 0
           : left < LONGEST_SLEEP_MS ? (int)left
                                     : LONGEST_SLEEP_MS;
}

static void act(struct killer *k, bool late)
{
    if (!atomic_load(&k->watches))
        return;
    if (late)
        atomic_store(&k->late, true);
    k->way.end(k->way.arg, late);
}

static bool is_late(struct killer *k)
{
    int64_t deadline_ms = atomic_load(&k->deadline_ms);

    return deadline_ms != 0 && clock_boot_ms() >= deadline_ms &&
           !atomic_load(&k->late);
}

/* A byte says that nobody works any more; end of file, that we are dead. */
static void watch(struct killer *k, int fd)
{
    struct pollfd pollfd = { .fd = fd, .events = POLLIN };
    char byte;

    for (;;) {
        int n = poll(&pollfd, 1, is_late(k) ? 10 : sleep_ms(k));

        if (n > 0 || (n < 0 && errno != EINTR)) {
            if (read(fd, &byte, 1) != 1)
                act(k, false);
            return;
        }
        if (is_late(k))
            act(k, true);
    }
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

static _Noreturn void become_killer(struct killer *k, int fd)
{
    sigset_t all;

    (void)setsid();
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)!write(fd, "", 1);
    (void)prctl(PR_SET_NAME, "zk-lockctl guard");
    close_others(fd, k->way.fd);
    k->way.begin();
    if (chdir("/") == 0)
        watch(k, fd);
    _exit(0);
}

/* Until it is in its own session, a signal to our group hits it, too. */
static bool is_ready(const struct killer *k)
{
    char byte;
    ssize_t n;

    do
        n = read(k->fd, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* 0, or -1 with errno. */
static int start_process(struct killer *k)
{
    int ends[2];
    int error;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    pid = fork(); /* not into what the two of them share */
    if (pid == 0)
        become_killer(k, ends[0]);
    (void)close(ends[0]);
    k->pid = pid;
    k->fd = ends[1];
    if (pid > 0 && is_ready(k))
        return 0;
    error = pid < 0 ? errno : ECHILD;
    (void)close(k->fd);
    if (pid > 0)
        (void)waitpid(pid, NULL, 0);
    errno = error;
    return -1;
}

struct killer *killer_start(const struct killer_way *way)
{
    struct killer *k = mmap(NULL, sizeof(*k), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (k == MAP_FAILED)
        return NULL;
    k->way = *way;
    if (start_process(k) == 0)
        return k;
    (void)munmap(k, sizeof(*k));
    return NULL;
}

void killer_watch(struct killer *k, bool watch)
{
    atomic_store(&k->watches, watch);
}

void killer_set_deadline(struct killer *k, int64_t deadline_ms)
{
    atomic_store(&k->deadline_ms, deadline_ms);
}

bool killer_was_late(struct killer *k)
{
    return atomic_load(&k->late);
}

void killer_dismiss(struct killer *k)
{
    if (k == NULL)
        return;
    (void)!write(k->fd, "", 1);
    (void)close(k->fd);
    (void)waitpid(k->pid, NULL, 0); /* or it has died before */
    (void)munmap(k, sizeof(*k));
}
