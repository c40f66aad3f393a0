/* SPDX-License-Identifier: Apache-2.0 */
/* The contenders that were there when a segment of a history began, in the
 * order of the segments. */
#ifndef MODEL_SEEDS_H
#define MODEL_SEEDS_H

#include "model/wire.h"

struct seed {
    size_t segment;
    struct bytes path; /* with the chroot */
    struct bytes data;
    int64_t czxid, ctime_ms, owner; /* 0: not known */
};

struct seeds {
    struct seed *items;
    size_t count;
};

/* With a copy of path and data. False: out of memory. */
bool seeds_add(struct seeds *seeds, const struct seed *seed);
/* Removes the last one. */
void seeds_drop_last(struct seeds *seeds);
void seeds_done(struct seeds *seeds);

#endif
