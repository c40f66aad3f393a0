/* What the library has allocated, counted. */
#include "heap.h"

#include <stdlib.h>
#include <string.h>

static long blocks;

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
    blocks++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    blocks++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    blocks += p == NULL;
    return __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
    blocks++;
    return __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
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
