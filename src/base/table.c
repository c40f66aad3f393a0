/* SPDX-License-Identifier: Apache-2.0 */
/* An intrusive hash table, which grows with what is in it. */
#include "base/table.h"

#include <assert.h>
#include <stdlib.h>

#define ROWS_MIN 16

static struct zkr__entry **row_at(const struct zkr__table *table, size_t row)
{
    return table->rows == NULL ? (struct zkr__entry **)&table->only
                               : &table->rows[row];
}

static void put(struct zkr__table *table, struct zkr__entry *entry)
{
    struct zkr__entry **row = row_at(table, entry->hash & table->last);

    entry->next = *row;
    entry->link = row;
    if (entry->next != NULL)
        entry->next->link = &entry->next;
    *row = entry;
}

static void grow(struct zkr__table *table)
{
    struct zkr__table old = *table;
    size_t count = old.rows == NULL ? ROWS_MIN : 2 * (old.last + 1);
    struct zkr__entry **rows = calloc(count, sizeof(struct zkr__entry *));

    if (rows == NULL)
        return;
    table->rows = rows;
    table->only = NULL;
    table->last = count - 1;
    for (size_t i = 0; i <= old.last; i++) {
        struct zkr__entry *entry = *row_at(&old, i);

        while (entry != NULL) {
            struct zkr__entry *next = entry->next;

            put(table, entry);
            entry = next;
        }
    }
    free(old.rows);
}

void zkr__table_add(struct zkr__table *table, struct zkr__entry *entry,
                    uint64_t hash)
{
    if (table->count > table->last)
        grow(table);
    entry->hash = hash;
    put(table, entry);
    table->count++;
}

void zkr__table_remove(struct zkr__table *table, struct zkr__entry *entry)
{
    *entry->link = entry->next;
    if (entry->next != NULL)
        entry->next->link = entry->link;
    table->count--;
}

static struct zkr__entry *with_hash(struct zkr__entry *entry, uint64_t hash)
{
    while (entry != NULL && entry->hash != hash)
        entry = entry->next;
    return entry;
}

struct zkr__entry *zkr__table_find(const struct zkr__table *table,
                                   uint64_t hash)
{
    return with_hash(*row_at(table, hash & table->last), hash);
}

struct zkr__entry *zkr__table_find_after(const struct zkr__entry *entry)
{
    return with_hash(entry->next, entry->hash);
}

struct zkr__entry *zkr__table_next(const struct zkr__table *table,
                                   const struct zkr__entry *entry)
{
    size_t row = 0;

    if (entry != NULL) {
        if (entry->next != NULL)
            return entry->next;
        row = (entry->hash & table->last) + 1;
    }
    for (; row <= table->last; row++) {
        if (*row_at(table, row) != NULL)
            return *row_at(table, row);
    }
    return NULL;
}

void zkr__table_done(struct zkr__table *table)
{
    assert(table->count == 0);
    free(table->rows);
}
