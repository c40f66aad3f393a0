/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the holds of a shell. Pure. */
#include "run/shell_holds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool hold_is(const struct hold *a, const struct hold *b)
{
    return a->session == b->session && a->pid == b->pid && a->fd == b->fd &&
           a->number == b->number;
}

bool holds_have(const struct holds *h, const struct hold *hold)
{
    for (size_t i = 0; i < h->count; i++) {
        if (hold_is(&h->items[i], hold))
            return true;
    }
    return false;
}

void holds_add(struct holds *h, const struct hold *hold)
{
    if (h->count == HOLDS_MAX)
        holds_remove(h, 0);
    h->items[h->count++] = *hold;
}

void holds_remove(struct holds *h, size_t i)
{
    h->count--;
    (void)memmove(&h->items[i], &h->items[i + 1],
                  (h->count - i) * sizeof(h->items[0]));
}

static size_t write_one(const struct hold *hold, char text[HOLD_TEXT_MAX])
{
    return (size_t)snprintf(text, HOLD_TEXT_MAX,
                            "0x%" PRIx64 "-%" PRIx32 "-%" PRIx32 "-%" PRIx64,
                            hold->session, hold->pid, hold->fd, hold->number);
}

/* What sscanf() takes for an id is one when it is written in the same way. */
static bool read_one(const char *text, size_t len, struct hold *ret)
{
    char copy[HOLD_TEXT_MAX];
    char written[HOLD_TEXT_MAX];

    if (len >= sizeof(copy))
        return false;
    (void)memcpy(copy, text, len);
    copy[len] = '\0';
    return sscanf(copy, "0x%16" SCNx64 "-%8" SCNx32 "-%8" SCNx32 "-%16" SCNx64,
                  &ret->session, &ret->pid, &ret->fd, &ret->number) == 4 &&
           write_one(ret, written) == len && strcmp(copy, written) == 0;
}

void holds_read(struct holds *h, const char *text)
{
    h->count = 0;
    while (text != NULL && text[0] != '\0') {
        size_t len = strcspn(text, " ");
        struct hold hold;

        if (!read_one(text, len, &hold)) {
            h->count = 0;
            return;
        }
        holds_add(h, &hold);
        text += len + (text[len] == ' ' ? 1 : 0);
    }
}

void holds_write(const struct holds *h, char text[HOLDS_TEXT_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < h->count; i++) {
        if (i > 0)
            text[used++] = ' ';
        used += write_one(&h->items[i], text + used);
    }
}
