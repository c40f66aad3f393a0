/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what is wrong with locks, as far as it can be seen from outside. */
#ifndef MODEL_DOCTOR_H
#define MODEL_DOCTOR_H

#include "model/deadlock.h"
#include "model/findings.h"
#include "model/scan.h"
#include "model/servers.h"

struct doctor_opts {
    int64_t older_ms; /* holders; 0: any age is right */
    bool empty;       /* directories that have lost their last child */
};

/* All findings in a scan; `servers` were asked for all clients and the
 * watches on all nodes; NULL: they were not. */
void doctor_examine(const struct scan *scan, const struct servers *servers,
                    const struct doctor_opts *opts, struct findings *findings);
/* The deadlocks among them. */
void doctor_add_deadlocks(const struct deadlocks *deadlocks,
                          struct findings *findings);

#endif
