/* SPDX-License-Identifier: Apache-2.0 */
/* The roster: the children of a lock path in the order of the queue, and the
 * contender that each of them waits for, by the rules of protocol/queue.h.
 * Pure, except for the list.
 *
 * Of a semaphore it has the children of both directories, whose names begin
 * with that of the directory: parts.h. The leases are before the queue. */
#pragma once

#include <zkrecipes/participants.h>

/* Reads marker, kind and sequence from the name. */
void zkr__roster_read(struct zkr_participant *p);

/* Puts children of a lock path, which have a name, and what was read of them
 * already, in the order of the queue, foreign ones last. Names that no child
 * can have are left out. Returns how many are left. */
size_t zkr__roster_order(struct zkr_participant *items, size_t count);

/* How many of the first must be read, in a list that is settled by its names
 * alone. To know who holds: of a semaphore the leases and the first in the
 * queue, else none. With ZKR_PARTICIPANTS_HOLDERS those that hold, with
 * ZKR_PARTICIPANTS_NEXT the first that waits. */
size_t zkr__roster_least(const struct zkr_participant *items, size_t count,
                         uint32_t flags);

/* Sets holds and waits_for in a sorted list. */
void zkr__roster_settle(struct zkr_participant *items, size_t count);

/* A list that is one block of memory, texts included: for free(). */
struct zkr__roster {
    struct zkr_participants public; /* what the user gets */
    struct zkr_participant items[]; /* those in it */
};

/* Makes the list of nodes that the caller has read, or whose names it has, in
 * any order, and settles nothing. The name, the data and what the server says
 * of each node are copied. Of a semaphore the directories "leases" and "locks"
 * are left out, of other locks the nodes in these directories. NULL: out of
 * memory. */
struct zkr__roster *zkr__roster_build(const struct zkr_participant *nodes,
                                      size_t count, bool semaphore);

/* The same list that zkr_participants_list() makes of these nodes, for
 * zkr_participants_free(). Nodes of a semaphore have their directories among
 * them, unless one was not listed. NULL: out of memory. */
struct zkr_participants *zkr__roster_make(const struct zkr_participant *nodes,
                                          size_t count);
