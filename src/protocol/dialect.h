/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which library made a node, by the name and the data of the node.
 * Pure. */
#pragma once

#include <zkrecipes/participants.h>

#include "protocol/owner.h"

enum zkr__dialect {
    ZKR__DIALECT_NONE, /* no contender */
    ZKR__DIALECT_OTHER,
    ZKR__DIALECT_ZKRECIPES,
    ZKR__DIALECT_CURATOR,
    ZKR__DIALECT_KAZOO,
    ZKR__DIALECT_GO,
    ZKR__DIALECT_C_RECIPE, /* ZooKeeper's own, in C and Java */
    ZKR__DIALECT_ZK_RUBY,
    ZKR__DIALECT_UNKNOWN, /* zkrecipes, or the one with its names */
    ZKR__DIALECT_MIXED,
};

enum zkr__lock_kind {
    ZKR__KIND_NONE, /* nobody says */
    ZKR__KIND_MUTEX,
    ZKR__KIND_RW,
    ZKR__KIND_UNFAIR,
    ZKR__KIND_LATCH,
    ZKR__KIND_SEMAPHORE,
    ZKR__KIND_BARRIER, /* a double one: it has members, and nobody contends */
    ZKR__KIND_MIXED,   /* recipes that do not exclude each other */
};

const char *zkr__dialect_name(enum zkr__dialect dialect);
const char *zkr__lock_kind_name(enum zkr__lock_kind kind);

/* Names of this library are those of Curator or kazoo: the data decides. It
 * does not where it was not read, where a request to release has replaced it,
 * and where it is the id of a candidate for leader, which both write. */
enum zkr__dialect zkr__dialect_of(const struct zkr_participant *p,
                                  const struct zkr__known_owner *owner);

/* Returns the kind of a lock with these contenders; foreign ones do not count.
 */
enum zkr__lock_kind zkr__lock_kind_of(const struct zkr_participant *items,
                                      size_t count);

/* Tells whether it is the node of an unfair mutex, which is in no queue. */
bool zkr__is_unfair(const struct zkr_participant *p);
/* Tells whether it is a lease of a semaphore, which is in none, either. */
bool zkr__is_lease(const struct zkr_participant *p);

/* Tells whether it is a candidate for leader, by the marker of Curator's
 * LeaderLatch. One of its LeaderSelector has the name of a contender for a
 * mutex. */
bool zkr__is_candidate(const struct zkr_participant *p);

/* Tells whether it may be a member of a double barrier: an ephemeral node with
 * a UUID for a name. */
bool zkr__is_member(const struct zkr_participant *p);

/* Tells whether kazoo gives that name to the ephemeral nodes of a pool: those
 * of its semaphore, its double barrier or its party. The name does not say
 * which of the three it is, and has no number. */
bool zkr__name_is_of_pool(const char *name);
/* Tells whether it has such a name, and is ephemeral. */
bool zkr__is_of_pool(const struct zkr_participant *p);

/* A claim of ours on a lock of that kind, ZKR__KIND_MUTEX, ZKR__KIND_RW or
 * ZKR__KIND_LATCH, counts it as a contender. A mutex does not count read/write
 * locks, which count mutexes. */
bool zkr__is_seen(const struct zkr_participant *p, enum zkr__lock_kind kind);

/* A holder in this dialect is known to learn that its node was deleted. */
bool zkr__sees_its_own_node(enum zkr__dialect dialect);
/* A holder with this node learns that somebody asks for the lock, if its
 * program listens. */
bool zkr__hears_requests(const struct zkr_participant *p,
                         enum zkr__dialect dialect);
