/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that knows how long each of its turns should take. */
#include "stopwatch.h"

#include <stdio.h>
#include <stdlib.h>

#include "wait.h"

#define MS 1000000LL

/* One turn: a sleep and a piece of work, because the code that is timed sleeps
 * mostly but also works, and a full machine delays work more than a wake-up. A
 * wake-up takes a moment on a quiet machine, too. */
enum {
    SLEEP_NS = 2000000,
    WORK_NS = 100000,
    WAKE_NS = 200000,
    TURN_NS = SLEEP_NS + WORK_NS + WAKE_NS,
};

struct stopwatch {
    pthread_t thread;
    pthread_mutex_t lock;
    bool stop;
    int64_t start_ns;
    int64_t turn_ns; /* when the turn that goes on has begun */
    int64_t late_ns; /* of all turns before it */
};

static int64_t later_than_due(const struct stopwatch *w, int64_t now)
{
    int64_t late = now - w->turn_ns - TURN_NS;

    return late > 0 ? late : 0;
}

static void *stopwatch_main(void *watch)
{
    struct stopwatch *w = watch;
    struct timespec pause = { .tv_nsec = SLEEP_NS };

    for (bool stop = false; !stop;) {
        (void)nanosleep(&pause, NULL);
        int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + WORK_NS;
        while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
            ;
        int64_t now = clock_ns(CLOCK_MONOTONIC);
        (void)pthread_mutex_lock(&w->lock);
        w->late_ns += later_than_due(w, now);
        w->turn_ns = now;
        stop = w->stop;
        (void)pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

struct stopwatch *stopwatch_start(void)
{
    struct stopwatch *w = calloc(1, sizeof(*w));

    if (w == NULL || pthread_mutex_init(&w->lock, NULL) != 0)
        abort();
    w->start_ns = clock_ns(CLOCK_MONOTONIC);
    w->turn_ns = w->start_ns;
    if (pthread_create(&w->thread, NULL, stopwatch_main, w) != 0)
        abort();
    return w;
}

/* A turn that is overdue counts: who reads may have been woken before it. */
struct lap stopwatch_lap(struct stopwatch *w)
{
    struct lap lap;

    (void)pthread_mutex_lock(&w->lock);
    int64_t now = clock_ns(CLOCK_MONOTONIC);
    lap.took_ns = now - w->start_ns;
    lap.late_ns = w->late_ns + later_than_due(w, now);
    (void)pthread_mutex_unlock(&w->lock);
    return lap;
}

struct lap stopwatch_stop(struct stopwatch *w)
{
    struct lap last = stopwatch_lap(w);

    (void)pthread_mutex_lock(&w->lock);
    w->stop = true;
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
    return last;
}

bool lap_is_within(struct lap lap, int64_t least_ms, int64_t most_ms)
{
    bool within = lap.took_ns >= least_ms * MS &&
                  lap.took_ns <= most_ms * MS + lap.late_ns;

    if (!within)
        (void)fprintf(stderr,
                      "took %.1f ms, the machine was late by %.1f ms of that; "
                      "expected %lld to %lld ms\n",
                      (double)lap.took_ns / MS, (double)lap.late_ns / MS,
                      (long long)least_ms, (long long)most_ms);
    return within;
}

bool stopwatch_says(struct stopwatch *w, int64_t least_ms, int64_t most_ms)
{
    return lap_is_within(stopwatch_stop(w), least_ms, most_ms);
}
