/* SPDX-License-Identifier: Apache-2.0 */
/* Leftovers: nodes of a session that was reported as over, which are deleted
 * through the next one.
 *
 * A leader that the others have left ends sessions on its own, and tells their
 * clients. The ensemble may keep such a session for another timeout, and its
 * nodes would block everybody for as long. So the node that a claim had in the
 * session before is deleted through the next session. In the usual case the
 * delete finds nothing. Then all nodes of that session have gone with it, so
 * one request is enough; if it finds a node, all are deleted.
 *
 * A holder was promised that nobody else is granted the lock before
 * zkr_grant_valid_until(), so its node is left alone until then. Only a node
 * that is known by its name can be deleted in this way: between a read and the
 * delete one with the name of all could become another's. */
#ifndef ZKR__LEFTOVER_H
#define ZKR__LEFTOVER_H

#include "lock/claim.h"
#include "session/locked.h"

/* Called when the epoch of the claim has ended, before the claim forgets its
 * names: takes over the node that it has, or may have. `not_before` is by the
 * clock of the lease; 0: at once. */
void zkr__leftover_add_locked(struct zkr__claim *c,
                              int64_t not_before) ZKR__LOCKED;

/* Called when the session is closed: no leftover can be deleted any more. */
void zkr__leftovers_end_locked(struct zkr_session *s) ZKR__LOCKED;

#endif
