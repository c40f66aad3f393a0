/* SPDX-License-Identifier: Apache-2.0 */
/* The locks at one moment of a history: contenders come and go, and begin to
 * hold. */
#pragma once

#include "model/past.h"
#include "model/place.h"
#include "model/txnlogs.h"

/* Transactions between two gaps. Of the moments in it, all contenders are
 * known, or not. */
struct segment {
    int64_t zxid;     /* of the first transaction; 0: none yet */
    bool whole;       /* a snapshot has told what was there before */
    int64_t begin_ms; /* 0: not played yet */
    int64_t until_ms; /* from then on nothing is known */
    size_t contenders;
    bool unsure; /* another one may have held than those that are known */
    struct node *items; /* seeds: contenders that were there before */
    size_t count;
};

struct segments {
    struct segment *items;
    size_t count;
};

/* A transaction was made then. */
void segment_lengthen(struct segment *segment, int64_t now_ms);
/* Keeps a copy of a node as a seed. False: out of memory. */
bool segment_keep(struct segment *segment, const struct node *node);
/* Forgets the last seed. */
void segment_drop_last(struct segment *segment);
/* All contenders of that moment are known. */
bool segments_know(const struct segments *segments, int64_t ms);
void segments_done(struct segments *segments);

struct history_fns {
    stay_fn *stay;
    void (*gap)(const struct gap *gap, void *user);
    void *user;
};

struct present {
    /* Nobody is told of a stay, nor who holds; what was there before is a
     * seed. */
    bool learning;
    struct history_fns fns;
    struct places places;
    struct pasts pasts;
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

/* A node is there now. NULL: it is no contender that is wanted, or is there
 * already. */
struct stay *present_arrive(struct present *present, const struct node *node,
                            bool ephemeral);

/* The stay ends with what it says of its end. */
void present_end(struct present *present, struct stay *stay);
void present_end_as(struct present *present, struct stay *stay,
                    enum ending ending, int64_t by, int64_t at_ms);

/* Who holds when that lock has changed. `before`: they may have held before
 * this moment. */
void present_settle(struct present *present, struct past *past, bool before);

/* Plays a transaction. All of it is one moment: who holds is told when it is
 * over. False: a part of it is not known. */
bool present_apply(struct present *present, const struct txn *txn);
