/* SPDX-License-Identifier: Apache-2.0 */
/* Time as the machine gave it: how long something took, and how much of that
 * the machine was late.
 *
 * A test may be late, never wrong. A thread sleeps a little, works a little,
 * and counts by how much that took longer than on a machine that does nothing
 * else. An upper bound on a time is the bound of the code plus what was
 * counted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stopwatch;

/* Since stopwatch_start(). Two laps of one watch can be subtracted. */
struct lap {
    int64_t took_ns;
    int64_t late_ns; /* of that, the machine's lateness */
};

/* Never fails: without a thread to measure with, the program aborts. */
struct stopwatch *stopwatch_start(void);

/* So far; from any thread. */
struct lap stopwatch_lap(struct stopwatch *w);

/* The last lap; frees the watch. */
struct lap stopwatch_stop(struct stopwatch *w);

/* At least `least_ms`, and at most `most_ms` plus the lateness? If not, stderr
 * has the figures. */
bool lap_is_within(struct lap lap, int64_t least_ms, int64_t most_ms);

/* The usual case: stops the watch, and says whether it took that long. */
bool stopwatch_says(struct stopwatch *w, int64_t least_ms, int64_t most_ms);
