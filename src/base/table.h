/* SPDX-License-Identifier: Apache-2.0 */
/* An intrusive hash table, which grows with what is in it. */
#ifndef ZKR__TABLE_H
#define ZKR__TABLE_H

#include <stddef.h>
#include <stdint.h>

struct zkr__entry { /* of one table, at most */
    struct zkr__entry *next;
    struct zkr__entry **link; /* what points at it */
    uint64_t hash;
};

/* All zero: an empty one. */
struct zkr__table {
    struct zkr__entry **rows; /* NULL: `only` is the one row */
    struct zkr__entry *only;
    size_t last; /* row; their number is a power of two */
    size_t count;
};

/* Never fails: without memory for more rows they get longer. */
void zkr__table_add(struct zkr__table *table, struct zkr__entry *entry,
                    uint64_t hash);
void zkr__table_remove(struct zkr__table *table, struct zkr__entry *entry);

/* Returns the first entry with that hash, and the one after an entry with the
 * hash of both; NULL: none. */
struct zkr__entry *zkr__table_find(const struct zkr__table *table,
                                   uint64_t hash);
struct zkr__entry *zkr__table_find_after(const struct zkr__entry *entry);

/* Returns the entry after another one in the order of the table, or the first
 * for NULL; NULL: there is none. */
struct zkr__entry *zkr__table_next(const struct zkr__table *table,
                                   const struct zkr__entry *entry);

/* A hash of a text, for tables of paths: FNV-1a. */
static inline uint64_t zkr__hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h;
}

/* Frees the rows of an empty table. */
void zkr__table_done(struct zkr__table *table);

#endif
