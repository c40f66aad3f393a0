/* SPDX-License-Identifier: Apache-2.0 */
/* The recipe of the mutex: its nodes on the servers, for the recipes that share
 * it. */
#ifndef ZKR__MUTEX_RECIPE_H
#define ZKR__MUTEX_RECIPE_H

#include <zkrecipes/mutex.h>

#include "lock/lock.h"

extern const struct zkr__recipe zkr__mutex_recipe;

/* The flags that struct zkr_mutex_opts accepts. */
#define ZKR__MUTEX_FLAGS                                                       \
    (ZKR_MUTEX_FAIL_ON_SESSION_LOSS | ZKR_MUTEX_PERSISTENT_PARENTS |           \
     ZKR_MUTEX_KAZOO_LAYOUT | ZKR__LOCK_CAN_STAY)

ZKR__LOCK_OPTS_FIT(struct zkr_mutex_opts);

#endif
