/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that hands out the state of all locks again and again. */
#include "model/looker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/now.h"
#include "model/mirror.h"

enum {
    RETRY_MS = 100,       /* to see whether the connection is back */
    PAUSE_MS = 100,       /* between two lists of a lock */
    READ_MAX = 1000,      /* of the nodes of a lock; the others are counted */
    WITHIN_MS_MAX = 60000 /* for finding the locks */
};

struct looker {
    struct lockctl *ctl;
    const char *root;
    char room[ZKR_PATH_MAX + 1];
    struct mirror *mirror; /* of the thread */
    pthread_t thread;
    pthread_mutex_t mutex; /* of the rest: */
    pthread_cond_t changed;
    int fd;
    int64_t interval_ms;
    bool soon;  /* a look is asked for */
    bool now;   /* that look is to list all anew */
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
    ret->error = locks_list(ctl, &root, 1, &opts, &ret->scan, ret->detail);
    if (ret->error == ZKR_OK && ret->scan.missing)
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

/* Waits until it is time for the next look. */
static void rest_locked(struct looker *l, int64_t began_ms)
{
    while (!l->stop && !l->soon && clock_now_ms() < began_ms + l->interval_ms)
        wait_until_locked(l, began_ms + l->interval_ms);
}

/* The mirror may be settled. */
static void wake(void *user)
{
    struct looker *l = user;

    (void)pthread_mutex_lock(&l->mutex);
    tell_and_unlock(l);
}

static bool is_settled(struct looker *l)
{
    return l->mirror != NULL && mirror_is_settled(l->mirror);
}

/* Returns ZKR_OK when all was seen. A server that answers has no end of time
 * for it. */
static int wait_settled_locked(struct looker *l)
{
    int64_t silent_ms;

    for (;;) {
        if (l->stop || is_settled(l))
            return ZKR_OK;
        silent_ms = clock_now_ms() - mirror_heard_ms(l->mirror);
        if (lockctl_is_connected(l->ctl) && silent_ms > l->ctl->timeout_ms)
            return ZKR_EUNREACHABLE;
        wait_until_locked(l, clock_now_ms() + RETRY_MS);
    }
}

/* A path that may not be listed has no locks to show. */
static int check_root(struct looker *l, char detail[SCAN_DETAIL_MAX])
{
    const char *path;
    int rc = mirror_error(l->mirror, &path);

    if (rc != ZKR_OK)
        (void)snprintf(detail, SCAN_DETAIL_MAX, "cannot list %s: %s", path,
                       zkr_strerror(rc));
    return rc;
}

/* What the mirror has. */
static void look_at(struct looker *l, struct look_result *ret)
{
    int64_t began = clock_now_ms();

    *ret = (struct look_result){ .error = ZKR_OK };
    ret->error = check_root(l, ret->detail);
    (void)mirror_tick(l->mirror);
    if (ret->error == ZKR_OK && mirror_is_missing(l->mirror))
        see_nothing(l->root, ret);
    else if (ret->error == ZKR_OK)
        ret->error = mirror_scan(l->mirror, &ret->scan);
    ret->took_ms = clock_now_ms() - began;
}

static int start_mirror(struct looker *l)
{
    struct mirror_opts opts = { .session = l->ctl->session,
                                .path_count = 1,
                                .below = true,
                                .barriers = true,
                                .reads = READ_MAX,
                                .pause_ms = PAUSE_MS,
                                .chroot_len = lockctl_chroot_len(l->ctl),
                                .wake = wake,
                                .user = l };

    l->root = scan_whole(l->ctl->session, l->root, l->room);
    opts.paths = &l->root;
    return mirror_start(&opts, &l->mirror);
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

/* One look after the other. Takes the mutex, and gives it back for a while. */
static void look_locked(struct looker *l, int failed)
{
    struct look_result result = { .error = failed };
    int64_t began = clock_now_ms();
    bool all = l->now;
    int rc = failed;

    l->soon = false; /* what is asked for from here on is the next */
    l->now = false;
    if (rc == ZKR_OK && !all)
        rc = wait_settled_locked(l);
    if (l->stop)
        return;
    (void)pthread_mutex_unlock(&l->mutex);
    if (rc == ZKR_OK && all)
        look_once(l->ctl, l->root, &result);
    else if (rc == ZKR_OK)
        look_at(l, &result);
    else
        result.error = rc;
    result.took_ms = clock_now_ms() - began;
    (void)pthread_mutex_lock(&l->mutex);
    hand_over_locked(l, &result);
    rest_locked(l, clock_now_ms());
    wait_for_connection_locked(l);
}

static void *look(void *arg)
{
    struct looker *l = arg;
    int rc = start_mirror(l);

    (void)pthread_mutex_lock(&l->mutex);
    while (!l->stop)
        look_locked(l, rc);
    (void)pthread_mutex_unlock(&l->mutex);
    lockctl_disconnect(l->ctl);
    mirror_end(l->mirror);
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

void looker_soon(struct looker *l)
{
    (void)pthread_mutex_lock(&l->mutex);
    l->soon = true;
    tell_and_unlock(l);
}

void looker_now(struct looker *l)
{
    (void)pthread_mutex_lock(&l->mutex);
    l->soon = true;
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
