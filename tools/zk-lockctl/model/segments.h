/* SPDX-License-Identifier: Apache-2.0 */
/* The segments of a history: transactions between two gaps. Of the moments in
 * one, all contenders are known, or not. */
#ifndef MODEL_SEGMENTS_H
#define MODEL_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment {
    int64_t zxid;     /* of the first transaction; 0: none yet */
    bool whole;       /* a snapshot has told what was there before */
    int64_t begin_ms; /* 0: not played yet */
    int64_t until_ms; /* from then on nothing is known */
    size_t contenders;
    bool unsure; /* another one may have held than those that are known */
};

struct segments {
    struct segment *items;
    size_t count;
};

/* False: out of memory. */
bool segments_add(struct segments *segments);
/* A transaction was made then. */
void segment_lengthen(struct segment *segment, int64_t now_ms);
/* All contenders of that moment are known. */
bool segments_know(const struct segments *segments, int64_t ms);
void segments_done(struct segments *segments);

#endif
