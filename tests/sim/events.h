/* SPDX-License-Identifier: Apache-2.0 */
/* Events: virtual time, and the actions that are due at each instant. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MS INT64_C(1000000)

/* Nanoseconds. */
extern int64_t sim_now;

void events_reset(void);

/* Events of one instant happen in the order in which they were added. */
void events_at(int64_t instant, void (*fn)(void *arg, uint64_t tag), void *arg,
               uint64_t tag);

/* Returns when the next event is due, or INT64_MAX without one. */
int64_t events_next(void);
void events_run_next(void);
