/* SPDX-License-Identifier: Apache-2.0 */
/* The fair mutex: each contender waits for the one right before it. */
#include "mutex_recipe.h"

#include "base/error.h"
#include "base/output.h"
#include "links.h"

struct zkr_mutex {
    struct zkr__lock lock;
};

const struct zkr__recipe zkr__mutex_recipe = {
    .noun = "mutex",
    .way = &zkr__in_a_queue,
    .marker = { [ZKR__LAYOUT_CURATOR] = ZKR__CURATOR_LOCK,
                [ZKR__LAYOUT_KAZOO] = ZKR__KAZOO_LOCK },
    .markers = ZKR__MUTEX_MARKERS,
    .waits_for = zkr__nearest_any,
    .can_stay = true,
};

static struct zkr__lock *lock_of(zkr_mutex *mutex)
{
    return mutex == NULL ? NULL : &mutex->lock;
}

struct zkr__link zkr__mutex_link(zkr_mutex *mutex)
{
    return (struct zkr__link){ lock_of(mutex), &zkr__mutex_recipe, 0 };
}

enum zkr_error zkr_mutex_new(zkr_session *session, const char *path,
                             const struct zkr_mutex_opts *opts,
                             zkr_mutex **ret_mutex)
{
    struct zkr__lock *lock;
    int rc = ZKR__OUTPUT(ret_mutex);

    if (rc == ZKR_OK)
        rc = zkr__lock_new(session, zkr__mutex_recipe.noun, path, opts,
                           ZKR__MUTEX_FLAGS, zkr__mutex_recipe.markers, &lock);
    if (rc == ZKR_OK)
        *ret_mutex = ZKR__CONTAINER(lock, zkr_mutex, lock);
    return rc;
}

void zkr_mutex_free(zkr_mutex *mutex)
{
    zkr__lock_free(lock_of(mutex));
}

enum zkr_error zkr_mutex_acquire(zkr_mutex *mutex, int64_t timeout_ms,
                                 zkr_grant **ret_grant)
{
    return zkr__lock_acquire(lock_of(mutex), &zkr__mutex_recipe, timeout_ms,
                             ret_grant);
}

enum zkr_error zkr_mutex_acquire_async(zkr_mutex *mutex, int64_t timeout_ms,
                                       zkr_acquire_fn fn, void *user,
                                       zkr_request **ret_request)
{
    return zkr__lock_acquire_async(lock_of(mutex), &zkr__mutex_recipe,
                                   timeout_ms, fn, user, ret_request);
}

enum zkr_error zkr_mutex_cancel(zkr_mutex *mutex)
{
    return zkr__lock_cancel(lock_of(mutex), zkr__mutex_recipe.noun);
}

enum zkr_error zkr_mutex_yield(zkr_mutex *mutex)
{
    return zkr__lock_yield(lock_of(mutex), zkr__mutex_recipe.noun);
}

enum zkr_error zkr_mutex_stats(zkr_mutex *mutex,
                               struct zkr_counters *ret_counters)
{
    return zkr__lock_stats(lock_of(mutex), zkr__mutex_recipe.noun,
                           ret_counters);
}

const char *zkr_mutex_path(const zkr_mutex *mutex)
{
    return mutex == NULL ? NULL : mutex->lock.path;
}
