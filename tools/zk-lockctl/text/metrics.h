/* SPDX-License-Identifier: Apache-2.0 */
/* Writes locks as metrics, in the text format of Prometheus. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/lock_state.h"

/* One look at the servers; all zero when they could not be reached. */
struct metrics {
    bool is_up;
    bool is_complete; /* all locks could be seen */
    int64_t scan_ms;
    const struct lock *locks;
    size_t count;
};

/* Those that may not be read are left out. */
void metrics_write(FILE *out, const struct metrics *metrics);
