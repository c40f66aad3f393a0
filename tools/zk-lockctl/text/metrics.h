/* SPDX-License-Identifier: Apache-2.0 */
/* Writes locks as metrics, in the text format of Prometheus. Pure. */
#pragma once

#include <stdio.h>

#include "model/scan.h"

/* One look at the servers, and how long it took; NULL: they could not be
 * reached. Locks that may not be read are left out. Then the faults of the
 * connection, which `session` has counted; NULL: there is no session. */
void metrics_write(FILE *out, const struct scan *scan, int64_t took_ms,
                   const struct zkr_counters *session);
