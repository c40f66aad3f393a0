/* SPDX-License-Identifier: Apache-2.0 */
/* A chain: claims of one caller, one after the other, by one deadline. Either
 * all are granted, or none is kept. Those of one lock begin together. */
#ifndef ZKR__CHAIN_H
#define ZKR__CHAIN_H

#include <zkrecipes/lockable.h>

#include "base/list.h"
#include "lock/recipe.h"
#include "session/locked.h"

struct zkr__claim;
struct zkr__lock;
struct zkr_session;

/* One claim of a chain. */
struct zkr__link {
    struct zkr__lock *lock;
    const struct zkr__recipe *recipe;
    /* It is a gate: given back as soon as so many links after it have been
     * granted. 0: it is no gate, and its grant is for the caller. */
    uint32_t gate;
};

/* The chains of one object of the user that are under way. */
struct zkr__chains {
    /* set once */
    struct zkr_session *session;
    const char *noun; /* for people: "multi-lock" */
    bool fail_on_session_loss;
    /* under the session lock */
    struct zkr__list list;
};

/* The function that is told of the outcome: one of the two. */
struct zkr__told {
    zkr_acquire_fn one;
    zkr_acquire_all_fn all;
    void *user;
};

void zkr__chains_init(struct zkr__chains *chains, struct zkr_session *s,
                      const char *noun, bool fail_on_session_loss);

/* Gives up every chain that is under way, with ZKR_ECANCELED. */
void zkr__chains_cancel(struct zkr__chains *chains);

/* Acquires all, for that owner (zkr_acquire_opts). On success `ret_grants` has
 * the grants of the links that are no gates, in their order; the caller has
 * emptied it. */
int zkr__chain_acquire(struct zkr__chains *chains,
                       const struct zkr__link *links, size_t count,
                       uint64_t owner, int64_t timeout_ms,
                       zkr_grant **ret_grants);

/* The same, without a thread that waits. */
int zkr__chain_acquire_async(struct zkr__chains *chains,
                             const struct zkr__link *links, size_t count,
                             uint64_t owner, int64_t timeout_ms,
                             const struct zkr__told *told,
                             zkr_request **ret_request);

#endif
