/* SPDX-License-Identifier: Apache-2.0 */
/* The runs and holds around a command, in its environment. Pure. */
#include "run/around.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What sscanf() takes for an item is one when it is written in the same way. */
void around_read(struct around *a, const char *text)
{
    char written[AROUND_TEXT_MAX];

    a->count = 0;
    for (const char *at = text; at != NULL && a->count < AROUND_MAX;) {
        struct around_item *item = &a->items[a->count++];
        uint64_t session = 0;

        *item = (struct around_item){ .session = 0 };
        (void)sscanf(at, "0x%16" SCNx64 "-%8" SCNx32 "-%8" SCNx32, &session,
                     &item->pid, &item->fd);
        item->session = (int64_t)session;
        at = strchr(at, ' ');
        at += at != NULL;
    }
    around_write(a, written);
    if (text == NULL || strcmp(text, written) != 0 || around_has(a, 0))
        a->count = 0;
}

void around_write(const struct around *a, char text[AROUND_TEXT_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < a->count; i++) {
        const struct around_item *item = &a->items[i];

        used += (size_t)sprintf(text + used, "%s0x%" PRIx64, i == 0 ? "" : " ",
                                (uint64_t)item->session);
        if (item->pid != 0)
            used += (size_t)sprintf(text + used, "-%" PRIx32 "-%" PRIx32,
                                    item->pid, item->fd);
    }
}

bool around_has(const struct around *a, int64_t session)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].session == session)
            return true;
    }
    return false;
}

void around_add(struct around *a, struct around_item item)
{
    if (a->count == AROUND_MAX)
        around_remove(a, 0);
    a->items[a->count++] = item;
}

void around_remove(struct around *a, size_t i)
{
    a->count--;
    (void)memmove(a->items + i, a->items + i + 1,
                  (a->count - i) * sizeof(a->items[0]));
}
