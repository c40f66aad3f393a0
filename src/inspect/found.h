/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a search for locks: tells which directories are locks, by their
 * children. Pure, except for memory. */
#ifndef ZKR__FOUND_H
#define ZKR__FOUND_H

#include <zkrecipes/participants.h>

#include "inspect/listed.h"
#include "zk/zk.h"

#define ZKR__NO_ITEM SIZE_MAX

struct zkr__found_item;

struct zkr__found {
    size_t chroot_len; /* which the user does not see of a path */
    size_t limit;
    uint32_t flags;
    bool lists;               /* of each lock are wanted */
    struct zkr_locks *answer; /* visited, skipped and cut, so far */
    struct zkr__found_item *items;
    size_t count;
    size_t paths; /* of those, the ones that are no part of a semaphore */
    size_t size;
};

/* The name that a server gives to the node of a contender. */
bool zkr__found_is_contender(const char *name);

/* `found` is zeroed memory. Returns false when out of memory;
 * zkr__found_done() may be called all the same. */
bool zkr__found_init(struct zkr__found *found, size_t chroot_len,
                     const struct zkr_locks_opts *opts);
void zkr__found_done(struct zkr__found *found);

/* Judge a directory by its children. The item is ZKR__NO_ITEM when it is no
 * lock, nor has the name of a part of a semaphore, or is one too many. With a
 * child that is in question it is a lock, or a barrier, if that node turns out
 * to be ephemeral. ZKR_OK or ZKR_ENOMEM. */
int zkr__found_judge(struct zkr__found *found, const char *path,
                     const struct zkr__zk_reply *reply, size_t *ret_item);
/* A child "holder", or the member of a barrier. */
bool zkr__found_is_in_question(const struct zkr__found *found, size_t item,
                               const char *name);
void zkr__found_ephemeral(struct zkr__found *found, size_t item);

/* The next list, from the cursor on, of a lock that was found since the last
 * time: it has its names. NULL when there is none. The cursor begins at zero.
 * There are no lists of directories with the name of a part of a semaphore. */
struct zkr__listed *zkr__found_next_list(struct zkr__found *found,
                                         size_t *cursor);

/* Counts a node that could not be read. */
void zkr__found_skip(struct zkr__found *found, const char *path, int error);

/* The answer, in the order of the paths, which belongs to the caller then.
 * ZKR_OK or ZKR_ENOMEM. */
int zkr__found_finish(struct zkr__found *found, struct zkr_locks **ret_list);

#endif
