/* SPDX-License-Identifier: Apache-2.0 */
/* What can be acquired, as its user has it: one face for all recipes. */
#ifndef ZKR__LOCKABLE_H
#define ZKR__LOCKABLE_H

#include <zkrecipes/lockable.h>

#include "lock/chain.h"
#include "lock/lock.h"

/* What a recipe that acquires several locks does. */
struct zkr__several {
    /* Refuses what cannot be had. */
    int (*check)(zkr_lockable *l, const struct zkr_acquire_opts *how);
    /* The number of grants that the acquire gives, and its links; without an
     * array it only counts them. */
    size_t (*grants)(const zkr_lockable *l, const struct zkr_acquire_opts *how);
    size_t (*links)(const zkr_lockable *l, const struct zkr_acquire_opts *how,
                    struct zkr__link *links);
    /* Nothing waits any more. */
    void (*free)(zkr_lockable *l);
};

/* A recipe, as its user sees it. */
struct zkr__lockable_type {
    const char *noun;                   /* for people: "mutex" */
    const struct zkr__recipe *modes[2]; /* by enum zkr_mode; NULL: none */
    bool keeps_grants; /* it is reentrant, and its grants are its own */
    const struct zkr__several *several; /* or NULL: it is one lock */
};

struct zkr_lockable { /* set once */
    const struct zkr__lockable_type *type;
    struct zkr_session *session; /* its lock refers to it */
    struct zkr__lock *lock;      /* the first; NULL: of a multi-lock */
    struct zkr__chains chains;
};

/* Makes one of a single lock. */
int zkr__lockable_new(struct zkr_session *s, const char *path,
                      const struct zkr_lockable_opts *opts,
                      const struct zkr__lockable_type *type,
                      zkr_lockable **ret_lockable);

/* Every function begins with it: refuses NULL, and a forked child. With a type,
 * also what is of another. */
int zkr__lockable_check(const zkr_lockable *l,
                        const struct zkr__lockable_type *type);

/* Refuses options that the recipe does not have. */
int zkr__lockable_check_how(zkr_lockable *l,
                            const struct zkr_acquire_opts *how);

/* As those of its recipe; of one lock, too. */
size_t zkr__lockable_grants(const zkr_lockable *l,
                            const struct zkr_acquire_opts *how);
size_t zkr__lockable_links(const zkr_lockable *l,
                           const struct zkr_acquire_opts *how,
                           struct zkr__link *links);

/* Copies the options of an acquire. */
int zkr__acquire_opts_load(const zkr_lockable *l,
                           const struct zkr_acquire_opts *opts,
                           struct zkr_acquire_opts *ret_how);

#endif
