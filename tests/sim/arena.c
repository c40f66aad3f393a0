/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the simulated world: allocated piece by piece, freed as a
 * whole. */
#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CHUNK  (256 * 1024)
#define CHUNKS 256

static char *chunks[CHUNKS];
static OF_SCHEDULE size_t chunk; /* in use, up to: */
static OF_SCHEDULE size_t used;

/* The linker says where that section is. */
extern char __start_of_schedule[];
extern char __stop_of_schedule[];

void *arena_new(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > CHUNK || (used + size > CHUNK && ++chunk == CHUNKS)) {
        (void)fprintf(stderr, "sim: the arena is full\n");
        abort();
    }
    if (used + size > CHUNK)
        used = 0;
    if (chunks[chunk] == NULL)
        chunks[chunk] = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (chunks[chunk] == MAP_FAILED)
        abort();
    void *p = chunks[chunk] + used;
    used += size;
    return memset(p, 0, size);
}

char *arena_copy(const char *data, size_t len)
{
    char *copy = arena_new(len + 1);

    if (len > 0)
        memcpy(copy, data, len);
    return copy;
}

void arena_reset(void)
{
    memset(__start_of_schedule, 0,
           (size_t)(__stop_of_schedule - __start_of_schedule));
}
