/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the wall clock of single processes, by whole days.
 *
 * A preloaded library adds to CLOCK_REALTIME what a shared file says for its
 * process; no other clock, and no other process, sees anything. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

#define WALL_CLOCK_FILE "ZKR_WALL_CLOCK" /* environment: the file */

enum {
    WALL_CLOCK_PIDS = 1 << 22, /* one byte each: days, from -128 to 127 */
    WALL_CLOCK_DAY = 86400,
};

/* Preload the library into all children that this process starts from now on.
 * False with errno. */
bool wall_clock_start(const char *library, const char *dir);

void wall_clock_set(pid_t pid, int days);

/* Returns the true time for an instant of the clock of some process, in ms:
 * without the added days. The true time is within half a day of `near_ms`. */
int64_t wall_clock_true(int64_t time_ms, int64_t near_ms);
