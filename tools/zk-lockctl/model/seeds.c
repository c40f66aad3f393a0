/* SPDX-License-Identifier: Apache-2.0 */
/* The contenders that were there when a segment of a history began, in the
 * order of the segments. */
#include "model/seeds.h"

#include "common/grow.h"

/* One block has both. */
bool seeds_add(struct seeds *seeds, const struct seed *seed)
{
    char *text = malloc(seed->path.size + seed->data.size + 1);
    struct seed *copy = text == NULL ? NULL : GROW(seeds);

    if (copy == NULL) {
        free(text);
        return false;
    }
    *copy = *seed;
    memcpy(text, seed->path.at, seed->path.size);
    memcpy(text + seed->path.size, seed->data.at, seed->data.size);
    copy->path.at = text;
    copy->data.at = text + seed->path.size;
    return true;
}

void seeds_drop_last(struct seeds *seeds)
{
    free((char *)(uintptr_t)seeds->items[--seeds->count].path.at);
}

void seeds_done(struct seeds *seeds)
{
    while (seeds->count > 0)
        seeds_drop_last(seeds);
    free(seeds->items);
    seeds->items = NULL;
}
