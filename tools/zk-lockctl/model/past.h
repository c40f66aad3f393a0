/* SPDX-License-Identifier: Apache-2.0 */
/* The locks of a history, each with the contenders that are there at one time:
 * their stays. */
#pragma once

#include "model/stay.h"
#include "protocol/parts.h"

struct past {
    char *path;
    struct past *next; /* of all */
    struct queue parts[ZKR__PARTS];
    bool known; /* no node of it is from before the history */
    /* Those that a transaction has changed, for the user. */
    bool listed;
    struct past *next_listed;
};

struct pasts {
    struct past *first; /* of all */
    void *tree;         /* the same, by their paths */
    void *sessions; /* a tree: the first stay of each, for the others end with
                       it, too */
};

/* NULL: there is none. */
struct past *pasts_find(const struct pasts *pasts, const char *path);
/* The same, which may be new. NULL: out of memory. */
struct past *pasts_make(struct pasts *pasts, const char *path);

/* With the stays that are still there. */
void pasts_done(struct pasts *pasts);

/* The contender with that name; NULL: there is none. `past` may be NULL. */
struct stay *past_stay(const struct past *past, const char *name);
/* The first stay of that session, the others are behind it (stay->next); NULL:
 * it has none. */
struct stay *pasts_of_session(const struct pasts *pasts, int64_t session_id);
/* Any contender; NULL: there is none. */
struct stay *past_any(const struct past *past);
/* Takes the stay, whose node has its session. False: out of memory, and it is
 * freed. */
bool pasts_add(struct pasts *pasts, struct past *past, struct stay *stay);
/* The caller has the stay then. */
void pasts_remove(struct pasts *pasts, struct stay *stay);
