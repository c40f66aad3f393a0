/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that do cycles together, and sleep between the batches. */
#pragma once

#include <stdbool.h>

/* Each thread calls cycle() with its number, 0 to threads - 1. */
void crowd_start(int threads, void (*cycle)(int member));

/* n cycles, of all of them together; returns when the last has ended. */
void crowd_run(long n);

/* Cycles for so many seconds. */
void crowd_run_for(long seconds);

void crowd_stop(void);

/* The time from a release to the next grant, for locks with one holder at a
 * time: the holder calls them right after its acquire, and right before its
 * release. crowd_run() adds the figures handoff_ns (median), p99_ns and gap_ns
 * (longest time between two grants). */
void crowd_granted(void);
void crowd_releasing(void);
