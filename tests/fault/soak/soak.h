/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of all parts of the soak: the locks, the clients, times. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

enum {
    WORKERS = 16,
    THREADS = 2, /* of a client: the second takes only the lock that stays */
    LOCKS = 5,
    SESSION_MS = 3000, /* T: short of the time a follower is on its own */
    SOAK_TICK_MS = 500,
    SOAK_SYNC_LIMIT = 10,

    /* Time to the next grant after a fault has healed. */
    USUAL_MS = SESSION_MS + 2 * SOAK_TICK_MS + 1000, /* 99 of 100 */
    LONGEST_MS = 2 * SESSION_MS + 5000,

    /* Of the lock that stays. */
    RETAIN_MS = 200,
    RETAIN_MAX = 4,
};

#define MS INT64_C(1000000)

/* A preloaded library adds to CLOCK_REALTIME what a shared file says for its
 * process; no other clock, and no other process, sees anything. */
#define WALL_CLOCK_FILE "ZKR_WALL_CLOCK" /* environment: the file */

enum {
    WALL_CLOCK_PIDS = 1 << 22, /* one byte each: days, from -128 to 127 */
    WALL_CLOCK_DAY = 86400,    /* seconds */
};

static inline _Noreturn void die(const char *what)
{
    perror(what);
    exit(1);
}

/* One more thing at the end of an array, whose room doubles. */
#define PUSH(array, count, ...)                                                \
    ((array) = soak_grown(array, count, sizeof(*(array))),                     \
     (array)[(count)++] = __VA_ARGS__)

static inline void *soak_grown(void *array, size_t count, size_t size)
{
    if ((count & (count - 1)) != 0)
        return array;
    array = realloc(array, (count == 0 ? 1 : 2 * count) * size);
    if (array == NULL)
        abort();
    return array;
}

enum recipe { RECIPE_MUTEX, RECIPE_REENTRANT, RECIPE_RWLOCK };

struct lock_spec {
    enum recipe recipe;
    const char *path;
    bool stays; /* with its client: one node has several grants */
};

static const struct lock_spec lock_specs[LOCKS] = {
    { RECIPE_MUTEX, "/soak/mutex", false },
    { RECIPE_REENTRANT, "/soak/reentrant", false },
    { RECIPE_RWLOCK, "/soak/rw1", false },
    { RECIPE_RWLOCK, "/soak/rw2", false },
    { RECIPE_MUTEX, "/soak/stays", true },
};
