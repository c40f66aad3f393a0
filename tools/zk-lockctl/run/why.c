/* SPDX-License-Identifier: Apache-2.0 */
/* Fits a text into the label that others are shown when they want the lock.
 * Pure. */
#include "run/why.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/escape.h"

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

/* ZooKeeper refuses private use and the specials in names, and the library in
 * labels, too. */
static bool is_refused(uint32_t c)
{
    return (c >= 0xe000 && c <= 0xf8ff) || (c >= 0xfff0 && c <= 0xffff);
}

enum fit why_fit(const char *text, char label[ZKR_LABEL_MAX + 1])
{
    return why_fit_before(text, "", label);
}

enum fit why_fit_before(const char *text, const char *end,
                        char label[ZKR_LABEL_MAX + 1])
{
    size_t room = ZKR_LABEL_MAX - strlen(end);
    size_t room_before_mark = room - strlen(WHY_MARK);
    size_t left = strlen(text);
    enum fit fit = FIT_WHOLE;
    size_t used = 0;
    size_t before_mark = 0; /* what stays when it is cut */

    while (left > 0) {
        uint32_t c = 0;
        size_t len = escape_decode((const unsigned char *)text, left, &c);
        const char *instead = len == 0 || is_refused(c) ? "?"
                              : is_control(c)           ? " "
                                                        : NULL;
        size_t size = instead != NULL ? 1 : len;

        if (used + size > room) {
            fit = FIT_CUT;
            break;
        }
        (void)memcpy(label + used, instead != NULL ? instead : text, size);
        used += size;
        if (used <= room_before_mark)
            before_mark = used;
        if (instead != NULL)
            fit = FIT_CHANGED;
        text += len == 0 ? 1 : len;
        left -= len == 0 ? 1 : len;
    }
    (void)sprintf(label + (fit == FIT_CUT ? before_mark : used), "%s%s",
                  fit == FIT_CUT ? WHY_MARK : "", end);
    return fit;
}
