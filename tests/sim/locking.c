/* Users and their locks: the calls of each recipe under one name. */
#include "users.h"

#include <string.h>

static int make_lock(struct thread *t)
{
    zkr_session *s = t->process->session;
    const char *path = process_sees(t->process, WORLD_PATH);
    struct zkr_mutex_opts opts = ZKR_MUTEX_OPTS_INIT;
    struct zkr_rwlock_opts rw_opts = ZKR_RWLOCK_OPTS_INIT;
    int rc = 0;

    opts.flags = rw_opts.flags = t->flags;
    if (t->flags != 0)
        opts.label = rw_opts.label = "to see what happens";
    switch (world.recipe) {
    case MUTEX:
        rc = zkr_mutex_new(s, path, &opts, (zkr_mutex **)&t->lock);
        break;
    case RWLOCK:
        rc = zkr_rwlock_new(s, path, &rw_opts, (zkr_rwlock **)&t->lock);
        break;
    case UNFAIR:
        rc =
            zkr_unfair_mutex_new(s, path, &opts, (zkr_unfair_mutex **)&t->lock);
        break;
    case REENTRANT:
    case RECIPES:
        rc = zkr_reentrant_mutex_new(s, path, &opts,
                                     (zkr_reentrant_mutex **)&t->lock);
    }
    return rc;
}

int user_make_lock(struct thread *t)
{
    int rc;

    while ((rc = make_lock(t)) == ZKR_ENOMEM)
        fiber_sleep(100 * MS);
    return rc;
}

void user_free_lock(struct thread *t)
{
    switch (world.recipe) {
    case MUTEX:
        zkr_mutex_free(t->lock);
        break;
    case RWLOCK:
        zkr_rwlock_free(t->lock);
        break;
    case UNFAIR:
        zkr_unfair_mutex_free(t->lock);
        break;
    case REENTRANT:
    case RECIPES:
        zkr_reentrant_mutex_free(t->lock);
    }
    t->lock = NULL;
}

void user_cancel(struct thread *t)
{
    switch (world.recipe) {
    case MUTEX:
        (void)zkr_mutex_cancel(t->lock);
        break;
    case RWLOCK:
        (void)zkr_rwlock_cancel(t->lock);
        break;
    case UNFAIR:
        (void)zkr_unfair_mutex_cancel(t->lock);
        break;
    case REENTRANT:
    case RECIPES:
        (void)zkr_reentrant_mutex_cancel(t->lock);
    }
}

void user_checks_path(const struct thread *t)
{
    const char *path = NULL;

    switch (world.recipe) {
    case MUTEX:
        path = zkr_mutex_path(t->lock);
        break;
    case RWLOCK:
        path = zkr_rwlock_path(t->lock);
        break;
    case UNFAIR:
        path = zkr_unfair_mutex_path(t->lock);
        break;
    case REENTRANT:
    case RECIPES:
        path = zkr_reentrant_mutex_path(t->lock);
    }
    if (strcmp(path, process_sees(t->process, WORLD_PATH)) != 0)
        world_fail("a lock is at '%s'", path);
}

int user_acquire(struct thread *t, bool shared, int64_t timeout_ms,
                 zkr_grant **grant)
{
    int rc;

    switch (world.recipe) {
    case MUTEX:
        return zkr_mutex_acquire(t->lock, timeout_ms, grant);
    case RWLOCK:
        return shared ? zkr_rwlock_acquire_read(t->lock, timeout_ms, grant)
                      : zkr_rwlock_acquire_write(t->lock, timeout_ms, grant);
    case UNFAIR:
        return zkr_unfair_mutex_acquire(t->lock, timeout_ms, grant);
    case REENTRANT:
    case RECIPES:
        break;
    }
    rc = zkr_reentrant_mutex_acquire(t->lock, timeout_ms);
    if (rc == ZKR_OK)
        *grant = zkr_reentrant_mutex_grant(t->lock);
    return rc;
}

int user_acquire_async(struct thread *t, bool shared, int64_t timeout_ms,
                       zkr_acquire_fn fn, void *user, zkr_request **request)
{
    if (world.recipe == MUTEX)
        return zkr_mutex_acquire_async(t->lock, timeout_ms, fn, user, request);
    if (world.recipe == UNFAIR)
        return zkr_unfair_mutex_acquire_async(t->lock, timeout_ms, fn, user,
                                              request);
    return shared ? zkr_rwlock_acquire_read_async(t->lock, timeout_ms, fn, user,
                                                  request)
                  : zkr_rwlock_acquire_write_async(t->lock, timeout_ms, fn,
                                                   user, request);
}
