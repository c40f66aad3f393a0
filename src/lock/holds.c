/* SPDX-License-Identifier: Apache-2.0 */
/* Holds: who in this process holds a lock, and how often. */
#include "lock/holds.h"

#include "base/error.h"
#include "base/thread.h"
#include "lock/claim.h"

uint64_t zkr__hold_owner(uint64_t named)
{
    return named == 0 ? zkr__thread_number() : named | ZKR__OWNER_NAMED;
}

uint64_t zkr__hold_heir(const struct zkr__claim *c)
{
    return (c->owner & ZKR__OWNER_NAMED) != 0 ? c->owner : zkr__thread_number();
}

struct zkr__claim *zkr__hold_find_locked(const struct zkr__lock *lock,
                                         const struct zkr__recipe *recipe,
                                         uint64_t owner)
{
    struct zkr__claim *lost = NULL;

    for (struct zkr__list *l = lock->holds.next; l != &lock->holds;
         l = l->next) {
        struct zkr__claim *c = ZKR__CONTAINER(l, struct zkr__claim, hold.link);

        if (c->owner != owner || c->recipe != recipe)
            continue;
        if (zkr__grant_is_ours(&c->grant))
            return c;
        lost = c;
    }
    return lost;
}

static int count_up_locked(struct zkr__claim *c,
                           zkr_grant **ret_grant) ZKR__LOCKED
{
    if (c->grant.sm.state == ZKR_GRANT_LOST)
        return zkr__fail(ZKR_ELOST, "%s '%s': lost; release it %u times first",
                         c->recipe->noun, c->lock->path, c->hold.depth);
    if (c->hold.depth == ZKR__DEPTH_MAX)
        return zkr__fail(ZKR_EOVERFLOW, "%s '%s': acquired %u times",
                         c->recipe->noun, c->lock->path, c->hold.depth);
    c->hold.depth++;
    c->hold.handles++;
    *ret_grant = &c->grant;
    return ZKR_OK;
}

int zkr__hold_again_locked(const struct zkr__lock *lock,
                           const struct zkr__recipe *recipe, uint64_t owner,
                           zkr_grant **ret_grant)
{
    struct zkr__claim *c;

    if (lock->reentrant) {
        c = zkr__hold_find_locked(lock, recipe, owner);
        if (c != NULL)
            return count_up_locked(c, ret_grant);
    }
    if (recipe->deadlocks_with == NULL)
        return ZKR_ENOTHELD;
    c = zkr__hold_find_locked(lock, recipe->deadlocks_with, owner);
    if (c == NULL || !zkr__grant_is_ours(&c->grant))
        return ZKR_ENOTHELD;
    if ((owner & ZKR__OWNER_NAMED) != 0)
        return zkr__fail(ZKR_EDEADLK, "%s '%s': owner %llu has the %s",
                         recipe->noun, lock->path,
                         (unsigned long long)(owner & ~ZKR__OWNER_NAMED),
                         c->recipe->noun);
    return zkr__fail(ZKR_EDEADLK, "%s '%s': this thread has the %s",
                     recipe->noun, lock->path, c->recipe->noun);
}

void zkr__hold_begin_locked(struct zkr__claim *c)
{
    c->hold.depth = 1;
    c->hold.handles = 1;
    c->hold.returning = 1;
    zkr__list_append(&c->lock->holds, &c->hold.link);
}

/* The acquires fail, instead of giving out a grant that has been freed. What
 * its owner has been told of before, goes with it. */
static void take_away_locked(struct zkr__claim *c) ZKR__LOCKED
{
    c->grant.fn = NULL;
    c->hold.handles = c->hold.returning;
    c->hold.depth = 1;
    (void)zkr__hold_drop_locked(c);
    c->outcome.rc = ZKR_ECANCELED;
    zkr__claim_explain(c, c->outcome.rc, "freed when granted");
    if (zkr__grant_is_ours(&c->grant))
        zkr__claim_release_locked(c);
}

void zkr__holds_free_unlocks(struct zkr__lock *lock)
{
    while (!zkr__list_empty(&lock->holds)) {
        struct zkr__claim *c =
            ZKR__CONTAINER(lock->holds.next, struct zkr__claim, hold.link);

        if (c->hold.returning > 0) {
            take_away_locked(c);
            continue;
        }
        c->hold.handles = 1;
        /* without the lock, because it waits for the listener of the grant */
        zkr__session_unlock(lock->session);
        zkr_grant_free(&c->grant);
        zkr__session_lock(lock->session);
    }
}
