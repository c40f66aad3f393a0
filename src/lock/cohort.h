/* SPDX-License-Identifier: Apache-2.0 */
/* A cohort: the claims of one lock that take it from each other, with one node
 * among them ("lock cohorting": Dice, Marathe, Shavit). cohort.c says how;
 * docs/design.md when a node stays, and why that is safe. */
#pragma once

#include "lock/claim.h"
#include "session/locked.h"

/* The time in which one delegate has its node, and members use it. */
struct zkr__stay {
    bool give_back;    /* as soon as no member has the lock */
    uint64_t grants;   /* to members */
    int64_t unused_at; /* since when nobody has it */
    uint32_t passed;   /* grants to members while others may have waited */
    bool contended;    /* a list has shown others, or there can be no list */
    bool alone;        /* the last list has shown no others, and no event of
                        * the line's watch has come since */
};

struct zkr__cohort { /* under the session lock, but for what is set once */
    struct zkr__lock *lock;      /* that has it */
    int64_t retain;              /* for how long a node stays unused */
    uint32_t max;                /* grants while others wait */
    struct zkr__claim *delegate; /* it has the node, or is on its way; NULL */
    struct zkr__claim *holder;   /* the member that has the lock; NULL */
    struct zkr__list waiting;    /* the members that wait, first come first */
    struct zkr__timer review;    /* of what is due */
    bool closed;                 /* the user has freed the lock */
    struct zkr__stay stay;       /* of this delegate */
};

/* Returns NULL when out of memory. The lock has it, and frees it. */
struct zkr__cohort *zkr__cohort_new(struct zkr__lock *lock, uint32_t retain_ms,
                                    uint32_t max);

/* Returns the role of a caller's claim that stands beside no grant. */
const struct zkr__role *zkr__cohort_role(const struct zkr__lock *lock,
                                         const struct zkr__recipe *recipe);

extern const struct zkr__way zkr__in_a_cohort; /* of the members */

/* The parts that claims play in a cohort; they hear of their cohort by these.
 */
extern const struct zkr__role zkr__member;
extern const struct zkr__role zkr__delegate;

/* -- what the user tells it -- */

/* The node goes back as soon as no member has the lock. */
void zkr__cohort_yield_locked(struct zkr__cohort *h) ZKR__LOCKED;
/* The user has freed the lock: from now on each node goes back so. */
void zkr__cohort_close_locked(struct zkr__cohort *h) ZKR__LOCKED;
