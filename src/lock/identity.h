/* SPDX-License-Identifier: Apache-2.0 */
/* Identities: how a claim knows its node among those of others.
 *
 * By name, in a queue: the name has a UUID that only this claim has drawn, so a
 * node at its path is its node. By data, where all use one name: the record in
 * the node has a number that only this claim has drawn, and once the node has
 * been seen, its czxid tells it. */
#ifndef ZKR__IDENTITY_H
#define ZKR__IDENTITY_H

#include "session/locked.h"
#include "zk/zk.h"

struct zkr__claim;
struct zkr__search;

struct zkr__identity {
    /* Tells the search where to look for the node, and how to know it. Under
     * the lock. */
    void (*seek)(const struct zkr__claim *c, struct zkr__search *search);
    /* Only this claim makes a node at that path. So a write that finds a node
     * there has found ours, and may guard other writes; and its delete may be
     * repeated, also through the next session. Where all use one path, others
     * may have made the node anew: its record has a number, and who found it
     * there reads whose it is. */
    bool has_own_path;
};

extern const struct zkr__identity zkr__by_name; /* identity_by_name.c */
extern const struct zkr__identity zkr__by_data; /* identity_by_data.c */

/* identity_by_data.c: tells whether a node that was read under our name is
 * ours. */
bool zkr__by_data_is_ours_locked(const struct zkr__claim *c,
                                 const struct zkr__zk_reply *node) ZKR__LOCKED;

#endif
