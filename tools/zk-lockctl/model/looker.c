/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that looks at all locks again and again, one look at a time. */
#include "model/looker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/escape.h"

enum {
    RETRY_MS = 100,       /* to see whether the connection is back */
    READ_MAX = 1000,      /* of the nodes of a lock; the others are counted */
    WITHIN_MS_MAX = 60000 /* for finding the locks */
};

struct looker {
    struct lockctl *ctl;
    const char *root;
    pthread_t thread;
    pthread_mutex_t mutex; /* of the rest: */
    pthread_cond_t changed;
    int fd;
    int64_t interval_ms;
    bool now;   /* a look is asked for */
    bool stop;  /* the end is asked for */
    bool ended; /* the session, too */
    bool has_result;
    struct look_result result;
};

/* Directories of locks come and go with them. */
static void see_nothing(const char *root, struct look_result *ret)
{
    char path[256];

    (void)escape_string(root, path, sizeof(path));
    ret->scan = (struct scan){ .at_ms = clock_wall_ms() };
    notes_add(&ret->scan.notes, "%s does not exist", path);
    ret->error = ZKR_OK;
}

void look_once(const struct lockctl *ctl, const char *root,
               struct look_result *ret)
{
    struct scan_opts opts = { .barriers = true, .reads = READ_MAX };
    int64_t began = clock_now_ms();

    *ret = (struct look_result){ .error = ZKR_OK };
    opts.timeout_ms = ctl->timeout_ms > WITHIN_MS_MAX
                          ? WITHIN_MS_MAX
                          : (uint32_t)ctl->timeout_ms;
    ret->error = locks_list(ctl->session, root, &opts, &ret->scan, ret->detail);
    if (ret->error == ZKR_ZNONODE)
        see_nothing(root, ret);
    ret->took_ms = clock_now_ms() - began;
}

static void tell_and_unlock(struct looker *l)
{
    (void)pthread_cond_broadcast(&l->changed);
    (void)pthread_mutex_unlock(&l->mutex);
}

static void wait_until_locked(struct looker *l, int64_t end_ms)
{
    struct timespec end = { .tv_sec = (time_t)(end_ms / 1000),
                            .tv_nsec = (long)(end_ms % 1000) * 1000000 };

    (void)pthread_cond_timedwait(&l->changed, &l->mutex, &end);
}

/* Waits until it is time for the next look. Servers have at least as much time
 * between two looks as one takes. */
static void rest_locked(struct looker *l, int64_t began_ms, int64_t took_ms)
{
    for (;;) {
        int64_t pause =
            l->interval_ms > 2 * took_ms ? l->interval_ms : 2 * took_ms;

        if (l->stop || l->now || clock_now_ms() >= began_ms + pause)
            return;
        wait_until_locked(l, began_ms + pause);
    }
}

static void wait_for_connection_locked(struct looker *l)
{
    while (!l->stop && !lockctl_is_connected(l->ctl))
        wait_until_locked(l, clock_now_ms() + RETRY_MS);
}

/* One result is kept; the next look waits until it is taken. */
static void hand_over_locked(struct looker *l, struct look_result *result)
{
    while (l->has_result && !l->stop)
        (void)pthread_cond_wait(&l->changed, &l->mutex);
    if (l->has_result) {
        scan_done(&result->scan);
        return;
    }
    l->result = *result;
    l->has_result = true;
    (void)eventfd_write(l->fd, 1);
}

static void *look(void *arg)
{
    struct looker *l = arg;

    (void)pthread_mutex_lock(&l->mutex);
    while (!l->stop) {
        struct look_result result;
        int64_t began = clock_now_ms();

        l->now = false;
        (void)pthread_mutex_unlock(&l->mutex);
        look_once(l->ctl, l->root, &result);
        (void)pthread_mutex_lock(&l->mutex);
        hand_over_locked(l, &result);
        rest_locked(l, began, result.took_ms);
        wait_for_connection_locked(l);
    }
    (void)pthread_mutex_unlock(&l->mutex);
    lockctl_disconnect(l->ctl);
    (void)pthread_mutex_lock(&l->mutex);
    l->ended = true;
    tell_and_unlock(l);
    return NULL;
}

static void looker_free(struct looker *l)
{
    if (l->has_result)
        scan_done(&l->result.scan);
    if (l->fd >= 0)
        (void)close(l->fd);
    (void)pthread_cond_destroy(&l->changed);
    (void)pthread_mutex_destroy(&l->mutex);
    free(l);
}

static bool start_thread(struct looker *l)
{
    sigset_t all, before;
    bool started;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&l->thread, NULL, look, l) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

bool looker_start(struct lockctl *ctl, const char *root, int64_t interval_ms,
                  struct looker **ret_looker)
{
    struct looker *l = calloc(1, sizeof(*l));
    pthread_condattr_t attr;

    if (l == NULL)
        return false;
    l->ctl = ctl;
    l->root = root;
    l->interval_ms = interval_ms;
    (void)pthread_mutex_init(&l->mutex, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&l->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    l->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->fd < 0 || !start_thread(l)) {
        looker_free(l);
        return false;
    }
    *ret_looker = l;
    return true;
}

int looker_fd(const struct looker *l)
{
    return l->fd;
}

bool looker_take(struct looker *l, struct look_result *ret)
{
    eventfd_t count;
    bool has;

    (void)pthread_mutex_lock(&l->mutex);
    (void)eventfd_read(l->fd, &count);
    has = l->has_result;
    if (has)
        *ret = l->result;
    l->has_result = false;
    tell_and_unlock(l);
    return has;
}

void looker_now(struct looker *l)
{
    (void)pthread_mutex_lock(&l->mutex);
    l->now = true;
    tell_and_unlock(l);
}

void looker_every(struct looker *l, int64_t interval_ms)
{
    (void)pthread_mutex_lock(&l->mutex);
    l->interval_ms = interval_ms;
    tell_and_unlock(l);
}

bool looker_end(struct looker *l, int64_t patience_ms)
{
    int64_t end = clock_now_ms() + patience_ms;
    bool ended;

    (void)pthread_mutex_lock(&l->mutex);
    l->stop = true;
    (void)pthread_cond_broadcast(&l->changed);
    while (!l->ended && clock_now_ms() < end)
        wait_until_locked(l, end);
    ended = l->ended;
    (void)pthread_mutex_unlock(&l->mutex);
    if (!ended)
        return false;
    (void)pthread_join(l->thread, NULL);
    looker_free(l);
    return true;
}
