/* SPDX-License-Identifier: Apache-2.0 */
/* The locks of a history, each with the contenders that are there at one time:
 * their stays. */
#ifndef MODEL_PAST_H
#define MODEL_PAST_H

#include "model/stay.h"

struct past {
    char *path;                    /* first: they are found by it */
    struct zkr_participant *items; /* each has its name from its stay:
                                      stay_of() */
    size_t count;
    size_t room;
    bool known;   /* no node of it is from before the history */
    bool changed; /* who holds is not settled yet */
    /* Those that a transaction has changed, for the user. */
    bool listed;
    struct past *next_listed;
};

struct pasts {
    void *tree;
    void *sessions; /* a tree of them, with the stays of each */
};

#define PAST_NOBODY SIZE_MAX

/* NULL: there is none. */
struct past *pasts_find(const struct pasts *pasts, const char *path);
/* The same, which may be new. NULL: out of memory. */
struct past *pasts_make(struct pasts *pasts, const char *path);

typedef void past_fn(struct past *past, void *user);
void pasts_each(const struct pasts *pasts, past_fn *fn, void *user);
/* With the stays that are still there. */
void pasts_done(struct pasts *pasts);

/* The index of the contender with that name; PAST_NOBODY. `past` may be
 * NULL. */
size_t past_find(const struct past *past, const char *name);
/* Takes the stay, whose node has its session. False: out of memory, and it is
 * freed. */
bool past_add(struct pasts *pasts, struct past *past, struct stay *stay);
/* The caller has the stay then. */
struct stay *past_remove(struct pasts *pasts, struct past *past, size_t i);

/* Any stay of that session; NULL: it has none. */
struct stay *pasts_stay_of(const struct pasts *pasts, int64_t session_id);

#endif
