/* SPDX-License-Identifier: Apache-2.0 */
/* An errand: one function that runs on a thread of its own, because it waits
 * for servers and its caller must not. */
#include "common/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/now.h"

struct errand {
    void (*run)(void *arg);
    void *arg;
    pthread_t thread;
    int fd; /* written once, when `run` has returned */
};

static void *run(void *arg)
{
    struct errand *e = arg;

    e->run(e->arg);
    (void)eventfd_write(e->fd, 1);
    return NULL;
}

static bool start_thread(struct errand *e)
{
    sigset_t all, before;
    bool started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&e->thread, NULL, run, e) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool errand_start(void (*function)(void *arg), void *arg,
                  struct errand **ret_errand)
{
    struct errand *e = calloc(1, sizeof(*e));

    if (e == NULL)
        return false;
    e->run = function;
    e->arg = arg;
    e->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (e->fd >= 0 && start_thread(e)) {
        *ret_errand = e;
        return true;
    }
    if (e->fd >= 0)
        (void)close(e->fd);
    free(e);
    return false;
}

int errand_fd(const struct errand *e)
{
    return e == NULL ? -1 : e->fd;
}

static bool has_returned(const struct errand *e, int64_t patience_ms)
{
    struct pollfd p = { .fd = e->fd, .events = POLLIN };
    int64_t end_ms = clock_now_ms() + patience_ms;
    int n;

    do {
        int64_t left_ms = end_ms - clock_now_ms();

        n = poll(&p, 1, left_ms > 0 ? (int)left_ms : 0);
    } while (n < 0 && errno == EINTR);
    return n == 1;
}

bool errand_end(struct errand *e, int64_t patience_ms)
{
    if (e == NULL)
        return true;
    if (!has_returned(e, patience_ms))
        return false;
    (void)pthread_join(e->thread, NULL);
    (void)close(e->fd);
    free(e);
    return true;
}
