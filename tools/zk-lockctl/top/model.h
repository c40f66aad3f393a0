/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what top knows of the locks, look after look, in the order that the
 * user wants. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/notes.h"
#include "common/words.h"
#include "model/events.h"
#include "model/lock_state.h"
#include "model/scan.h"
#include "text/fields.h"

/* The columns that locks can be sorted by: the first of top_fields. */
enum top_key {
    TOP_LOCK,
    TOP_KIND,
    TOP_STATE,
    TOP_HOLDER,
    TOP_HELD,
    TOP_WAIT,
    TOP_LONGEST,
    TOP_GRANTS,
    TOP_TOKEN,
    TOP_KEYS,
};

enum {
    TOP_SLOTS = 12,
    TOP_SLOT_MS = 5000,
    TOP_MINUTE_MS = TOP_SLOTS * TOP_SLOT_MS,
};

/* Grants that were seen during the last minute: those of the present slot of
 * time, and of the slots before. */
struct top_history {
    uint32_t grants[TOP_SLOTS];
    int64_t slot;
};

struct top_row {
    struct view view; /* first: it begins with the lock */
    struct top_history history;
    int64_t used_ms;      /* when somebody was last seen there */
    size_t grants;        /* seen during the last minute */
    int64_t held_ms;      /* at most, by the first; -1: nobody holds */
    char holder[WHO_MAX]; /* escaped; "" when nobody holds, or nobody knows */
};

/* Room for the path of a lock, escaped for this terminal. */
enum { TOP_PATH_MAX = ZKR_PATH_MAX * 16 + 1 };

/* What a process holds, added up. */
struct top_owner {
    char who[WHO_MAX];  /* fit for a terminal */
    size_t locks;       /* it holds, or is among their holders */
    size_t waiters;     /* of these locks */
    int64_t held_ms;    /* the lock that it holds longest, at most; -1: none */
    int64_t longest_ms; /* the longest wait for one of them; -1: none */
};

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
    size_t grants; /* of all locks, seen during the last minute */
    int64_t longest_wait_ms;
    bool more; /* of a queue, or of the locks, not all are counted */
};

struct top_model {
    struct top_row *rows; /* by path */
    size_t count;
    const struct top_row **shown; /* those that pass, in order */
    size_t shown_count;
    struct top_owners owners;
    struct top_totals totals;
    struct notes notes; /* of the last look */
    int64_t at_ms;      /* when it was; 0: none yet */
    int64_t began_ms;   /* what it has not seen came not before that */
    bool partial; /* it has not seen all, so what is missing may be there */
};

/* Takes the next look, with the contents of the scan. A lock that is not in use
 * any more is free, or unknown when the look is partial, and forgotten after a
 * minute. Returns false when out of
 * memory. */
bool top_model_take(struct top_model *model, struct scan *scan);

/* Sets `shown`. False: out of memory. */
bool top_model_arrange(struct top_model *model, const struct top_order *order);

/* Returns the index of a lock in `shown`, or shown_count when it is not
 * there. */
size_t top_model_find(const struct top_model *model, const char *path);
/* Finds a lock, shown or not; NULL if there is none. */
const struct top_row *top_model_row(const struct top_model *model,
                                    const char *path);

void top_model_done(struct top_model *model);

/* fields.c: the columns of a struct top_row, and of a struct top_owner. */
extern const struct field top_fields[];
extern const struct field top_owner_fields[];
