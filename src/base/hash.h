/* SPDX-License-Identifier: Apache-2.0 */
/* A hash of a text, for tables of paths: FNV-1a. */
#ifndef ZKR__HASH_H
#define ZKR__HASH_H

#include <stdint.h>

static inline uint64_t zkr__hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h;
}

#endif
