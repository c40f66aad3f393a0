/* SPDX-License-Identifier: Apache-2.0 */
/* Tells from the path of a node whether it contends, and for which lock. */
#pragma once

#include <stdbool.h>

#include <zkrecipes/zkrecipes.h>

#include "model/wire.h"

enum { NODE_MAX = 4 * ZKR_PATH_MAX };

/* The path of a lock, and the name of a node in it. */
struct place {
    char lock[NODE_MAX];
    char name[NODE_MAX + 8]; /* also "leases/" before it */
};

struct places {
    char *chroot;     /* "": none */
    char *root;       /* the locks at and below it are wanted */
    bool learning;    /* which locks are semaphores: until all nodes were
                         seen, their directories are locks of their own */
    void *semaphores; /* a tree of paths */
    bool pool;        /* nodes of a pool of kazoo came directly in the root */
};

/* A node that is not ephemeral needs a number of a server at its end. False: it
 * does not contend for a lock that is wanted. */
bool places_find(struct places *places, struct bytes path, bool ephemeral,
                 struct place *ret_place);
/* Looks whether a node that is there is of a pool of kazoo. */
void places_note_pool(struct places *places, struct bytes path, bool ephemeral);
void places_done(struct places *places);
