/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of the library: counts its allocations, and makes some fail. */
#include "heap.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "choices.h"

OF_SCHEDULE uint32_t heap_scarce;
static uint32_t refused;
static long blocks;

void heap_refuse(uint32_t nth)
{
    refused = nth;
}

bool heap_has_refused(void)
{
    return refused == 0;
}

static bool gets_nothing(void)
{
    if (refused > 0 && --refused == 0)
        return true;
    return heap_scarce != 0 && one_in(heap_scarce);
}

/* The linker sends the library's calls here: --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);
void __wrap_free(void *p);

void *__wrap_malloc(size_t size)
{
    if (gets_nothing())
        return NULL;
    blocks++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    if (gets_nothing())
        return NULL;
    blocks++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    if (p == NULL && gets_nothing())
        return NULL;
    blocks += p == NULL;
    return __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
    if (gets_nothing())
        return NULL;
    blocks++;
    return __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
    if (gets_nothing())
        return NULL;
    blocks++;
    return __real_strndup(text, len);
}

void __wrap_free(void *p)
{
    blocks -= p != NULL;
    __real_free(p);
}

long heap_blocks(void)
{
    return blocks;
}
