/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of all unit tests: tests that register themselves, waiting,
 * calls of the library that a test answers itself, and random numbers that are
 * the same in every run. */
#pragma once

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include <sys/wait.h>

#include <zkrecipes/error.h>

#include "test.h"

/* Waits until the condition holds; the watchdog ends a test that hangs. */
#define AWAIT(condition)                                                       \
    do {                                                                       \
        while (!(condition))                                                   \
            pass_a_moment();                                                   \
    } while (0)

/* Begins the function that takes the place of a call: --wrap in meson.build. */
#define WRAP(type, name, parameters)                                           \
    type __real_##name parameters;                                             \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters

static inline void pass_a_moment(void)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* Of a child; -1 when there is none, or something else has ended it. */
static inline int exit_status(pid_t pid)
{
    int status = 0;

    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

/* For a call that is made whatever it returns. */
static inline void any_result(int result)
{
}

/* Tells whether the value is one of those. */
#define ONE_OF(value, ...)                                                     \
    is_one_of(value, (const int[]){ __VA_ARGS__ },                             \
              COUNT(((const int[]){ __VA_ARGS__ })))
static inline bool is_one_of(int value, const int *values, size_t count)
{
    while (count > 0 && values[count - 1] != value)
        count--;
    return count > 0;
}

/* Of a list of texts that ends with NULL. */
static inline size_t count_texts(const char *const *texts)
{
    size_t count = 0;

    while (texts[count] != NULL)
        count++;
    return count;
}

/* Source: Marsaglia, "Xorshift RNGs" (2003). The state must not be 0. */
static inline uint64_t unit_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
