/* SPDX-License-Identifier: Apache-2.0 */
/* The recipe of the mutex: its nodes on the servers. */
#ifndef ZKR__MUTEX_RECIPE_H
#define ZKR__MUTEX_RECIPE_H

#include "lock/recipe.h"

extern const struct zkr__recipe zkr__mutex_recipe;

#endif
