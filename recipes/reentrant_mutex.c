/* SPDX-License-Identifier: Apache-2.0 */
/* The reentrant mutex: a mutex whose grant counts for the thread that has it.
 */
#include <zkrecipes/reentrant_mutex.h>

#include "base/error.h"
#include "base/output.h"
#include "base/thread.h"
#include "links.h"
#include "lock/grant_parts.h"
#include "lock/holds.h"
#include "mutex_recipe.h"

static const char noun[] = "reentrant mutex";

_Static_assert(ZKR_REENTRANT_DEPTH_MAX == ZKR__DEPTH_MAX, "as documented");

struct zkr_reentrant_mutex {
    struct zkr__lock lock;
};

static struct zkr__lock *lock_of(zkr_reentrant_mutex *rm)
{
    return rm == NULL ? NULL : &rm->lock;
}

struct zkr__link zkr__reentrant_mutex_link(zkr_reentrant_mutex *rm)
{
    return (struct zkr__link){ lock_of(rm), &zkr__mutex_recipe, 0 };
}

enum zkr_error zkr_reentrant_mutex_new(zkr_session *session, const char *path,
                                       const struct zkr_mutex_opts *opts,
                                       zkr_reentrant_mutex **ret_mutex)
{
    struct zkr__lock *lock;
    int rc = ZKR__OUTPUT(ret_mutex);

    if (rc == ZKR_OK)
        rc = zkr__lock_new(session, noun, path, opts, ZKR__MUTEX_FLAGS,
                           zkr__mutex_recipe.markers, &lock);
    if (rc != ZKR_OK)
        return rc;
    lock->reentrant = true;
    *ret_mutex = ZKR__CONTAINER(lock, zkr_reentrant_mutex, lock);
    return ZKR_OK;
}

void zkr_reentrant_mutex_free(zkr_reentrant_mutex *rm)
{
    struct zkr__lock *lock = lock_of(rm);

    if (zkr__lock_check(lock, noun) != ZKR_OK)
        return;
    zkr__session_lock(lock->session);
    zkr__lock_cancel_locked(lock); /* first, so that nothing more is granted */
    zkr__holds_free_unlocks(lock);
    zkr__session_unlock(lock->session);
    zkr__lock_free(lock);
}

enum zkr_error zkr_reentrant_mutex_acquire(zkr_reentrant_mutex *rm,
                                           int64_t timeout_ms)
{
    zkr_grant *unused;

    return zkr__lock_acquire(lock_of(rm), &zkr__mutex_recipe, timeout_ms,
                             &unused);
}

/* Finds the claim of the calling thread; on error it is NULL. */
static int find(zkr_reentrant_mutex *rm, struct zkr__claim **ret_claim)
{
    struct zkr__lock *lock = lock_of(rm);
    struct zkr__claim *c;
    bool held;
    int rc = zkr__lock_check(lock, noun);

    *ret_claim = NULL;
    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(lock->session);
    c = zkr__hold_find_locked(lock, &zkr__mutex_recipe, zkr__thread_number());
    held = !zkr__list_empty(&lock->holds);
    zkr__session_unlock(lock->session); /* only its own thread ends a hold */
    if (c == NULL)
        return zkr__fail(held ? ZKR_ENOTOWNER : ZKR_ENOTHELD, "%s '%s': %s",
                         noun, lock->path,
                         held ? "held by another thread" : "not held");
    *ret_claim = c;
    return ZKR_OK;
}

enum zkr_error zkr_reentrant_mutex_release(zkr_reentrant_mutex *rm)
{
    struct zkr__claim *c;
    int rc = find(rm, &c);

    if (rc != ZKR_OK)
        return rc;
    rc = zkr_grant_release(&c->grant);
    if (rc != ZKR_EDEADLK) /* in a callback: nothing has changed */
        zkr_grant_free(&c->grant);
    return rc;
}

zkr_grant *zkr_reentrant_mutex_grant(zkr_reentrant_mutex *rm)
{
    struct zkr__claim *c;

    return find(rm, &c) == ZKR_OK ? &c->grant : NULL;
}

uint32_t zkr_reentrant_mutex_depth(zkr_reentrant_mutex *rm)
{
    struct zkr__claim *c;

    return find(rm, &c) == ZKR_OK ? zkr_grant_depth(&c->grant) : 0;
}

enum zkr_error zkr_reentrant_mutex_cancel(zkr_reentrant_mutex *rm)
{
    return zkr__lock_cancel(lock_of(rm), noun);
}

enum zkr_error zkr_reentrant_mutex_yield(zkr_reentrant_mutex *rm)
{
    return zkr__lock_yield(lock_of(rm), noun);
}

enum zkr_error zkr_reentrant_mutex_stats(zkr_reentrant_mutex *rm,
                                         struct zkr_counters *ret_counters)
{
    return zkr__lock_stats(lock_of(rm), noun, ret_counters);
}

const char *zkr_reentrant_mutex_path(const zkr_reentrant_mutex *rm)
{
    return rm == NULL ? NULL : rm->lock.path;
}
