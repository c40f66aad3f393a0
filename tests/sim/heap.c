/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of the library: counts its allocations, and makes some fail. */
#include "world.h"

OF_SCHEDULE uint32_t heap_scarce;
uint32_t heap_refused;
long heap_blocks;

static bool gets_nothing(void)
{
    if (heap_refused > 0 && --heap_refused == 0)
        return true;
    return heap_scarce != 0 && one_in(heap_scarce);
}

static void *count(void *p)
{
    heap_blocks += p != NULL;
    return p;
}

WRAP(void *, malloc, (size_t size))
{
    return gets_nothing() ? NULL : count(__real_malloc(size));
}

WRAP(void *, calloc, (size_t n, size_t size))
{
    return gets_nothing() ? NULL : count(__real_calloc(n, size));
}

WRAP(void *, realloc, (void *p, size_t size))
{
    if (p != NULL)
        return __real_realloc(p, size);
    return gets_nothing() ? NULL : count(__real_realloc(p, size));
}

WRAP(char *, strdup, (const char *text))
{
    return gets_nothing() ? NULL : count(__real_strdup(text));
}

WRAP(char *, strndup, (const char *text, size_t len))
{
    return gets_nothing() ? NULL : count(__real_strndup(text, len));
}

WRAP(void, free, (void *p))
{
    heap_blocks -= p != NULL;
    __real_free(p);
}
