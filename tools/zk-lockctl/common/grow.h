/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, of which there is enough; and arrays that grow by one item after the
 * other. */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* say.c: returns the block. When it is NULL, the tool says that it is out of
 * memory, and ends with EX_SOFTWARE: nothing is to be done about that. Not
 * where a lock is held, which would stay until the session times out. */
void *enough(void *block) __attribute__((returns_nonnull));

/* The room of an array doubles when its count is 0, 1, 2, 4, ...; so there is
 * no other room than this. Returns the new item, of zeros. `items` is the
 * address of the pointer to the first item. */
static inline void *grow_array(void *items, size_t *count, size_t size)
{
    char *all;

    memcpy(&all, items, sizeof(all));
    if ((*count & (*count - 1)) == 0) {
        all = enough(realloc(all, (*count == 0 ? 1 : *count * 2) * size));
        memcpy(items, &all, sizeof(all));
    }
    return memset(all + (*count)++ * size, 0, size);
}

/* The same for an array that is `items` and `count` of a struct. */
#define GROW(list)                                                             \
    grow_array(&(list)->items, &(list)->count, sizeof(*(list)->items))

/* qsort() and bsearch() for an array that is NULL as long as it has no items.
 */
static inline void sort_array(void *items, size_t count, size_t size,
                              int (*by)(const void *a, const void *b))
{
    if (count > 0)
        qsort(items, count, size, by);
}

static inline void *find_in_array(const void *key, const void *items,
                                  size_t count, size_t size,
                                  int (*by)(const void *a, const void *b))
{
    return count == 0 ? NULL : bsearch(key, items, count, size, by);
}
