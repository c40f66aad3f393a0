/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a lock, and of a contender. */
#ifndef TEXT_LOCK_FIELDS_H
#define TEXT_LOCK_FIELDS_H

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

/* Locks as ls prints them. An exit code. */
int locks_print(const struct lockctl *ctl, const struct lock *locks,
                size_t count, int64_t at_ms, const struct notes *notes);
json_t *describe_contender(const struct lock *lock, const struct contender *c);

#endif
