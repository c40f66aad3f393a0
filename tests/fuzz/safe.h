/* SPDX-License-Identifier: Apache-2.0 */
/* Reads UTF-8 as jansson does, to compare with our own reading, and tells which
 * text may reach a terminal. */
#pragma once

#include <jansson.h>

#include "fuzz.h"

static inline bool is_utf8(const char *text)
{
    json_t *value = json_string(text);

    json_decref(value);
    return value != NULL;
}

/* Of text that is UTF-8. */
static inline uint32_t utf8_next(const char **p)
{
    const unsigned char *s = (const unsigned char *)*p;
    size_t len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    uint32_t c = len == 1 ? s[0] : s[0] & (0xffu >> (len + 1));

    for (size_t i = 1; i < len; i++)
        c = c << 6 | (s[i] & 0x3fu);
    *p += len;
    return c;
}

/* A character that shows nothing, or turns the direction of text after it. */
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
