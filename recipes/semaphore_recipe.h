/* SPDX-License-Identifier: Apache-2.0 */
/* The way of the permits of a semaphore, for the test of its moves. */
#ifndef ZKR__SEMAPHORE_RECIPE_H
#define ZKR__SEMAPHORE_RECIPE_H

#include "lock/recipe.h"

extern const struct zkr__way zkr__among_a_few;

#endif
