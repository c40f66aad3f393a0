/* SPDX-License-Identifier: Apache-2.0 */
/* Recipes that others look at: their nodes on the servers. */
#pragma once

#include "lock/recipe.h"

extern const struct zkr__recipe zkr__mutex_recipe;
extern const struct zkr__recipe zkr__reading_recipe;
extern const struct zkr__recipe zkr__writing_recipe;
