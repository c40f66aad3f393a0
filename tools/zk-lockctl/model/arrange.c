/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the rule of the library who of some nodes contends, and who holds. */
#include "model/arrange.h"

#include <stdlib.h>

/* Who holds is copied back. Each node has its index for a time. */
static bool copy_back(struct zkr_participant *items, size_t count,
                      const struct zkr_participant *nodes, size_t node_count)
{
    struct zkr_participants *list;

    if (zkr_participants_arrange(nodes, node_count, &list) != ZKR_OK)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *p = &list->items[i];

        if (p->since_ms < 0 || (size_t)p->since_ms >= count)
            continue;
        items[p->since_ms].marker = p->marker;
        items[p->since_ms].kind = p->kind;
        items[p->since_ms].sequence = p->sequence;
        items[p->since_ms].holds = p->holds;
    }
    zkr_participants_free(list);
    return true;
}

/* Tells what the library says of these nodes: whether they contend, and who
 * holds. The directories of a semaphore are there as long as it is. False: out
 * of memory. */
bool arrange(struct zkr_participant *items, size_t count)
{
    struct zkr_participant *nodes = calloc(count + 2, sizeof(*nodes));
    bool done;

    if (nodes == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        nodes[i].name = items[i].name;
        nodes[i].token = items[i].token;
        nodes[i].session_id = items[i].session_id;
        nodes[i].since_ms = (int64_t)i;
        items[i].marker = "";
        items[i].kind = ZKR_PARTICIPANT_FOREIGN;
        items[i].holds = false;
        items[i].waits_for = SIZE_MAX;
    }
    nodes[count] = (struct zkr_participant){ .name = "leases", .since_ms = -1 };
    nodes[count + 1] =
        (struct zkr_participant){ .name = "locks", .since_ms = -1 };
    done = copy_back(items, count, nodes, count + 2);
    free(nodes);
    return done;
}
