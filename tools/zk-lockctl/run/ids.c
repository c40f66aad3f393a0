/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of ids in the environment. Pure. */
#include "run/ids.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/words.h"

void hold_write(const struct hold *hold, char id[ID_MAX])
{
    (void)snprintf(id, ID_MAX, "0x%" PRIx64 "-%" PRIx32 "-%" PRIx32 "-%" PRIx64,
                   (uint64_t)hold->session, hold->pid, hold->fd, hold->number);
}

/* What sscanf() takes for an id is one when it is written in the same way. */
bool hold_read(struct hold *hold, const char *id)
{
    char written[ID_MAX];
    uint64_t session;

    if (sscanf(id, "0x%16" SCNx64 "-%8" SCNx32 "-%8" SCNx32 "-%16" SCNx64,
               &session, &hold->pid, &hold->fd, &hold->number) != 4)
        return false;
    hold->session = (int64_t)session;
    hold_write(hold, written);
    return strcmp(id, written) == 0;
}

int64_t id_session(const char *id)
{
    return (int64_t)strtoull(id, NULL, 16);
}

bool id_is_session(const char *id)
{
    char written[WORD_MAX];

    return id_session(id) != 0 &&
           strcmp(id, word_id(id_session(id), written)) == 0;
}

bool id_is_hold(const char *id)
{
    struct hold hold;

    return hold_read(&hold, id);
}

void ids_read(struct ids *ids, const char *text, bool is_id(const char *id))
{
    size_t len;

    ids->count = 0;
    for (; text != NULL && text[0] != '\0'; text += len) {
        char id[ID_MAX];

        len = strcspn(text, " ");
        (void)snprintf(id, sizeof(id), "%.*s", (int)len, text);
        if (len >= sizeof(id) || !is_id(id)) {
            ids->count = 0;
            return;
        }
        ids_add(ids, id);
        len += text[len] == ' ' ? 1 : 0;
    }
}

void ids_write(const struct ids *ids, char text[IDS_TEXT_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < ids->count; i++)
        used += (size_t)snprintf(text + used, IDS_TEXT_MAX - used, "%s%s",
                                 i == 0 ? "" : " ", ids->items[i]);
}

bool ids_have(const struct ids *ids, const char *id)
{
    for (size_t i = 0; i < ids->count; i++) {
        if (strcmp(ids->items[i], id) == 0)
            return true;
    }
    return false;
}

void ids_add(struct ids *ids, const char *id)
{
    if (ids->count == IDS_MAX) {
        ids->count--;
        (void)memmove(ids->items, ids->items + 1,
                      ids->count * sizeof(ids->items[0]));
    }
    (void)snprintf(ids->items[ids->count++], ID_MAX, "%s", id);
}

void ids_remove(struct ids *ids, int64_t session)
{
    size_t kept = 0;

    for (size_t i = 0; i < ids->count; i++) {
        if (id_session(ids->items[i]) != session)
            (void)memmove(ids->items[kept++], ids->items[i], ID_MAX);
    }
    ids->count = kept;
}

int64_t ids_last_session(const struct ids *ids)
{
    return ids->count == 0 ? 0 : id_session(ids->items[ids->count - 1]);
}
