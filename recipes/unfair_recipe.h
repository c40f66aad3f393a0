/* SPDX-License-Identifier: Apache-2.0 */
/* The way of the unfair mutex, for the test of its moves. */
#ifndef ZKR__UNFAIR_RECIPE_H
#define ZKR__UNFAIR_RECIPE_H

#include "lock/recipe.h"

extern const struct zkr__way zkr__by_creating_it;

#endif
