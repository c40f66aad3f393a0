/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks: one for waiting, one for the lease. Besides, protocol/owner.c
 * reads the time of day. */
#pragma once

#include <stdint.h>
#include <time.h>

#define ZKR__NEVER INT64_MAX
#define ZKR__MS    INT64_C(1000000)
#define ZKR__US    INT64_C(1000)

/* CLOCK_MONOTONIC, in nanoseconds. */
int64_t zkr__clock_now(void);

/* CLOCK_BOOTTIME, which counts suspended time, in nanoseconds. */
int64_t zkr__clock_boot(void);

/* The instant in `ms` milliseconds; negative is ZKR__NEVER, as is overflow. */
int64_t zkr__clock_deadline(int64_t ms);

/* The milliseconds until a deadline, for a call that takes a timeout: at least
 * 1, because 0 means something else there, and negative for ZKR__NEVER. They
 * are rounded up, so that the call does not end before the deadline. */
int64_t zkr__clock_left_ms(int64_t deadline);

struct timespec zkr__clock_timespec(int64_t instant);
