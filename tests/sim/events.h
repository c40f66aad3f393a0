/* Virtual time, and what is to happen when. */
#ifndef SIM_EVENTS_H
#define SIM_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define MS INT64_C(1000000)

/* Nanoseconds. */
extern int64_t sim_now;

void events_reset(void);

/* Events of one instant happen in the order in which they were asked for. */
void events_at(int64_t instant, void (*fn)(void *arg, uint64_t tag), void *arg,
               uint64_t tag);

/* When the next is due; INT64_MAX without one. */
int64_t events_next(void);
void events_run_next(void);

#endif
