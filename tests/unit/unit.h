/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of all unit tests: cmocka and the headers that it wants first, a
 * length, and random numbers that are the same in every run. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* For a call that is made whatever it returns. */
static inline void any_result(int result)
{
    (void)result;
}

/* Source: Marsaglia, "Xorshift RNGs" (2003). The state must not be 0. */
static inline uint64_t unit_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
