/* SPDX-License-Identifier: Apache-2.0 */
/* One interface for the locks of all recipes. */
#include "zkr_locks.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "peer.h"

struct recipe {
    const char *name;
    int (*make)(zkr_session *session, const char *path, void **ret_handle);
    int (*acquire)(void *handle, zkr_grant **ret_grant);
    void (*free)(void *handle);
};

void check(const char *what, int rc)
{
    if (rc != ZKR_OK)
        peer_error("%s: %s", what, zkr_error_detail());
}

zkr_session *open_session(void)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    zkr_session *session;

    opts.session_timeout_ms = (uint32_t)peer_number("timeout_ms", 10000);
    check("open", zkr_session_open(peer_target(), &opts, &session));
    return session;
}

const char *path_of(const char *name, long number)
{
    static _Thread_local char path[128];
    const char *of_parent = peer_option("path", NULL);

    if (of_parent != NULL)
        return of_parent;
    (void)snprintf(path, sizeof(path), "/bench-zkr-%ld/%s-%ld", (long)getpid(),
                   name, number);
    return path;
}

void mutex_options(struct zkr_lockable_opts *opts)
{
    long retain_ms = peer_number("retain_ms", 0);

    if (retain_ms == 0)
        return;
#ifdef ZKR_MUTEX_RETAINS
    opts->retain_ms = (uint32_t)retain_ms;
    opts->retain_max = (uint32_t)peer_number("retain_max", 1000);
#else
    (void)opts;
    peer_unsupported("this version does not retain grants");
#endif
}

static int make_mutex(zkr_session *session, const char *path, void **ret)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    zkr_mutex *mutex = NULL;
    int rc;

    mutex_options(&opts);
    rc = zkr_mutex_new(session, path, &opts, &mutex);
    *ret = mutex;
    return rc;
}

static int acquire_mutex(void *handle, zkr_grant **ret)
{
    return zkr_mutex_acquire(handle, -1, ret);
}

static void free_mutex(void *handle)
{
    zkr_mutex_free(handle);
}

static int make_rwlock(zkr_session *session, const char *path, void **ret)
{
    zkr_rwlock *lock = NULL;
    int rc = zkr_rwlock_new(session, path, NULL, &lock);

    *ret = lock;
    return rc;
}

static int acquire_read(void *handle, zkr_grant **ret)
{
    return zkr_rwlock_acquire_read(handle, -1, ret);
}

static int acquire_write(void *handle, zkr_grant **ret)
{
    return zkr_rwlock_acquire_write(handle, -1, ret);
}

static void free_rwlock(void *handle)
{
    zkr_rwlock_free(handle);
}

static int make_reentrant(zkr_session *session, const char *path, void **ret)
{
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    zkr_reentrant_mutex *mutex = NULL;
    int rc;

    mutex_options(&opts);
    rc = zkr_reentrant_mutex_new(session, path, &opts, &mutex);
    *ret = mutex;
    return rc;
}

static int acquire_reentrant(void *handle, zkr_grant **ret)
{
    *ret = NULL;
    return zkr_reentrant_mutex_acquire(handle, -1);
}

static void free_reentrant(void *handle)
{
    zkr_reentrant_mutex_free(handle);
}

static int make_unfair(zkr_session *session, const char *path, void **ret)
{
    zkr_unfair_mutex *mutex = NULL;
    int rc = zkr_unfair_mutex_new(session, path, NULL, &mutex);

    *ret = mutex;
    return rc;
}

static int acquire_unfair(void *handle, zkr_grant **ret)
{
    return zkr_unfair_mutex_acquire(handle, -1, ret);
}

static void free_unfair(void *handle)
{
    zkr_unfair_mutex_free(handle);
}

static const struct recipe recipes[] = {
    { "mutex", make_mutex, acquire_mutex, free_mutex },
    { "read", make_rwlock, acquire_read, free_rwlock },
    { "write", make_rwlock, acquire_write, free_rwlock },
    { "reentrant", make_reentrant, acquire_reentrant, free_reentrant },
    { "unfair", make_unfair, acquire_unfair, free_unfair },
};

static const struct recipe *find_recipe(const char *name)
{
    for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
        if (strcmp(recipes[i].name, name) == 0)
            return &recipes[i];
    }
    peer_error("no recipe %s", name);
}

void lock_new(struct lock *lock, zkr_session *session, const char *recipe,
              const char *path)
{
    lock->recipe = find_recipe(recipe);
    lock->grant = NULL;
    check("new", lock->recipe->make(session, path, &lock->handle));
}

void lock_free(struct lock *lock)
{
    lock->recipe->free(lock->handle);
}

int lock_try_acquire(struct lock *lock)
{
    return lock->recipe->acquire(lock->handle, &lock->grant);
}

void lock_acquire(struct lock *lock)
{
    check("acquire", lock_try_acquire(lock));
}

int lock_try_release(struct lock *lock)
{
    zkr_grant *grant = lock->grant;
    int rc;

    lock->grant = NULL;
    if (grant == NULL)
        return zkr_reentrant_mutex_release(lock->handle);
    rc = zkr_grant_release(grant);
    zkr_grant_free(grant);
    return rc;
}

void lock_release(struct lock *lock)
{
    check("release", lock_try_release(lock));
}
