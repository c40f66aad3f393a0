/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be known of a break before it is made: which contender is meant,
 * and what happens then. */
#pragma once

#include "common/lockctl.h"
#include "common/notes.h"
#include "model/cons.h"
#include "model/lock_state.h"

/* The holder that is meant, by its token; 0: the only one. Without a holder of
 * that token it is the waiter. NULL after it was said why there is none. */
const struct contender *breaking_choose(const struct lock *lock, int64_t token);

/* Adds line by line who holds the lock, or waits, whether it lives, and what
 * happens when its node is deleted. `servers` is NULL when they were not asked.
 */
void breaking_tell(const struct lockctl *ctl, const struct lock *lock,
                   const struct contender *c, const struct servers *servers,
                   struct notes *lines);
