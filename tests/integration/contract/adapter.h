/* SPDX-License-Identifier: Apache-2.0 */
/* Adapters: one interface to every exclusive recipe. */
#pragma once

#include "fixture.h"

/* Traits: promises of a recipe beyond exclusion. */
enum trait {
    FAIR = 1u << 0,           /* it grants in the order of the queue */
    QUEUES = 1u << 1,         /* a waiter has a node; otherwise only the holder
                                 has one */
    REENTRANT = 1u << 2,      /* its owner may acquire it again */
    THREAD_OWNED = 1u << 3,   /* only the thread that acquired may release */
    KEEPS_GRANTS = 1u << 4,   /* the recipe owns the grants, not the caller */
    ASYNC = 1u << 5,          /* it has acquire_async */
    SHARES = 1u << 6,         /* those who acquire through one object have one
                                 node among them, */
    STAYS = SHARES | 1u << 7, /* which stays when the lock is given back */
    TURNS = 1u << 8,          /* it waits for its turn in /locks: only the first
                                 waiter has a node beside the holder */
    CAMPAIGNS = 1u << 9,    /* it goes on in every session, whatever happens; a
                               try without an answer has timed out */
    TRIES_WRITE = 1u << 10, /* a try makes a node */
};

/* One recipe. `lock` is its handle, or what it takes for one; also NULL where
 * the recipe allows it. */
struct adapter {
    const char *name;
    unsigned traits;
    const char *below; /* where the nodes are, below the path */
    uint32_t flags;    /* of its options, as the next two */
    uint32_t retain_ms;
    uint32_t retain_max;
    int (*make)(zkr_session *s, const char *path,
                const struct zkr_lockable_opts *opts, zkr_lockable **ret_lock);
    void (*free)(zkr_lockable *lock);
    int (*acquire)(zkr_lockable *lock, int64_t timeout_ms,
                   zkr_grant **ret_grant);
    int (*acquire_async)(zkr_lockable *lock, int64_t timeout_ms,
                         zkr_acquire_fn fn, void *user,
                         zkr_request **ret_request);
    int (*cancel)(zkr_lockable *lock);
    /* Give back one acquire. The grant stays readable until it is forgotten,
     * unless the recipe owns it. */
    int (*release)(zkr_lockable *lock, zkr_grant *grant);
    void (*forget)(zkr_lockable *lock, zkr_grant *grant);
};

extern const struct adapter adapters[];
extern const size_t adapter_count;

/* Makes a lock, with these flags and its own. */
int adapter_make(const struct adapter *recipe, zkr_session *s, const char *path,
                 uint32_t flags, void **ret_lock);
