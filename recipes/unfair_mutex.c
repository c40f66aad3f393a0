/* SPDX-License-Identifier: Apache-2.0 */
/* The unfair mutex: one node, and the client that creates it holds the lock. */
#include <zkrecipes/unfair_mutex.h>

#include "base/error.h"
#include "base/output.h"
#include "links.h"
#include "lock/chain.h"
#include "lock/lock.h"
#include "mutex_recipe.h"

struct zkr_unfair_mutex {
    struct zkr__lock lock;
};

static const struct zkr__recipe recipe = {
    .noun = "unfair mutex",
    .way = &zkr__by_creating_it,
};

static struct zkr__lock *lock_of(zkr_unfair_mutex *mutex)
{
    return mutex == NULL ? NULL : &mutex->lock;
}

struct zkr__link zkr__unfair_mutex_link(zkr_unfair_mutex *mutex)
{
    return (struct zkr__link){ lock_of(mutex), &recipe, 0 };
}

enum zkr_error zkr_unfair_mutex_new(zkr_session *session, const char *path,
                                    const struct zkr_mutex_opts *opts,
                                    zkr_unfair_mutex **ret_mutex)
{
    const uint32_t flags =
        ZKR__MUTEX_FLAGS &
        ~(uint32_t)(ZKR_MUTEX_KAZOO_LAYOUT | ZKR__LOCK_CAN_STAY);
    struct zkr__lock *lock;
    int rc = ZKR__OUTPUT(ret_mutex);

    if (rc == ZKR_OK)
        rc = zkr__lock_new(session, recipe.noun, path, opts, flags, 0, &lock);
    if (rc == ZKR_OK)
        *ret_mutex = ZKR__CONTAINER(lock, zkr_unfair_mutex, lock);
    return rc;
}

void zkr_unfair_mutex_free(zkr_unfair_mutex *mutex)
{
    zkr__lock_free(lock_of(mutex));
}

enum zkr_error zkr_unfair_mutex_acquire(zkr_unfair_mutex *mutex,
                                        int64_t timeout_ms,
                                        zkr_grant **ret_grant)
{
    return zkr__lock_acquire(lock_of(mutex), &recipe, timeout_ms, ret_grant);
}

enum zkr_error zkr_unfair_mutex_acquire_async(zkr_unfair_mutex *mutex,
                                              int64_t timeout_ms,
                                              zkr_acquire_fn fn, void *user,
                                              zkr_request **ret_request)
{
    return zkr__lock_acquire_async(lock_of(mutex), &recipe, timeout_ms, fn,
                                   user, ret_request);
}

enum zkr_error zkr_unfair_mutex_cancel(zkr_unfair_mutex *mutex)
{
    return zkr__lock_cancel(lock_of(mutex), recipe.noun);
}

enum zkr_error zkr_unfair_mutex_stats(zkr_unfair_mutex *mutex,
                                      struct zkr_counters *ret_counters)
{
    return zkr__lock_stats(lock_of(mutex), recipe.noun, ret_counters);
}

const char *zkr_unfair_mutex_path(const zkr_unfair_mutex *mutex)
{
    return mutex == NULL ? NULL : mutex->lock.path;
}
