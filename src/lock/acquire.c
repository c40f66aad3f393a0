/* SPDX-License-Identifier: Apache-2.0 */
/* The ways into a lock: an acquire that waits, and one with a callback. The one
 * at the place of another grant is in downgrade.c. */
#include "base/error.h"
#include "base/path.h"
#include "base/thread.h"
#include "lock/claim.h"
#include "lock/downgrade.h"
#include "lock/holds.h"
#include "lock/lock.h"
#include "request/condition.h"

int zkr__lock_refuse_locked(const struct zkr__claim *c)
{
    const struct zkr__lock *lock = c->lock;
    struct zkr_session *s = lock->session;

    if (s->over != 0)
        return zkr__fail(s->over, "%s '%s': the session is %s", lock->noun,
                         lock->path, zkr__sm_name(&s->sm));
    if (c->beside != NULL && !zkr__grant_is_ours(&c->beside->grant))
        return zkr__fail(ZKR_ELOST, "%s '%s': '%s' has gone", lock->noun,
                         lock->path, zkr__path_name(c->beside->node->path));
    if (c->intent != ZKR__WAIT && !zkr__session_connected(s))
        return zkr__fail(ZKR_ZCONNECTIONLOSS,
                         "%s '%s': a try needs a connection; the session is %s",
                         lock->noun, lock->path, zkr__sm_name(&s->sm));
    return ZKR_OK;
}

static int acquire_unlocks(struct zkr__claim *c) ZKR__UNLOCKS
{
    struct zkr_session *s = c->session;
    int rc = zkr__lock_refuse_locked(c);

    if (rc == ZKR_OK && zkr__dispatch_inside_locked(s))
        rc = zkr__fail(ZKR_EDEADLK, "%s '%s': a callback cannot wait",
                       c->lock->noun, c->lock->path);
    if (rc != ZKR_OK)
        return rc;
    zkr__claim_start_locked(c);
    while (!c->outcome.decided &&
           zkr__cond_wait(&c->changed, &s->lock, c->deadline))
        ;
    if (!c->outcome.decided)
        zkr__claim_time_out_locked(c);
    c->returning = false;
    if (c->outcome.rc != ZKR_OK)
        zkr__outcome_tell(c->outcome.rc, c->outcome.detail);
    return c->outcome.rc;
}

int zkr__lock_acquire_new(struct zkr__lock *lock,
                          const struct zkr__recipe *recipe, uint64_t owner,
                          struct zkr__claim *beside,
                          const struct zkr__time_limit *until,
                          zkr_grant **ret_grant)
{
    int64_t timeout_ms = until->for_servers_only ? 0 : -1;
    struct zkr__claim *c;
    int rc =
        zkr__claim_new(lock, recipe, beside, zkr__thread_me(), timeout_ms, &c);

    if (rc != ZKR_OK)
        return rc;
    c->owner = owner;
    if (until->deadline < c->deadline)
        c->deadline = until->deadline;
    zkr__session_lock(lock->session);
    rc = acquire_unlocks(c);
    zkr__session_unlock(lock->session);
    if (rc == ZKR_OK)
        *ret_grant = &c->grant;
    else
        zkr__claim_unref(c);
    return rc;
}

int zkr__lock_acquire(struct zkr__lock *lock, const struct zkr__recipe *recipe,
                      uint64_t owner, const struct zkr__time_limit *until,
                      zkr_grant **ret_grant)
{
    struct zkr__claim *beside = NULL;
    int rc;

    owner = zkr__hold_owner(owner);
    zkr__session_lock(lock->session);
    rc = zkr__hold_again_locked(lock, recipe, owner, ret_grant);
    if (rc == ZKR_ENOTHELD)
        beside = zkr__downgrade_find_locked(lock, recipe, owner);
    zkr__session_unlock(lock->session);
    if (rc == ZKR_ENOTHELD)
        rc = zkr__lock_acquire_new(lock, recipe, owner, beside, until,
                                   ret_grant);
    if (beside != NULL)
        zkr__claim_unref(beside);
    return rc;
}

int zkr__lock_acquire_async(struct zkr__lock *lock,
                            const struct zkr__recipe *recipe,
                            int64_t timeout_ms, zkr_acquire_fn fn, void *user,
                            zkr_request **ret_request)
{
    struct zkr__claim *c;
    int rc = zkr__claim_new(lock, recipe, NULL, NULL, timeout_ms, &c);

    if (rc != ZKR_OK)
        return rc;
    c->outcome.fn = fn;
    c->outcome.user = user;
    zkr__session_lock(lock->session);
    rc = zkr__lock_refuse_locked(c);
    if (rc == ZKR_OK) {
        if (ret_request != NULL) {
            zkr__claim_ref(c);
            *ret_request = &c->request;
        }
        zkr__claim_start_locked(c);
    }
    zkr__session_unlock(lock->session);
    zkr__claim_unref(c);
    return rc;
}
