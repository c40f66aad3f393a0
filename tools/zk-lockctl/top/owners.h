/* SPDX-License-Identifier: Apache-2.0 */
/* The owners of locks: what each process holds, added up. Pure. */
#ifndef TOP_OWNERS_H
#define TOP_OWNERS_H

#include "model/lock_state.h"

struct top_owner {
    char who[WHO_MAX];  /* fit for a terminal */
    size_t locks;       /* it holds, or is among their holders */
    size_t waiters;     /* of these locks */
    int64_t held_ms;    /* the lock that it holds longest, at most; -1: none */
    int64_t longest_ms; /* the longest wait for one of them; -1: none */
};

struct top_owners {
    struct top_owner *items; /* who holds most is first */
    size_t count;
};

/* Adds the holders of a lock. False: out of memory. */
bool owners_add(struct top_owners *owners, const struct lock *lock);
/* After the last of them. */
void owners_sort(struct top_owners *owners);
void owners_done(struct top_owners *owners);

#endif
