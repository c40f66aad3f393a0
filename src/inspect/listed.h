/* SPDX-License-Identifier: Apache-2.0 */
/* The list of one lock, from the names of its nodes to what the user gets.
 * Pure, except for memory. */
#ifndef ZKR__LISTED_H
#define ZKR__LISTED_H

#include <zkrecipes/participants.h>

#include "base/list.h"
#include "protocol/parts.h"

/* The names of the nodes in one part of the lock. */
struct zkr__names {
    const char **all; /* one block, texts included */
    struct zkr__part_count count;
};

struct zkr__listed {
    struct zkr_participants public; /* what the user gets */
    struct zkr_participant
        *items; /* the array in it, and the memory of its parts */
    size_t count;
    struct zkr__names names[ZKR__PARTS];

    /* for reader.h */
    struct zkr__list link;
    char *path;     /* of the lock, with the chroot */
    size_t reads;   /* so many nodes, from the first on, that exist */
    bool acl;       /* the ACL is to be read */
    size_t next;    /* item to be read */
    size_t missing; /* items before it that have gone */
    size_t reading;
    bool is_read;
};

/* ZKR_OK, or the error of the call. */
int zkr__listed_opts(struct zkr_participants_opts *o,
                     const struct zkr_participants_opts *opts);

/* A list without names; NULL: out of memory. */
struct zkr__listed *zkr__listed_new(const char *path);
/* NULL is allowed. */
void zkr__listed_free(struct zkr__listed *list);

/* Copies as much of the data of a node as is kept. An item that was not read
 * has the data "". False: out of memory. */
bool zkr__listed_copy_data(struct zkr_participant *item, const char *data,
                           size_t size);

/* The names are only copied: sorting can take long, so that is for the caller's
 * thread. False: out of memory. */
bool zkr__listed_take_names(struct zkr__listed *list, enum zkr__part part,
                            const char *const *names, size_t count);

/* Tells whether the path has the directory of that part. */
bool zkr__listed_has_dir(const struct zkr__listed *list, enum zkr__part part);

/* Puts the nodes in the order of the queue, still unread, and decides how many
 * are read. ZKR_OK or ZKR_ENOMEM. */
int zkr__listed_arrange(struct zkr__listed *list,
                        const struct zkr_participants_opts *opts);

/* Leaves out nodes that have gone. The list is the user's then, who frees it
 * with zkr_participants_free(). */
struct zkr_participants *zkr__listed_finish(struct zkr__listed *list);

#endif
