/* Nodes of a session that is said to be over, deleted through the next one.
 *
 * A leader that the others have deserted ends sessions on its own, and tells
 * their clients. The ensemble may keep such a session for another timeout, and
 * its nodes would block everybody for as long. So what a claim had in the
 * session before is looked after: a delete through the next session, which
 * finds nothing in the usual case. Then all of that session have gone with it,
 * so one request is enough; if it finds a node, all are deleted.
 *
 * A holder was promised that nobody else is granted the lock before
 * zkr_grant_valid_until(): its node is left alone until then. Only a node that
 * is known by its name can be seen to so: see by_data.c. */
#ifndef ZKR__LEFTOVER_H
#define ZKR__LEFTOVER_H

#include "lock/claim.h"
#include "session/locked.h"

/* The epoch of the claim has ended: see to the node that it has, or may have.
 * Before the claim forgets its names. `not_before` is by the clock of the
 * lease; 0: at once. */
void zkr__leftover_add_locked(struct zkr__claim *c,
                              int64_t not_before) ZKR__LOCKED;

/* The session is closed: nothing can be done any more. */
void zkr__leftovers_end_locked(struct zkr_session *s) ZKR__LOCKED;

#endif
