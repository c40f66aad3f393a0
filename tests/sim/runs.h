/* SPDX-License-Identifier: Apache-2.0 */
/* Runs schedules, each in a process of its own that may crash. */
#pragma once

#include "report.h"

/* Runs the schedule of a script, or NULL: of `seed`, in a process of its own.
 * Returns false when it fails; then `r` says how. */
bool run_script(struct report *r, const uint32_t *script, size_t count,
                uint64_t seed);

/* From now on schedules run in this process, which ends when one fails, and
 * says how. Processes cost more than schedules. */
void runs_together(void);

/* Makes a failing schedule as simple as possible; `r` holds it, then the
 * simpler one. Returns how many choices it has, without zeros at its end. */
size_t shrink(struct report *r);
