/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a condition, and counts the threads and descriptors that a test may
 * have leaked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <pthread.h>

/* Asks every 2 ms until the condition holds (true) or the time is up (false).
 * It is asked at least once, and once more after the deadline. */
#define COMES(condition, timeout_ms)                                           \
    __extension__({                                                            \
        int64_t comes_until_ms = now_ms() + (timeout_ms);                      \
        bool comes_late = false, has_come;                                     \
                                                                               \
        while (!(has_come = (condition)) && !comes_late) {                     \
            sleep_ms(2);                                                       \
            comes_late = now_ms() > comes_until_ms;                            \
        }                                                                      \
        has_come;                                                              \
    })

int64_t clock_ns(clockid_t clock);

/* Milliseconds of CLOCK_MONOTONIC, and of CLOCK_REALTIME. */
int64_t now_ms(void);
int64_t real_ms(void);

/* Nanoseconds of CLOCK_BOOTTIME, as the lease counts; and milliseconds. */
int64_t boot_ns(void);
int64_t boot_ms(void);

void sleep_ms(int duration_ms);

/* For pthread_cond_timedwait() with a condition that wait_init() has made. */
void wait_init(pthread_cond_t *condition);
struct timespec wait_deadline(int timeout_ms);

/* Threads and open descriptors of this process, or -1.  An open struct admin
 * counts too: two threads and three descriptors. */
int count_threads(void);
int count_fds(void);
