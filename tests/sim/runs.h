/* Schedules, each run in a process that may come to grief. */
#ifndef SIM_RUNS_H
#define SIM_RUNS_H

#include <stdbool.h>

#include "report.h"

/* Run one in a process of its own: the schedule of `seed`, or of a script.
 * False: it fails, and `r` says how. */
bool run_seed(struct report *r, uint64_t seed);
bool run_script(struct report *r, const uint32_t *script, size_t count,
                uint64_t seed);

/* Make a failing schedule as simple as possible; `r` holds it, then the
 * simpler one. Returns how many choices it has but for zeros at its end. */
size_t shrink(struct report *r);

#endif
