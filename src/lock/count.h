/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what claims do, for the lock object and for its session. Claims that
 * no caller has made, the delegates of cohorts, are not counted otherwise. */
#pragma once

#include "lock/claim.h"

void zkr__count_acquire_locked(struct zkr__claim *c) ZKR__LOCKED;

/* It waits for another contender. Called again, it counts once. */
void zkr__count_wait_locked(struct zkr__claim *c) ZKR__LOCKED;

/* The servers have refused to delete its node; delegates count, too. */
void zkr__count_refusal_locked(struct zkr__claim *c) ZKR__LOCKED;

/* It is decided. */
void zkr__count_outcome_locked(struct zkr__claim *c) ZKR__LOCKED;

/* Its grant has entered this state, from HELD or doubt. */
void zkr__count_grant_locked(struct zkr__claim *c,
                             enum zkr_grant_state_kind state) ZKR__LOCKED;
