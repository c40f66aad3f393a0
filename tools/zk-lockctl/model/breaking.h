/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of breaking a lock: which contender is meant, what the user must
 * know before, and the deed. */
#ifndef MODEL_BREAKING_H
#define MODEL_BREAKING_H

#include "common/notes.h"
#include "model/server_words.h"
#include "model/target.h"

/* The holder that is meant, by its token; 0: the only one. Without a holder of
 * that token it is the waiter. NULL: the outcome says why there is none. */
const struct contender *breaking_choose(const struct lock *lock, int64_t token,
                                        struct outcome *ret_outcome);

/* Adds line by line who holds the lock, or waits, whether it lives, and what
 * happens when its node is deleted. `servers` is NULL when they were not asked.
 */
void breaking_tell(const struct lockctl *ctl, const struct lock *lock,
                   const struct contender *c, const struct servers *servers,
                   struct notes *lines);

/* Deletes the node, if it still is that of the target, and of a waiter that
 * still waits, and writes to the system log who did it, and why, if a reason is
 * given. It asks for the lock with that first. Returns the code of the
 * outcome. */
int breaking_do(const struct lockctl *ctl, const struct target *target,
                const char *reason, struct outcome *ret_outcome);

#endif
