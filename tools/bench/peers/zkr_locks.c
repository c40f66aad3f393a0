/* SPDX-License-Identifier: Apache-2.0 */
/* One interface for the locks of all recipes. */
#include "zkr_locks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "peer.h"

struct recipe {
    const char *name;
    int (*make)(zkr_session *session, const char *path,
                const struct zkr_lockable_opts *opts, zkr_lockable **ret);
    enum zkr_mode mode;
    bool stays; /* it has the options of a lock that stays */
    bool owned; /* its grant is the library's */
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
    opts.lease_beacon = peer_option("beacon", NULL);
    if (opts.lease_beacon != NULL)
        opts.flags |= ZKR_SESSION_NOT_ON_LEADER;
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
    opts->retain_ms = (uint32_t)retain_ms;
    opts->retain_max = (uint32_t)peer_number("retain_max", 1000);
}

static const struct recipe recipes[] = {
    { .name = "mutex", .make = zkr_mutex_new, .stays = true },
    { .name = "read", .make = zkr_rwlock_new, .mode = ZKR_SHARED },
    { .name = "write", .make = zkr_rwlock_new },
    { .name = "reentrant",
      .make = zkr_reentrant_mutex_new,
      .stays = true,
      .owned = true },
    { .name = "unfair", .make = zkr_unfair_mutex_new },
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
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;

    lock->recipe = find_recipe(recipe);
    lock->grant = NULL;
    if (lock->recipe->stays)
        mutex_options(&opts);
    check("new", lock->recipe->make(session, path, &opts, &lock->lockable));
}

void lock_free(struct lock *lock)
{
    zkr_lockable_free(lock->lockable);
}

int lock_try_acquire(struct lock *lock)
{
    struct zkr_acquire_opts opts = ZKR_ACQUIRE_OPTS_INIT;

    opts.mode = lock->recipe->mode;
    return zkr_lockable_acquire(lock->lockable, &opts, -1, &lock->grant);
}

void lock_acquire(struct lock *lock)
{
    check("acquire", lock_try_acquire(lock));
}

int lock_try_release(struct lock *lock)
{
    zkr_grant *grant = lock->grant;

    lock->grant = NULL;
    if (lock->recipe->owned)
        return zkr_reentrant_mutex_release(lock->lockable);
    int rc = zkr_grant_release(grant);
    zkr_grant_free(grant);
    return rc;
}

void lock_release(struct lock *lock)
{
    check("release", lock_try_release(lock));
}
