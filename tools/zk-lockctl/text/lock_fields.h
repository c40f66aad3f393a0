/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a lock, and of a contender. */
#pragma once

#include "text/cells.h"
#include "text/fields.h"

/* A contender in its lock. */
struct place {
    const struct lock *lock;
    const struct contender *c;
    const struct told *told; /* by the servers; NULL: they were not asked */
};

extern const struct field owner_fields[];     /* of a struct zkr__known_owner */
extern const struct field contender_fields[]; /* of a struct place */
extern const struct field lock_fields[];      /* of a struct lock */
extern const struct kind owner_kind, contender_kind, lock_kind;

/* Of a struct lock, and of what begins with one: words and texts of its cells;
 * its only holder, NULL where there are several. */
const char *lock_kind_word(const void *item);
const char *lock_dialect_word(const void *item);
const char *lock_state_text(const void *item, char room[FIELD_ROOM]);
const char *lock_holder_text(const void *item, char room[FIELD_ROOM]);
const char *lock_waiters_text(const void *item, char room[FIELD_ROOM]);
const void *lock_owner_of(const void *item);
const void *lock_node_of(const void *item);

/* Locks as ls prints them. An exit code. */
int locks_print(const struct lockctl *ctl, const struct lock *locks,
                size_t count, int64_t at_ms, const struct notes *notes);
json_t *describe_contender(const struct lock *lock, const struct contender *c);
