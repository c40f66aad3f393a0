/* SPDX-License-Identifier: Apache-2.0 */
/* Says the state of the one lock that a verb is about in one line, or as one
 * row: for check, wait, revoke and break. */
#pragma once

#include "common/lockctl.h"
#include "model/lock_state.h"

/* "held by hostA:123 (kazoo), token 0x5, for <=4m12s, 2 wait" on stderr. */
void one_lock_say(const struct lockctl *ctl, const struct lock *lock);

/* Print the lock as ls does, in a format for machines; nothing in a table. An
 * exit code. */
int one_lock_print(const struct lockctl *ctl, const struct lock *lock);

/* How many nodes of a lock must be read, where `reads` are enough for a line:
 * the formats for machines have the longest wait, too. */
uint32_t one_lock_reads(const struct lockctl *ctl, uint32_t reads);
