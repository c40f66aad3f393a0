/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a lock on the servers. Pure. */
#include "protocol/parts.h"

#include <string.h>

#include "protocol/node_name.h"

const char *const zkr__part_dirs[ZKR__PARTS] = {
    [ZKR__PART_PATH] = "",
    [ZKR__PART_LEASES] = "leases",
    [ZKR__PART_QUEUE] = "locks",
};

/* The part with whose directory the name begins, and goes on with `next`. */
static enum zkr__part find_part(const char *name, char next)
{
    for (enum zkr__part part = ZKR__PART_LEASES; part < ZKR__PARTS; part++) {
        size_t len = strlen(zkr__part_dirs[part]);

        if (strncmp(name, zkr__part_dirs[part], len) == 0 && name[len] == next)
            return part;
    }
    return ZKR__PART_PATH;
}

enum zkr__part zkr__part_of_dir(const char *name)
{
    return find_part(name, '\0');
}

enum zkr__part zkr__part_of(const char *name)
{
    return find_part(name, '/');
}

uint32_t zkr__part_markers(enum zkr__part part)
{
    static const uint32_t markers[] = {
        [ZKR__PART_PATH] = ZKR__ALL_MARKERS,
        [ZKR__PART_LEASES] = ZKR__MARKER_BIT(ZKR__CURATOR_LEASE),
        [ZKR__PART_QUEUE] = ZKR__MARKER_BIT(ZKR__CURATOR_LOCK),
    };

    return markers[part];
}

void zkr__part_count(struct zkr__part_count *count, enum zkr__part part,
                     const char *name)
{
    count->children++;
    if (zkr__node_name_contends(name, zkr__part_markers(part)))
        count->fitting++;
    else if (zkr__node_name_contends(name, ZKR__ALL_MARKERS))
        count->other++;
}

bool zkr__is_semaphore(const struct zkr__part_count *leases,
                       const struct zkr__part_count *queue)
{
    if (leases->fitting > 0)
        return true;
    if (!leases->exists || !queue->exists || leases->other > 0)
        return false;
    return queue->fitting > 0 || leases->children + queue->children == 0;
}
