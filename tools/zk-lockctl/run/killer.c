/* SPDX-License-Identifier: Apache-2.0 */
/* The killer: a process beside the one that keeps a lock for a shell. It is in
 * a process group of its own, so that a signal to ours does not hit it. */
#include "run/killer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/now.h"

enum { LONGEST_SLEEP_MS = 1000, AGAIN_MS = 10 };

/* INT64_MAX: no deadline, or it has acted after one. */
static int64_t left_ms(const struct killer *k)
{
    int64_t deadline_ms = atomic_load(&k->deadline_ms);

    return deadline_ms == 0 || atomic_load(&k->late)
               ? INT64_MAX
               : deadline_ms - clock_boot_ms();
}

static void act(struct killer *k, bool late)
{
    if (!atomic_load(&k->watches))
        return;
    if (late)
        atomic_store(&k->late, true);
    k->way.end(k->way.arg, late);
}

static void watch(struct killer *k, int fd)
{
    struct pollfd pollfd = { .fd = fd, .events = POLLIN };
    int64_t left;
    int n;

    do {
        left = left_ms(k);
        n = poll(&pollfd, 1,
                 left <= 0                 ? AGAIN_MS
                 : left < LONGEST_SLEEP_MS ? (int)left
                                           : LONGEST_SLEEP_MS);
        if (n == 0 && left_ms(k) <= 0)
            act(k, true);
    } while (n == 0 || (n < 0 && errno == EINTR));
    act(k, false);
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

    (void)setpgid(0, 0);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)prctl(PR_SET_NAME, "zk-lockctl guard");
    close_others(fd, k->way.fd);
    k->way.begin();
    if (chdir("/") == 0)
        watch(k, fd);
    _exit(0);
}

/* 0, or -1 with errno. */
static int start_process(struct killer *k)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    k->pid = fork();
    if (k->pid == 0)
        become_killer(k, ends[0]);
    (void)close(ends[0]);
    k->fd = ends[1];
    if (k->pid > 0) {
        (void)setpgid(k->pid, k->pid); /* it may not have begun */
        return 0;
    }
    (void)close(ends[1]);
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

void killer_dismiss(struct killer *k)
{
    if (k == NULL)
        return;
    atomic_store(&k->watches, false);
    (void)close(k->fd);
    (void)waitpid(k->pid, NULL, 0); /* or it has died before */
    (void)munmap(k, sizeof(*k));
}
