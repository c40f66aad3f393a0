/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of all unit tests: tests that register themselves, and random
 * numbers that are the same in every run. */
#ifndef UNIT_H
#define UNIT_H

#include "test.h"

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
