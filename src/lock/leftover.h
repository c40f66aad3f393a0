/* SPDX-License-Identifier: Apache-2.0 */
/* Leftovers: nodes of a session that was reported as over, which are deleted
 * through the next one. */
#pragma once

#include "lock/claim.h"
#include "session/locked.h"

/* Called when the epoch of the claim has ended, before the claim forgets its
 * names: takes over the node that it has, or may have. `not_before` is by the
 * clock of the lease; 0: at once. */
void zkr__leftover_add_locked(struct zkr__claim *c,
                              int64_t not_before) ZKR__LOCKED;

/* Called when the session is closed: no leftover can be deleted any more. */
void zkr__leftovers_end_locked(struct zkr_session *s) ZKR__LOCKED;
