/* SPDX-License-Identifier: Apache-2.0 */
/* A claim at the place of a grant that its owner has: the downgrade, and the
 * read lock of a thread that has the write lock. */
#pragma once

#include "lock/claim.h"
#include "session/locked.h"

/* Returns the claim of that owner at whose place a claim of that recipe is
 * granted, or NULL. */
struct zkr__claim *zkr__downgrade_find_locked(const struct zkr__lock *lock,
                                              const struct zkr__recipe *recipe,
                                              uint64_t owner) ZKR__LOCKED;

/* `queue` is a list taken after the create of our node. Leaves the node of the
 * grant beside us out of it, or takes it in again, and returns its index, or
 * ZKR__NOBODY. */
size_t zkr__downgrade_leave_out(const struct zkr__claim *c,
                                struct zkr__queue *queue, bool out);
/* The claim came late: gives it up, and the grant beside it is LOST. */
void zkr__downgrade_fail_locked(struct zkr__claim *c) ZKR__LOCKED;
