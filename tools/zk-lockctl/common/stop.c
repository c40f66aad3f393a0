/* SPDX-License-Identifier: Apache-2.0 */
#include "common/stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/lockctl.h"
#include "common/now.h"

enum { PATIENCE_S = 1 };

static struct {
    int wake; /* an eventfd: what is written there ends a wait */
    volatile sig_atomic_t asked;
    volatile sig_atomic_t printing;
} stop = { .wake = -1 };

void stop_wake(void)
{
    static const uint64_t one = 1;

    (void)!write(stop.wake, &one, sizeof(one));
}

/* The main thread waits for the servers, and has not joined all of its threads:
 * in _exit() a sanitizer would call these a leak. */
static void on_signal(int sig)
{
    int error = errno;

    if (sig == SIGALRM)
        (void)syscall(SYS_exit_group, stop.printing ? EX_IOERR : 0);
    if (!stop.asked)
        (void)alarm(PATIENCE_S);
    stop.asked = true;
    stop_wake();
    errno = error;
}

static void take_all(const int *signals, size_t count)
{
    const struct sigaction action = { .sa_handler = on_signal,
                                      .sa_flags = SA_RESTART };
    struct sigaction before;
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < count; i++) {
        (void)sigaction(signals[i], &action, &before);
        if (signals[i] != SIGALRM && before.sa_handler == SIG_IGN)
            (void)sigaction(signals[i], &before, NULL);
        (void)sigaddset(&set, signals[i]);
    }
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static const int signals[] = { SIGALRM, SIGINT, SIGTERM };

void stop_start(void)
{
    stop.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop.wake < 0)
        exit(lockctl_fail(EX_SOFTWARE, "no eventfd: %s", strerror(errno)));
    take_all(signals, sizeof(signals) / sizeof(signals[0]));
}

void stop_soon(void)
{
    take_all(signals, 1);
    (void)alarm(PATIENCE_S);
}

void stop_end(void)
{
    (void)alarm(0);
}

bool stop_wait(int64_t duration_ms)
{
    struct pollfd woken = { .fd = stop.wake, .events = POLLIN };
    int64_t end_ms = clock_now_ms() + duration_ms;
    int64_t left_ms = duration_ms;
    uint64_t count;

    while (!stop.asked && left_ms > 0 &&
           poll(&woken, 1, left_ms < INT32_MAX ? (int)left_ms : INT32_MAX) < 1)
        left_ms = end_ms - clock_now_ms();
    (void)!read(stop.wake, &count, sizeof(count));
    return !stop.asked;
}

void stop_printing(bool printing)
{
    stop.printing = printing;
}

int stop_flush(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO };
    bool flushed = fflush(stdout) == 0 && ferror(stdout) == 0;

    stop_printing(false);
    if (poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0) {
        (void)raise(SIGPIPE);
        flushed = false; /* it is ignored */
    }
    return flushed ? 0 : EX_IOERR;
}

void signal_add(sigset_t *set, int sig)
{
    struct sigaction now;

    if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        (void)sigaddset(set, sig);
}

void signal_obey(int sig)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, sig);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL); /* it arrives here */
}
