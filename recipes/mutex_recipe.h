/* What the mutex is on the servers, for the recipes that share it. */
#ifndef ZKR__MUTEX_RECIPE_H
#define ZKR__MUTEX_RECIPE_H

#include <zkrecipes/mutex.h>

#include "lock.h"

extern const struct zkr__recipe zkr__mutex_recipe;

/* Check the options and make the lock; `noun` names it in errors. */
int zkr__mutex_lock_new(zkr_session *session, const char *noun,
                        const char *path, const struct zkr_mutex_opts *opts,
                        struct zkr__lock **ret_lock);

#endif
