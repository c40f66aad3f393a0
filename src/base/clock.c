/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks: one for waiting, one for the lease. */
#include "base/clock.h"

static int64_t read_clock(clockid_t clock)
{
    struct timespec ts;

    (void)clock_gettime(clock, &ts); /* cannot fail on Linux */
    return (int64_t)ts.tv_sec * 1000 * ZKR__MS + ts.tv_nsec;
}

int64_t zkr__clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t zkr__clock_boot(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

int64_t zkr__clock_deadline(int64_t ms)
{
    int64_t now = zkr__clock_now();

    if (ms < 0 || ms > (ZKR__NEVER - now) / ZKR__MS)
        return ZKR__NEVER;
    return now + ms * ZKR__MS;
}

int64_t zkr__clock_left_ms(int64_t deadline)
{
    if (deadline == ZKR__NEVER)
        return -1;
    int64_t left_ms = (deadline - zkr__clock_now() + ZKR__MS - 1) / ZKR__MS;
    return left_ms < 1 ? 1 : left_ms;
}

struct timespec zkr__clock_timespec(int64_t instant)
{
    int64_t sec = instant / (1000 * ZKR__MS);
    struct timespec ts = { .tv_nsec = (long)(instant % (1000 * ZKR__MS)) };

    if (sizeof(ts.tv_sec) < sizeof(sec) && sec > INT32_MAX)
        sec = INT32_MAX;
    ts.tv_sec = (time_t)sec;
    return ts;
}
