/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which library made a node, by the name and the data of the node.
 * Pure. */
#ifndef MODEL_DIALECT_H
#define MODEL_DIALECT_H

#include <zkrecipes/participants.h>

#include "model/owner.h"

enum dialect {
    DIALECT_NONE, /* no contender */
    DIALECT_OTHER,
    DIALECT_ZKRECIPES,
    DIALECT_CURATOR,
    DIALECT_KAZOO,
    DIALECT_GO,
    DIALECT_C_RECIPE, /* ZooKeeper's own, in C and Java */
    DIALECT_ZK_RUBY,
    DIALECT_UNKNOWN, /* perhaps zkrecipes, perhaps the one with its names */
    DIALECT_MIXED,
};

enum lock_kind {
    KIND_NONE, /* nobody says */
    KIND_MUTEX,
    KIND_RW,
    KIND_UNFAIR,
    KIND_LATCH,
    KIND_SEMAPHORE,
    KIND_BARRIER, /* a double one: it has members, and nobody contends */
    KIND_MIXED,   /* recipes that do not exclude each other */
};

const char *dialect_name(enum dialect dialect);
bool dialect_is_name(const char *name);
const char *kind_name(enum lock_kind kind);

/* Names of this library are those of Curator or kazoo: the data decides. It
 * does not where it was not read, where a request to release has replaced it,
 * and where it is the id of a candidate for leader, which both write. */
enum dialect dialect_of(const struct zkr_participant *p,
                        const struct owner *owner);

/* Returns the dialect of a lock with these contenders; foreign ones do not
 * count. */
enum lock_kind kind_of(const struct zkr_participant *items, size_t count);

/* Tells whether it is the node of an unfair mutex, which is in no queue. */
bool contender_is_unfair(const struct zkr_participant *p);
/* ... or a lease of a semaphore, which is in none, either. */
bool contender_is_lease(const struct zkr_participant *p);

/* ... or a candidate for leader, by the marker of Curator's LeaderLatch. One of
 * its LeaderSelector has the name of a contender for a mutex. */
bool contender_is_candidate(const struct zkr_participant *p);

/* Tells whether it may be a member of a double barrier: an ephemeral node with
 * a UUID for a name. */
bool contender_is_member(const struct zkr_participant *p);

/* Tells whether kazoo gives that name to the ephemeral nodes of a pool: those
 * of its semaphore, its double barrier or its party. The name does not say
 * which of the three it is, and has no number. */
bool name_is_of_pool(const char *name);
/* ... and the node is ephemeral. */
bool contender_is_of_pool(const struct zkr_participant *p);

/* A claim of ours on a lock of that kind, KIND_MUTEX, KIND_RW or KIND_LATCH,
 * counts it as a contender. A mutex does not count read/write locks, which
 * count mutexes. */
bool contender_is_seen(const struct zkr_participant *p, enum lock_kind kind);

/* A holder in this dialect is known to learn that its node was deleted. */
bool dialect_sees_its_own_node(enum dialect dialect);
/* ... and this one that somebody asks for the lock, if the program listens. */
bool contender_hears_requests(const struct zkr_participant *p,
                              enum dialect dialect);

#endif
