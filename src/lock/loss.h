/* SPDX-License-Identifier: Apache-2.0 */
/* Losses: why a grant is LOST. */
#ifndef ZKR__LOSS_H
#define ZKR__LOSS_H

#include "lock/grant.h"
#include "session/locked.h"

/* Called before the grant becomes LOST. */
void zkr__loss_note_locked(struct zkr_grant *g, enum zkr_loss loss) ZKR__LOCKED;

/* Returns what is known by now. */
enum zkr_loss zkr__loss_locked(const struct zkr_grant *g) ZKR__LOCKED;

#endif
