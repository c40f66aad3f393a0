/* What may reach a terminal. */
#ifndef FUZZ_SAFE_H
#define FUZZ_SAFE_H

#include "utf8.h"

/* One line of UTF-8 that moves no cursor and turns no direction. */
static inline bool is_safe(const char *text)
{
    static const uint32_t turns[] = { 0x061c, 0x200e, 0x200f, 0x2028, 0x2029,
                                      0x202a, 0x202b, 0x202c, 0x202d, 0x202e,
                                      0x2066, 0x2067, 0x2068, 0x2069 };
    bool safe = is_utf8(text);

    while (safe && *text != '\0') {
        uint32_t c = utf8_next(&text);

        safe = c >= 0x20 && (c < 0x7f || c > 0x9f);
        for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++)
            safe = safe && c != turns[i];
    }
    return safe;
}

#endif
