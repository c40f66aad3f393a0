/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe, as the core sees it: the names of nodes, and the rule of whom to
 * wait for. */
#pragma once

#include "lock/way.h"
#include "protocol/queue.h"

struct zkr__recipe {
    const char *noun; /* for people: "mutex" */
    const struct zkr__way *way;
    enum zkr__marker marker[2]; /* of our own nodes, by the first layouts */
    uint32_t markers;           /* of all who contend, as bits */
    uint32_t flags;   /* those of zkr_lockable_flags that its locks may have */
    bool has_readers; /* some of those share */
    /* Index of the contender to wait for, or ZKR__NOBODY. Pure. The rule sees
     * the nearest ahead, and nothing behind: grants by knowledge rest on that
     * nobody with a higher number can get ahead. Names do not tell who holds.
     * A recipe that needs more is a chain of locks, as the semaphore is. The
     * core also calls the rule with indexes that only tell somebody from
     * nobody. */
    size_t (*waits_for)(const struct zkr__nearest *nearest);
    /* The recipe that the owner of a grant cannot acquire while it has it (it
     * would wait for itself), and the one that it acquires at once, beside that
     * grant; NULL without. */
    const struct zkr__recipe *deadlocks_with;
    const struct zkr__recipe *granted_beside;
    bool can_stay; /* a lock that is given back, with the process; cohort.h */
};
