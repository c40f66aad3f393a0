/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the holds of a shell. Pure. */
#include "run/shell_holds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool holds_have(const struct holds *h, const char *id)
{
    for (size_t i = 0; i < h->count; i++) {
        if (strcmp(h->ids[i], id) == 0)
            return true;
    }
    return false;
}

void holds_add(struct holds *h, const char *id)
{
    if (h->count == HOLDS_MAX)
        holds_remove(h, 0);
    (void)snprintf(h->ids[h->count++], sizeof(h->ids[0]), "%s", id);
}

void holds_remove(struct holds *h, size_t i)
{
    h->count--;
    (void)memmove(h->ids[i], h->ids[i + 1], (h->count - i) * sizeof(h->ids[0]));
}

/* "0x", digits, '-', digits. */
static bool is_id(const char *text, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    size_t session;
    size_t rest;

    if (len > HOLD_ID_MAX || strncmp(text, "0x", 2) != 0)
        return false;
    session = strspn(text + 2, digits);
    if (session == 0 || session > 16 || text[2 + session] != '-')
        return false;
    rest = strspn(text + 3 + session, digits);
    return rest > 0 && 3 + session + rest == len;
}

void holds_read(struct holds *h, const char *text)
{
    h->count = 0;
    while (text != NULL && text[0] != '\0') {
        size_t len = strcspn(text, " ");
        char id[HOLD_ID_MAX + 1];

        if (!is_id(text, len)) {
            h->count = 0;
            return;
        }
        (void)snprintf(id, sizeof(id), "%.*s", (int)len, text);
        holds_add(h, id);
        text += len + (text[len] == ' ' ? 1 : 0);
    }
}

void holds_write(const struct holds *h, char text[HOLDS_TEXT_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < h->count; i++)
        used += (size_t)snprintf(text + used, HOLDS_TEXT_MAX - used, "%s%s",
                                 i == 0 ? "" : " ", h->ids[i]);
}

int64_t hold_session(const char *id)
{
    return (int64_t)strtoull(id, NULL, 16); /* up to the '-' */
}
