/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a verb that runs until SIGINT or SIGTERM, also while it waits. */
#include "common/stop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/lockctl.h"
#include "common/one_signal.h"

enum {
    PATIENCE_MS = 1000,
    RETRY_MS = 100, /* to see whether the connection is back */
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    sigset_t signals;
    bool asked;
    bool woken;
    bool ended;
    bool printing;
} stop = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static struct timespec later(int64_t duration_ms)
{
    struct timespec t = { 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)(duration_ms / 1000);
    t.tv_nsec += (long)(duration_ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* Waits for the end of the verb, and tells whether it has come. */
static bool wait_for_end_locked(void)
{
    struct timespec end = later(PATIENCE_MS);

    while (!stop.ended && pthread_cond_timedwait(&stop.changed, &stop.mutex,
                                                 &end) != ETIMEDOUT)
        continue;
    return stop.ended;
}

static void *listen(void *arg)
{
    int sig;

    (void)arg;
    (void)sigwait(&stop.signals, &sig);
    (void)pthread_mutex_lock(&stop.mutex);
    stop.asked = true;
    (void)pthread_cond_broadcast(&stop.changed);
    if (!wait_for_end_locked())
        _exit(stop.printing ? EX_IOERR : 0);
    (void)pthread_mutex_unlock(&stop.mutex);
    return NULL;
}

bool stop_start(void)
{
    pthread_condattr_t attr;

    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&stop.changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    (void)sigemptyset(&stop.signals);
    signal_add(&stop.signals, SIGINT);
    signal_add(&stop.signals, SIGTERM);
    (void)sigaddset(&stop.signals, SIGUSR2); /* stop_end() wakes by it */
    (void)pthread_sigmask(SIG_BLOCK, &stop.signals, NULL);
    return pthread_create(&stop.thread, NULL, listen, NULL) == 0;
}

void stop_end(void)
{
    (void)pthread_mutex_lock(&stop.mutex);
    stop.ended = true;
    (void)pthread_cond_broadcast(&stop.changed);
    (void)pthread_mutex_unlock(&stop.mutex);
    (void)pthread_kill(stop.thread, SIGUSR2);
    (void)pthread_join(stop.thread, NULL);
}

bool stop_wait(int64_t duration_ms)
{
    struct timespec end = later(duration_ms);
    bool asked;

    (void)pthread_mutex_lock(&stop.mutex);
    while (!stop.asked && !stop.woken &&
           pthread_cond_timedwait(&stop.changed, &stop.mutex, &end) !=
               ETIMEDOUT)
        continue;
    stop.woken = false;
    asked = stop.asked;
    (void)pthread_mutex_unlock(&stop.mutex);
    return !asked;
}

void stop_wake(void)
{
    (void)pthread_mutex_lock(&stop.mutex);
    stop.woken = true;
    (void)pthread_cond_broadcast(&stop.changed);
    (void)pthread_mutex_unlock(&stop.mutex);
}

void stop_printing(bool printing)
{
    (void)pthread_mutex_lock(&stop.mutex);
    stop.printing = printing;
    (void)pthread_mutex_unlock(&stop.mutex);
}

int stop_flush(void)
{
    bool flushed = fflush(stdout) == 0 && ferror(stdout) == 0;

    stop_printing(false);
    return flushed ? 0 : EX_IOERR;
}

bool stop_wait_for_connection(const struct lockctl *ctl, bool *said)
{
    while (!lockctl_is_connected(ctl) && !lockctl_is_over(ctl)) {
        if (!*said)
            lockctl_say(ctl, "connection lost, waiting for it");
        *said = true;
        if (!stop_wait(RETRY_MS))
            return false;
    }
    return true;
}
