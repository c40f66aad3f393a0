/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the simulated world: allocated piece by piece, freed as a
 * whole. */
#pragma once

#include <stddef.h>
#include <string.h>

/* Zeroed; never NULL. */
void *arena_new(size_t size);
/* A thing of that type, with those members. */
#define ARENA_NEW(type, ...)                                                   \
    ((type *)memcpy(arena_new(sizeof(type)), &(type){ __VA_ARGS__ },           \
                    sizeof(type)))
char *arena_copy(const char *data, size_t len); /* and a zero byte */

/* Puts a thing at the end of a list; `link` is the member that links it. */
#define APPEND(list, thing, link)                                              \
    do {                                                                       \
        __typeof__(thing) *end_ = &(list);                                     \
                                                                               \
        while (*end_ != NULL)                                                  \
            end_ = &(*end_)->link;                                             \
        *end_ = (thing);                                                       \
    } while (0)

/* Marks a variable that is zero when a schedule begins. */
#define OF_SCHEDULE __attribute__((section("of_schedule")))
/* Frees all of it, and clears those variables. */
void arena_reset(void);
