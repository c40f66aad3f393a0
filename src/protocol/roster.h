/* SPDX-License-Identifier: Apache-2.0 */
/* The roster: the children of a lock path in the order of the queue, and the
 * contender that each of them waits for, by the rules of protocol/queue.h.
 * Pure, except for one array.
 *
 * Of a semaphore it has the children of both directories, whose names begin
 * with that of the directory: parts.h. The leases are before the queue. */
#ifndef ZKR__ROSTER_H
#define ZKR__ROSTER_H

#include <zkrecipes/participants.h>

/* Reads marker, kind and sequence from the name. */
void zkr__roster_read(struct zkr_participant *p);

bool zkr__roster_is_contender(const char *name);

/* Lists the children of a lock path in the order of the queue, foreign ones
 * last, no more than `limit`. They point to the names. Names that no child can
 * have are left out. Returns ZKR_OK or ZKR_ENOMEM. */
int zkr__roster_new(const char *const *names, size_t count, size_t limit,
                    struct zkr_participant **ret_items, size_t *ret_count);

/* The same of items that have a name, and what was read of them already, in
 * place. Returns how many are left. */
size_t zkr__roster_order(struct zkr_participant *items, size_t count);

/* How many of the first must be read, in a list that is settled by its names
 * alone. To know who holds: of a semaphore the leases and the first in the
 * queue, else none. With ZKR_PARTICIPANTS_HOLDERS those that hold, with
 * ZKR_PARTICIPANTS_NEXT the first that waits. */
size_t zkr__roster_least(const struct zkr_participant *items, size_t count,
                         uint32_t flags);

/* Sets holds and waits_for in a sorted list. */
void zkr__roster_settle(struct zkr_participant *items, size_t count);

/* Makes the list of nodes that the caller has read by itself, in any order: the
 * same list that zkr_participants_list() makes of them. Of each the name, the
 * data and what the server says of it are read, and copied.
 *
 * Nodes of a semaphore have their directories among them, "leases" and "locks",
 * unless one was not listed. If the directories are not those of a semaphore,
 * the nodes in them are left out. NULL: out of memory. */
struct zkr_participants *zkr__roster_make(const struct zkr_participant *nodes,
                                          size_t count);
/* NULL is allowed. Not for a list of the library, whose memory is its own. */
void zkr__roster_free(struct zkr_participants *list);

#endif
