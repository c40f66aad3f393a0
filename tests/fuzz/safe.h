/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which text may reach a terminal. */
#pragma once

#include "utf8.h"

/* A character that shows nothing, or changes the direction of the text after
 * it. */
static inline bool is_invisible(uint32_t c)
{
    return c == 0xad || c == 0x61c || (c >= 0x200b && c < 0x2010) ||
           (c >= 0x2028 && c < 0x202f) || (c >= 0x2060 && c < 0x2070) ||
           c == 0xfeff;
}

/* Tells whether it is one line of UTF-8 that moves no cursor and changes no
 * direction. */
static inline bool is_safe(const char *text)
{
    bool safe = is_utf8(text);

    while (safe && *text != '\0') {
        uint32_t c = utf8_next(&text);

        safe = c >= 0x20 && (c < 0x7f || c > 0x9f) && !is_invisible(c);
    }
    return safe;
}
