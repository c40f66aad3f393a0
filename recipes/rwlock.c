/* SPDX-License-Identifier: Apache-2.0 */
/* The fair read/write lock: a reader waits for the nearest writer before it, a
 * writer for the contender right before it. */
#include "recipes.h"

#include <zkrecipes/rwlock.h>

#include "base/opts.h"
#include "lock/lockable.h"

const struct zkr__recipe zkr__writing_recipe = {
    .noun = "write lock",
    .way = &zkr__in_a_queue,
    .marker = { [ZKR__LAYOUT_CURATOR] = ZKR__CURATOR_WRITE,
                [ZKR__LAYOUT_KAZOO] = ZKR__KAZOO_LOCK },
    .markers = ZKR__RW_MARKERS,
    .flags = ZKR_FAIL_ON_SESSION_LOSS | ZKR_PERSISTENT_PARENTS |
             ZKR_KAZOO_LAYOUT | ZKR_REENTRANT,
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

static const struct zkr__lockable_type rwlock = {
    .noun = "read/write lock",
    .modes = { [ZKR_EXCLUSIVE] = &zkr__writing_recipe,
               [ZKR_SHARED] = &zkr__reading_recipe },
};

int zkr_rwlock_new(zkr_session *session, const char *path,
                   const struct zkr_lockable_opts *opts, zkr_rwlock **ret_lock)
{
    return zkr__lockable_new(session, path, opts, &rwlock, ret_lock);
}

/* The downgrade is not one transaction, because a multi of two operations can
 * abort the process when the session expires (client 3.8.0). The reader is at
 * the writer's place, and was seen there together with it, before the writer's
 * node is deleted. */
int zkr_rwlock_downgrade(zkr_rwlock *lock, zkr_grant *write_grant,
                         zkr_grant **ret_read_grant)
{
    int rc = ZKR__OUTPUT(ret_read_grant);

    if (rc == ZKR_OK)
        rc = zkr__lockable_check(lock, &rwlock);
    if (rc == ZKR_OK)
        rc = zkr__lockable_acquire_beside(lock, ZKR_SHARED, write_grant,
                                          ret_read_grant);
    if (rc == ZKR_OK)
        (void)zkr_grant_release(write_grant);
    return rc;
}
