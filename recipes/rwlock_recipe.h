/* SPDX-License-Identifier: Apache-2.0 */
/* The recipes of readers and writers: their nodes on the servers. */
#ifndef ZKR__RWLOCK_RECIPE_H
#define ZKR__RWLOCK_RECIPE_H

#include "lock/recipe.h"

extern const struct zkr__recipe zkr__reading_recipe;
extern const struct zkr__recipe zkr__writing_recipe;

#endif
