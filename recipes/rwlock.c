/* SPDX-License-Identifier: Apache-2.0 */
/* The fair read/write lock: a reader waits for the nearest writer before it, a
 * writer for the contender right before it. */
#include "rwlock_recipe.h"

#include <zkrecipes/rwlock.h>

#include "base/error.h"
#include "base/output.h"
#include "links.h"
#include "lock/lock.h"

struct zkr_rwlock {
    struct zkr__lock lock;
};

ZKR__LOCK_OPTS_FIT(struct zkr_rwlock_opts);

#define FLAGS                                                                  \
    (ZKR_RWLOCK_FAIL_ON_SESSION_LOSS | ZKR_RWLOCK_PERSISTENT_PARENTS |         \
     ZKR_RWLOCK_KAZOO_LAYOUT | ZKR_RWLOCK_REENTRANT | ZKR__LOCK_CAN_STAY)

const struct zkr__recipe zkr__writing_recipe = {
    .noun = "write lock",
    .way = &zkr__in_a_queue,
    .marker = { [ZKR__LAYOUT_CURATOR] = ZKR__CURATOR_WRITE,
                [ZKR__LAYOUT_KAZOO] = ZKR__KAZOO_LOCK },
    .markers = ZKR__RW_MARKERS,
    .has_readers = true,
    .waits_for = zkr__nearest_any,
    .deadlocks_with = &zkr__reading_recipe,
    .can_stay = true,
};

const struct zkr__recipe zkr__reading_recipe = {
    .noun = "read lock",
    .way = &zkr__in_a_queue,
    .marker = { [ZKR__LAYOUT_CURATOR] = ZKR__CURATOR_READ,
                [ZKR__LAYOUT_KAZOO] = ZKR__KAZOO_READ },
    .markers = ZKR__RW_MARKERS,
    .has_readers = true,
    .waits_for = zkr__nearest_exclusive,
    .granted_beside = &zkr__writing_recipe,
};

static const char noun[] = "read/write lock";

static struct zkr__lock *lock_of(zkr_rwlock *lock)
{
    return lock == NULL ? NULL : &lock->lock;
}

struct zkr__link zkr__reading_link(zkr_rwlock *lock)
{
    return (struct zkr__link){ lock_of(lock), &zkr__reading_recipe, 0 };
}

struct zkr__link zkr__writing_link(zkr_rwlock *lock)
{
    return (struct zkr__link){ lock_of(lock), &zkr__writing_recipe, 0 };
}

enum zkr_error zkr_rwlock_new(zkr_session *session, const char *path,
                              const struct zkr_rwlock_opts *opts,
                              zkr_rwlock **ret_lock)
{
    struct zkr__lock *lock;
    int rc = ZKR__OUTPUT(ret_lock);

    if (rc == ZKR_OK)
        rc = zkr__lock_new(session, noun, path, opts, FLAGS, ZKR__RW_MARKERS,
                           &lock);
    if (rc == ZKR_OK)
        *ret_lock = ZKR__CONTAINER(lock, zkr_rwlock, lock);
    return rc;
}

void zkr_rwlock_free(zkr_rwlock *lock)
{
    zkr__lock_free(lock_of(lock));
}

enum zkr_error zkr_rwlock_acquire_read(zkr_rwlock *lock, int64_t timeout_ms,
                                       zkr_grant **ret_grant)
{
    return zkr__lock_acquire(lock_of(lock), &zkr__reading_recipe, timeout_ms,
                             ret_grant);
}

enum zkr_error zkr_rwlock_acquire_write(zkr_rwlock *lock, int64_t timeout_ms,
                                        zkr_grant **ret_grant)
{
    return zkr__lock_acquire(lock_of(lock), &zkr__writing_recipe, timeout_ms,
                             ret_grant);
}

enum zkr_error zkr_rwlock_acquire_read_async(zkr_rwlock *lock,
                                             int64_t timeout_ms,
                                             zkr_acquire_fn fn, void *user,
                                             zkr_request **ret_request)
{
    return zkr__lock_acquire_async(lock_of(lock), &zkr__reading_recipe,
                                   timeout_ms, fn, user, ret_request);
}

enum zkr_error zkr_rwlock_acquire_write_async(zkr_rwlock *lock,
                                              int64_t timeout_ms,
                                              zkr_acquire_fn fn, void *user,
                                              zkr_request **ret_request)
{
    return zkr__lock_acquire_async(lock_of(lock), &zkr__writing_recipe,
                                   timeout_ms, fn, user, ret_request);
}

/* The downgrade is not one transaction, because a multi of two operations can
 * abort the process when the session expires (client 3.8.0). The reader is at
 * the writer's place, and was seen there together with it, before the writer's
 * node is deleted. */
enum zkr_error zkr_rwlock_downgrade(zkr_rwlock *lock, zkr_grant *write_grant,
                                    zkr_grant **ret_read_grant)
{
    int rc = zkr__lock_acquire_beside(lock_of(lock), &zkr__reading_recipe,
                                      write_grant, ret_read_grant);

    if (rc == ZKR_OK)
        (void)zkr_grant_release(write_grant);
    return rc;
}

enum zkr_error zkr_rwlock_cancel(zkr_rwlock *lock)
{
    return zkr__lock_cancel(lock_of(lock), noun);
}

enum zkr_error zkr_rwlock_yield(zkr_rwlock *lock)
{
    return zkr__lock_yield(lock_of(lock), noun);
}

enum zkr_error zkr_rwlock_stats(zkr_rwlock *lock,
                                struct zkr_counters *ret_counters)
{
    return zkr__lock_stats(lock_of(lock), noun, ret_counters);
}

const char *zkr_rwlock_path(const zkr_rwlock *lock)
{
    return lock == NULL ? NULL : lock->lock.path;
}
