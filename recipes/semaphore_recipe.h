/* SPDX-License-Identifier: Apache-2.0 */
/* The claims of a semaphore, for the multi-lock, and for the test of their
 * moves. */
#ifndef ZKR__SEMAPHORE_RECIPE_H
#define ZKR__SEMAPHORE_RECIPE_H

#include <zkrecipes/semaphore.h>

#include "lock/chain.h"

extern const struct zkr__way zkr__among_a_few;

/* Fills in the links of one acquire of so many permits: one more than
 * permits. */
void zkr__semaphore_link(const zkr_semaphore *semaphore, uint32_t permits,
                         struct zkr__link *links);

/* Refuses NULL, a forked child, and a number that can never be had. */
int zkr__semaphore_check(zkr_semaphore *semaphore, uint32_t permits);

#endif
