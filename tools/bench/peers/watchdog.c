/* SPDX-License-Identifier: Apache-2.0 */
/* The watchdog's thread. */
#include "watchdog.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static struct timespec in_ms(int64_t ms)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* It wakes at each period, held or not: a lock that is taken and given back at
 * once costs no switch to this thread. */
static void *watch(void *arg)
{
    struct watchdog *dog = arg;

    (void)pthread_mutex_lock(&dog->mutex);
    while (!dog->ending) {
        struct timespec at = in_ms(dog->period_ms);

        while (!dog->ending && pthread_cond_timedwait(&dog->ended, &dog->mutex,
                                                      &at) != ETIMEDOUT) {
        }
        if (!dog->ending && dog->held)
            dog->held = dog->renew(dog->user);
    }
    (void)pthread_mutex_unlock(&dog->mutex);
    return NULL;
}

void watchdog_start(struct watchdog *dog, int64_t period_ms,
                    bool (*renew)(void *user), void *user)
{
    pthread_condattr_t attr;

    *dog = (struct watchdog){ .period_ms = period_ms,
                              .renew = renew,
                              .user = user };
    (void)pthread_mutex_init(&dog->mutex, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&dog->ended, &attr);
    (void)pthread_condattr_destroy(&attr);
    if (pthread_create(&dog->thread, NULL, watch, dog) != 0)
        abort();
}

void watchdog_hold(struct watchdog *dog, bool held)
{
    (void)pthread_mutex_lock(&dog->mutex);
    dog->held = held;
    (void)pthread_mutex_unlock(&dog->mutex);
}

void watchdog_end(struct watchdog *dog)
{
    (void)pthread_mutex_lock(&dog->mutex);
    dog->ending = true;
    (void)pthread_cond_signal(&dog->ended);
    (void)pthread_mutex_unlock(&dog->mutex);
    (void)pthread_join(dog->thread, NULL);
    (void)pthread_mutex_destroy(&dog->mutex);
    (void)pthread_cond_destroy(&dog->ended);
}
