/* SPDX-License-Identifier: Apache-2.0 */
/* A chain: an acquire, as claims of one caller, one after the other, by one
 * deadline. Either all are granted, or none is kept. Those of one lock begin
 * together. */
#pragma once

#include "lock/lockable.h"
#include "request/condition.h"

/* The function that is told of the outcome: one of the two, or NULL. */
struct zkr__told {
    zkr_acquire_fn one;
    zkr_acquire_all_fn all;
    void *user;
};

/* Gives up every chain of that object, with ZKR_ECANCELED. Where the object is
 * one lock, zkr__lock_cancel_locked() does this, and lets no other claim in
 * meanwhile. */
void zkr__chains_cancel(zkr_lockable *l);

/* Acquires what the options say, which have been checked. `beside` is the
 * grant at whose place the claim of one lock stands; NULL: the grant that its
 * owner has of that lock, if any. On success `ret_grants` has the grants of the
 * links that are no gates, in their order; the caller has emptied it. */
int zkr__chain_acquire(zkr_lockable *l, const struct zkr_acquire_opts *how,
                       struct zkr__claim *beside,
                       const struct zkr__time_limit *until,
                       zkr_grant **ret_grants);

/* Acquires in the same way, and calls `told` with the outcome. */
int zkr__chain_acquire_async(zkr_lockable *l,
                             const struct zkr_acquire_opts *how,
                             int64_t timeout_ms, const struct zkr__told *told,
                             zkr_request **ret_request);
