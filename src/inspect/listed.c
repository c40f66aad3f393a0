/* SPDX-License-Identifier: Apache-2.0 */
/* The list of participants that the user gets, with the memory of its parts. */
#include "inspect/listed.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"

bool zkr__listed_copy_data(struct zkr_participant *item, const char *data,
                           size_t size)
{
    char *copy;

    if (size > ZKR_PARTICIPANT_DATA_MAX)
        size = ZKR_PARTICIPANT_DATA_MAX;
    item->data = "";
    item->data_size = 0;
    if (size == 0)
        return true;
    copy = malloc(size + 1);
    if (copy == NULL)
        return false;
    (void)memcpy(copy, data, size);
    copy[size] = '\0';
    item->data = copy;
    item->data_size = size;
    return true;
}

void zkr__listed_free(struct zkr__listed *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].data_size > 0)
            free((void *)(uintptr_t)list->items[i].data);
    }
    free(list->items);
    for (size_t i = 0; i < ZKR__PARTS; i++)
        free(list->names[i].all);
    free(list);
}

void zkr_participants_free(struct zkr_participants *list)
{
    if (list != NULL)
        zkr__listed_free(ZKR__CONTAINER(list, struct zkr__listed, public));
}
