/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe, as the core sees it: the names of nodes, and the rule of whom to
 * wait for. */
#ifndef ZKR__RECIPE_H
#define ZKR__RECIPE_H

#include "base/sm.h"
#include "lock/identity.h"
#include "protocol/queue.h"

struct zkr__claim;
struct zkr__zk_reply;

/* A way: how the claims of a recipe go, or the members of a cohort, which have
 * no node of their own, and no upcalls about one. */
struct zkr__way {
    /* The states and moves, by enum zkr__claim_state. docs/design.md draws
     * them, and test_ways.c compares the two. */
    const struct zkr__sm_state *moves;
    const struct zkr__identity *identity; /* of our node */
    /* Make a node of ours, or another attempt at it. */
    void (*enter)(struct zkr__claim *c, const char *why);
    /* The create of our node has been answered; see create.c. */
    void (*created)(struct zkr__claim *c);
    /* Given up, with no create under way. */
    void (*withdraw)(struct zkr__claim *c);
    /* Released. */
    void (*leave)(struct zkr__claim *c, const char *why);
    /* The node that we waited for has changed, or gone. */
    void (*go_on)(struct zkr__claim *c, const char *why);
    /* Gets the node that we wait for, when it has been read; NULL: not
     * needed. */
    void (*met)(struct zkr__claim *c, const struct zkr__zk_reply *reply);
    /* Gets the list of the line that it has asked for. `queue` is valid if `rc`
     * is ZKR_OK. */
    void (*listed)(struct zkr__claim *c, int rc, struct zkr__queue *queue);
};

extern const struct zkr__way zkr__in_a_queue; /* way_in_a_queue.c */

struct zkr__recipe {
    const char *noun; /* for people: "mutex" */
    const struct zkr__way *way;
    enum zkr__marker marker[2]; /* of our own nodes, by the first layouts */
    uint32_t markers;           /* of all who contend, as bits */
    bool has_readers;           /* some of those share */
    /* Index of the contender to wait for, or ZKR__NOBODY. Pure. */
    size_t (*waits_for)(const struct zkr__nearest *nearest);
    /* The recipe that the owner of a grant cannot acquire besides it (it would
     * wait for itself), and the one that it acquires at once, beside that
     * grant; NULL without. */
    const struct zkr__recipe *deadlocks_with;
    const struct zkr__recipe *granted_beside;
    bool can_stay; /* a lock that is given back, with the process; cohort.h */
};

#endif
