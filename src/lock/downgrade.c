/* SPDX-License-Identifier: Apache-2.0 */
/* A claim at the place of a grant that its owner has: the downgrade, and the
 * read lock of a thread that has the write lock. */
#include "lock/downgrade.h"

#include "base/error.h"
#include "base/path.h"
#include "lock/chain.h"
#include "lock/claim.h"
#include "lock/holds.h"

struct zkr__claim *zkr__downgrade_find_locked(const struct zkr__lock *lock,
                                              const struct zkr__recipe *recipe,
                                              uint64_t owner)
{
    struct zkr__claim *c = NULL;

    if (recipe->granted_beside != NULL)
        c = zkr__hold_find_locked(lock, recipe->granted_beside, owner);
    return c != NULL && zkr__grant_is_ours(&c->grant) ? c : NULL;
}

static int check_beside_locked(const struct zkr__lock *lock,
                               const struct zkr__recipe *recipe,
                               struct zkr_grant *g) ZKR__LOCKED
{
    if (g == NULL)
        return zkr__fail(ZKR_EINVAL, "%s '%s': grant is NULL", recipe->noun,
                         lock->path);
    struct zkr__claim *c = zkr__grant_claim(g);
    if (c->lock != lock || c->recipe != recipe->granted_beside)
        return zkr__fail(ZKR_EINVAL, "%s '%s': not a grant of the %s of it",
                         recipe->noun, lock->path,
                         recipe->granted_beside->noun);
    if (zkr__dispatch_inside_locked(lock->session))
        return zkr__fail(ZKR_EDEADLK, "%s '%s': a callback cannot wait",
                         recipe->noun, lock->path);
    if (!zkr__hold_is_mine_locked(c))
        return zkr__grant_explain(g, ZKR_ENOTOWNER);
    if (!zkr__grant_is_ours(g))
        return zkr__grant_explain(
            g, g->sm.state == ZKR_GRANT_LOST ? ZKR_ELOST : ZKR_ENOTHELD);
    return ZKR_OK;
}

int zkr__lockable_acquire_beside(zkr_lockable *l, enum zkr_mode mode,
                                 zkr_grant *beside, zkr_grant **ret_grant)
{
    const struct zkr__time_limit until = zkr__time_limit(l->session, 0);
    struct zkr_acquire_opts how = ZKR_ACQUIRE_OPTS_INIT;

    how.mode = mode;
    zkr__session_lock(l->session);
    int rc = check_beside_locked(l->lock, l->type->modes[mode], beside);
    zkr__session_unlock(l->session);
    return rc == ZKR_OK ? zkr__chain_acquire(l, &how, zkr__grant_claim(beside),
                                             &until, ret_grant)
                        : rc;
}

size_t zkr__downgrade_leave_out(const struct zkr__claim *c,
                                struct zkr__queue *queue, bool out)
{
    size_t i =
        c->beside == NULL
            ? ZKR__NOBODY
            : zkr__queue_find(queue, zkr__path_name(c->beside->node->path));

    if (i != ZKR__NOBODY)
        queue->all[i].left_out = out || !zkr__claim_beside(c)->place.counts;
    return i;
}

void zkr__downgrade_fail_locked(struct zkr__claim *c)
{
    zkr__claim_lost_locked(c->beside, ZKR_LOSS_DELETED);
    zkr__claim_give_up_locked(c, ZKR_ELOST, "'%s' has gone",
                              zkr__path_name(c->beside->node->path));
}
