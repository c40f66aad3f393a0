/* SPDX-License-Identifier: Apache-2.0 */
/* What can be acquired, as its user has it: one face for all recipes. */
#pragma once

#include <zkrecipes/lockable.h>

#include "lock/lock.h"

/* One claim of an acquire. */
struct zkr__link {
    struct zkr__lock *lock;
    const struct zkr__recipe *recipe;
    /* It is a gate: given back as soon as so many links after it have been
     * granted. 0: it is no gate, and its grant is for the caller. */
    uint32_t gate;
};

/* The functions of a recipe that acquires several locks. They are called
 * without the session lock, by the thread that makes the call. */
struct zkr__several {
    /* Refuses what cannot be had. */
    int (*check)(zkr_lockable *l, const struct zkr_acquire_opts *how);
    /* The number of grants that the acquire gives, and its links, which may
     * depend on `how`; without an array it only counts them. Statistics ask
     * with the default options. */
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

struct zkr_lockable { /* set once, but for its chains */
    const struct zkr__lockable_type *type;
    struct zkr_session *session; /* its lock refers to it */
    struct zkr__lock *lock;      /* the first; NULL: of a multi-lock */
    bool fail_on_session_loss;
    struct zkr__list chains; /* acquires under way; under the session lock */
};

void zkr__lockable_init(zkr_lockable *l, const struct zkr__lockable_type *type,
                        struct zkr_session *s, bool fail_on_session_loss);

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

/* downgrade.c: acquires one lock at the place of a grant that the caller has of
 * it. */
int zkr__lockable_acquire_beside(zkr_lockable *l, enum zkr_mode mode,
                                 zkr_grant *beside, zkr_grant **ret_grant);

/* Copies the options of an acquire. */
int zkr__acquire_opts_load(const zkr_lockable *l,
                           const struct zkr_acquire_opts *opts,
                           struct zkr_acquire_opts *ret_how);
