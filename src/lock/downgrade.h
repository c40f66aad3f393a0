/* A claim at the place of a grant that its owner has: the downgrade, and the
 * read lock of a thread that has the write lock. */
#ifndef ZKR__DOWNGRADE_H
#define ZKR__DOWNGRADE_H

#include "lock/claim.h"
#include "session/locked.h"

/* The grant of this thread beside which a claim of that recipe stands: a
 * reference, or NULL. */
struct zkr__claim *
zkr__downgrade_find_locked(const struct zkr__lock *lock,
                           const struct zkr__recipe *recipe) ZKR__LOCKED;

/* Of a list taken after the create of our node, without which the place counts
 * for nothing: was the grant's node not in it? Else it is left out. */
bool zkr__downgrade_came_late(const struct zkr__claim *c,
                              struct zkr__queue *queue);
/* Then both are lost. */
void zkr__downgrade_fail_locked(struct zkr__claim *c) ZKR__LOCKED;

#endif
