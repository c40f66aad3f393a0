/* SPDX-License-Identifier: Apache-2.0 */
/* The locks at one moment of a history: contenders come and go, and begin to
 * hold. */
#ifndef MODEL_PRESENT_H
#define MODEL_PRESENT_H

#include "model/past.h"
#include "model/place.h"
#include "model/seeds.h"
#include "model/segments.h"

struct present {
    /* Nobody is told of a stay, nor who holds; what was there before is put
     * among the seeds. */
    bool learning;
    stay_fn *stay;
    void *user;
    struct places places;
    struct pasts pasts;
    struct seeds seeds;
    struct segments segments;
    size_t segment; /* the present one */
    int64_t now_ms;
    size_t contenders;
    bool unsure; /* of one segment at least */
    bool failed; /* out of memory */
};

struct segment *present_segment(const struct present *present);

/* The lock and the contender that a path stands for. False: for none that is
 * wanted; `ret_stay` is NULL: it is not there. */
bool present_find(struct present *present, struct bytes path, bool ephemeral,
                  struct place *ret_place, struct stay **ret_stay);

/* What is known of a node that is there now. */
struct arrival {
    struct bytes path;
    struct bytes data;
    bool ephemeral;
    int64_t czxid, ctime_ms, owner;
};

/* NULL: it is no contender that is wanted, or is there already. */
struct stay *present_arrive(struct present *present, const struct arrival *a);
/* The same, of a node that was there before. */
void present_plant(struct present *present, const struct seed *seed);

/* The stay ends with what it says of its end. */
void present_end(struct present *present, struct stay *stay);
void present_end_as(struct present *present, struct stay *stay,
                    enum ending ending, int64_t by, int64_t at_ms);

/* Who holds when that lock has changed. `before`: they may have held before
 * this moment. */
void present_settle(struct present *present, struct past *past, bool before);

#endif
