/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks, in milliseconds, and a sleep. */
#pragma once

#include <stdint.h>

#include <time.h>

static inline int64_t clock_ms(clockid_t id)
{
    struct timespec now = { 0 };

    (void)clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* For durations. */
static inline int64_t clock_now_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

/* Time since 1970, for people. */
static inline int64_t clock_wall_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

/* The clock of the lease: it counts the time that the machine is suspended. */
static inline int64_t clock_boot_ms(void)
{
    return clock_ms(CLOCK_BOOTTIME);
}

static inline void clock_sleep_ms(int64_t ms)
{
    struct timespec left = { .tv_sec = ms / 1000,
                             .tv_nsec = ms % 1000 * 1000000 };

    if (ms > 0)
        (void)nanosleep(&left, NULL);
}
