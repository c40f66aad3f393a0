/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the history of locks: a stay in a lock is one row of a table, or an
 * item of JSON. */
#pragma once

#include "common/lockctl.h"
#include "model/past.h"
#include "text/fields.h"

extern const struct kind stay_kind; /* of a stay */

struct past_rows {
    struct stay **items;
    size_t count;
    int64_t end_ms;   /* of the history */
    int64_t at_ms;    /* the moment that was asked for; 0: none */
    bool states;      /* with waiters */
    const char *root; /* the locks at and below it */
};

/* Whether it is known to have held at that moment. */
bool stay_holds_at(const struct stay *stay, int64_t ms);

/* Prints all, and then the notes. An exit code. */
int stays_print(const struct lockctl *ctl, const struct past_rows *rows,
                const struct notes *notes);

/* --- how locks were used --- */

/* What the grants are counted by. */
enum usage_by {
    USAGE_NONE,
    USAGE_BY_LOCK,
    USAGE_BY_OWNER,
};

extern const struct kind usage_kind;

/* Of all stays that held; prints the notes, too. An exit code. */
int usage_print(const struct lockctl *ctl, const struct past_rows *rows,
                enum usage_by by, const struct notes *notes);
