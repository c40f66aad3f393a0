/* SPDX-License-Identifier: Apache-2.0 */
/* The list of participants that the user gets, with the memory of its parts. */
#ifndef ZKR__LISTED_H
#define ZKR__LISTED_H

#include <zkrecipes/participants.h>

#include "inspect/parts.h"

/* The names of the nodes in one part of the lock. */
struct zkr__listed_names {
    const char **all; /* one block, texts included */
    struct zkr__part_count count;
};

#define ZKR__PARTS (ZKR__PART_QUEUE + 1)

struct zkr__listed {
    struct zkr_participants public;
    struct zkr_participant *items;
    size_t count;
    struct zkr__listed_names names[ZKR__PARTS];
};

/* Copies as much of the data of a node as is kept. An item that was not read
 * has the data "". Returns false when out of memory. */
bool zkr__listed_copy_data(struct zkr_participant *item, const char *data,
                           size_t size);

/* NULL is allowed. */
void zkr__listed_free(struct zkr__listed *list);

#endif
