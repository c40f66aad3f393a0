/* SPDX-License-Identifier: Apache-2.0 */
/* Identities: how a claim knows its node among those of others.
 *
 * By name, in a queue: the name has a UUID that only this claim has drawn, so a
 * node at its path is its node. By data, where all use one name: the record in
 * the node has a number that only this claim has drawn, and once the node has
 * been seen, its czxid tells it. */
#ifndef ZKR__IDENTITY_H
#define ZKR__IDENTITY_H

#include "base/random.h"
#include "session/locked.h"
#include "session/op.h"

struct zkr__claim;
struct zkr__owner;
struct zkr__search;

struct zkr__identity { /* all that is called: under the lock, but for sign() */
    /* Adds to the record the number that tells the node, if it needs one, and
     * writes it into `number`. */
    void (*sign)(struct zkr__owner *owner, char number[ZKR__UUID_LEN + 1]);
    /* Tells the search where to look for the node, and how to know it. */
    void (*seek)(const struct zkr__claim *c, struct zkr__search *search);
    /* Called when a write has found a node at our path. Returns false when that
     * node is ours; otherwise asks whose it is, and returns true. */
    bool (*ask_whose)(struct zkr__claim *c);
    /* Called when a write of the heartbeat has found a node at our path. */
    void (*found_by_beat)(struct zkr__claim *c);
    /* How to repeat a delete whose outcome is not known. */
    enum zkr__op_retry delete_retry;
    /* Called when the session was reported as over: has the node deleted
     * through the next one, where that is safe, but not before that instant, by
     * the clock of the lease. */
    void (*look_after)(struct zkr__claim *c, int64_t not_before);
    /* Why the path of the node cannot guard a write; NULL: it can. */
    const char *cannot_guard;
};

extern const struct zkr__identity zkr__by_name; /* identity_by_name.c */
extern const struct zkr__identity zkr__by_data; /* identity_by_data.c */

/* identity_by_data.c: tells whether a node that was read under our name is
 * ours. */
bool zkr__by_data_is_ours_locked(const struct zkr__claim *c,
                                 const struct zkr__zk_reply *node) ZKR__LOCKED;

#endif
