/* SPDX-License-Identifier: Apache-2.0 */
/* Records: what claims write into their nodes, one for all claims that would
 * write the same. */
#pragma once

#include <stddef.h>

struct zkr__owner;

struct zkr__record {
    size_t len;
    char data[]; /* of zkr__owner_write() */
};

/* Returns a record, or NULL when out of memory. One that names a thread or a
 * claim is new, any other is the `shared` one. */
struct zkr__record *zkr__record_get(const struct zkr__owner *owner,
                                    struct zkr__record *_Atomic *shared);

/* Returns a record of that data, or NULL when out of memory. */
struct zkr__record *zkr__record_of(const void *data, size_t size);

/* Frees it, unless it is the shared one. */
void zkr__record_put(struct zkr__record *record,
                     struct zkr__record *_Atomic *shared);
