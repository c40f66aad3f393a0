/* SPDX-License-Identifier: Apache-2.0 */
/* Holds: who in this process holds a lock, and how often.
 *
 * A lock knows the claims that were granted through it and that their owners
 * have not released yet, the lost ones too. */
#pragma once

#include "lock/claim.h"
#include "session/locked.h"

#define ZKR__DEPTH_MAX 65535u

/* An owner is a thread, by its number, or whom the user has named
 * (zkr_acquire_opts), by that number and this bit; 0 is nobody. */
#define ZKR__OWNER_NAMED (UINT64_C(1) << 63)

/* Returns the owner that the user has named; the calling thread for 0. */
uint64_t zkr__hold_owner(uint64_t named);

/* Returns the owner of a new grant at the place of `c`: the owner of `c` if the
 * user named it, else the calling thread. */
uint64_t zkr__hold_heir(const struct zkr__claim *c);

/* Returns a claim of that owner, or NULL. It returns a lost one only when
 * there is no other. */
struct zkr__claim *zkr__hold_find_locked(const struct zkr__lock *lock,
                                         const struct zkr__recipe *recipe,
                                         uint64_t owner) ZKR__LOCKED;

/* An acquire of that owner, who may have the lock already. ZKR_OK: granted
 * once more. ZKR_ENOTHELD: it does not have it. Otherwise the acquire has
 * failed. */
int zkr__hold_again_locked(const struct zkr__lock *lock,
                           const struct zkr__recipe *recipe, uint64_t owner,
                           zkr_grant **ret_grant) ZKR__LOCKED;

/* Called when the claim is granted: its owner holds the lock once. */
void zkr__hold_begin_locked(struct zkr__claim *c) ZKR__LOCKED;

/* release.c: tells whether the calling thread may release the claim: if it owns
 * it, or the lock is not reentrant. Any thread may release what a named owner
 * has. */
bool zkr__hold_is_mine_locked(const struct zkr__claim *c) ZKR__LOCKED;

/* release.c: takes back one acquire. Returns true when it was the last. */
bool zkr__hold_drop_locked(struct zkr__claim *c) ZKR__LOCKED;

/* Free all grants of the lock, with all their handles. */
void zkr__holds_free_unlocks(struct zkr__lock *lock) ZKR__UNLOCKS;
