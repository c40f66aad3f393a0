/* SPDX-License-Identifier: Apache-2.0 */
/* One stay out of those of the same node that several sources tell of:
 * transaction logs, and what runs of watch have printed.
 *
 * Transactions tell when a stay began and ended, watch tells that it had. The
 * stay has the better beginning and the better end of all, and what only one
 * source knows: who its owner is. */
#ifndef MODEL_MERGE_H
#define MODEL_MERGE_H

#include "model/stay.h"

struct merge {
    void *tree;
};

/* Takes the stay. Those of transaction logs come before those of watch. The
 * locks of stays must live as long as this. False: out of memory. */
bool merge_add(struct merge *merge, struct stay *stay);
/* Hands all stays over. Of one that is in a source which has ended before
 * `begin_ms`, when another one begins, it is not known when it went. */
void merge_end(struct merge *merge, int64_t begin_ms, stay_fn *fn, void *user);
void merge_done(struct merge *merge);

#endif
