/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the list of participants of nodes that the caller has read. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/output.h"
#include "base/path.h"
#include "inspect/listed.h"
#include "protocol/roster.h"

/* Tells whether the directories among the nodes are those of a semaphore. */
static bool is_semaphore(const struct zkr_participant *nodes, size_t count)
{
    struct zkr__part_count parts[ZKR__PARTS] = { { .exists = true } };

    for (size_t i = 0; i < count; i++) {
        const char *name = nodes[i].name;
        enum zkr__part dir = zkr__part_of_dir(name);
        enum zkr__part part = zkr__part_of(name);

        if (dir != ZKR__PART_PATH)
            parts[dir].exists = true;
        if (part != ZKR__PART_PATH)
            zkr__part_count(&parts[part], part, zkr__path_name(name));
    }
    return zkr__is_semaphore(&parts[ZKR__PART_LEASES], &parts[ZKR__PART_QUEUE]);
}

static bool is_left_out(const char *name, bool semaphore)
{
    return semaphore ? zkr__part_of_dir(name) != ZKR__PART_PATH
                     : zkr__part_of(name) != ZKR__PART_PATH;
}

/* Copies the nodes that count, with their names in one block. Their data is
 * still the caller's. */
static bool copy_nodes(struct zkr__listed *list,
                       const struct zkr_participant *nodes, size_t count,
                       size_t *ret_copied)
{
    size_t size = 1;
    char *text;

    for (size_t i = 0; i < count; i++)
        size += strlen(nodes[i].name) + 1;
    list->items = calloc(count + 1, sizeof(*list->items));
    text = malloc(size);
    list->names[ZKR__PART_PATH].all = (const char **)(void *)text;
    if (list->items == NULL || text == NULL)
        return false;
    *ret_copied = 0;
    for (size_t i = 0; i < count; i++) {
        struct zkr_participant *item = &list->items[*ret_copied];

        if (is_left_out(nodes[i].name, list->public.semaphore))
            continue;
        *item = nodes[i];
        item->name = text;
        text = stpcpy(text, nodes[i].name) + 1;
        (*ret_copied)++;
    }
    return true;
}

/* Returns false when out of memory. */
static bool arrange(struct zkr__listed *list,
                    const struct zkr_participant *nodes, size_t count)
{
    size_t copied;

    list->public.semaphore = is_semaphore(nodes, count);
    if (!copy_nodes(list, nodes, count, &copied))
        return false;
    list->public.total = copied;
    copied = zkr__roster_order(list->items, copied);
    for (; list->count < copied; list->count++) {
        struct zkr_participant *item = &list->items[list->count];

        if (!zkr__listed_copy_data(item, item->data, item->data_size))
            return false;
    }
    zkr__roster_settle(list->items, list->count);
    list->public.items = list->items;
    list->public.count = list->count;
    return true;
}

static int check(const struct zkr_participant *nodes, size_t count)
{
    bool complete = nodes != NULL || count == 0;

    for (size_t i = 0; complete && i < count; i++)
        complete = nodes[i].name != NULL &&
                   (nodes[i].data != NULL || nodes[i].data_size == 0);
    if (complete)
        return ZKR_OK;
    return zkr__fail(ZKR_EINVAL, "participants: a node, a name or data is "
                                 "NULL");
}

enum zkr_error zkr_participants_arrange(const struct zkr_participant *nodes,
                                        size_t count,
                                        struct zkr_participants **ret_list)
{
    struct zkr__listed *list;
    int rc = ZKR__OUTPUT(ret_list);

    if (rc == ZKR_OK)
        rc = check(nodes, count);
    if (rc != ZKR_OK)
        return rc;
    list = calloc(1, sizeof(*list));
    if (list == NULL || !arrange(list, nodes, count)) {
        zkr__listed_free(list);
        return zkr__fail(ZKR_ENOMEM, "participants: out of memory");
    }
    *ret_list = &list->public;
    return ZKR_OK;
}
