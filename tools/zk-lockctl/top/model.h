/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what top knows of the locks, in the order that the user wants. Pure. */
#pragma once

#include "common/words.h"
#include "model/scan.h"
#include "text/fields.h"

/* The columns that locks can be sorted by: the first of lock_fields. */
enum top_key {
    TOP_LOCK,
    TOP_KIND,
    TOP_DIALECT,
    TOP_STATE,
    TOP_HOLDER,
    TOP_HELD,
    TOP_WAIT,
    TOP_LONGEST,
    TOP_TOKEN,
    TOP_KEYS,
};
/* The columns of a list of locks: those of ls, and always the longest wait. */
const struct field *top_fields(void);

/* What a process holds, added up. */
struct top_owner {
    char who[WHO_MAX];  /* fit for a terminal */
    size_t locks;       /* it holds, or is among their holders */
    size_t waiters;     /* of these locks */
    int64_t held_ms;    /* the lock that it holds longest, at most; -1: none */
    int64_t longest_ms; /* the longest wait for one of them; -1: none */
};
extern const struct field top_owner_fields[];

struct top_owners {
    struct top_owner *items; /* who holds most is first */
    size_t count;
};

struct top_order {
    enum top_key key;
    bool reversed;
    const char *filter; /* part of a lock or a holder; "": all */
};

struct top_totals {
    size_t held;
    size_t waiters;
    int64_t longest_wait_ms;
    bool more; /* of a queue, or of the locks, not all are counted */
};

struct top_model {
    struct scan scan;          /* the last look; at_ms 0: none yet */
    const struct lock **shown; /* those that pass, in order */
    size_t shown_count;
    struct top_owners owners;
    struct top_totals totals;
};

/* Takes the next look, with the contents of the scan. */
void top_model_take(struct top_model *model, struct scan *scan);

/* Sets `shown`. */
void top_model_arrange(struct top_model *model, const struct top_order *order);

/* Returns the index of a lock in `shown`, or shown_count when it is not
 * there. */
size_t top_model_find(const struct top_model *model, const char *path);
/* Finds a lock, shown or not; NULL if there is none. */
const struct lock *top_model_lock(const struct top_model *model,
                                  const char *path);

void top_model_done(struct top_model *model);
