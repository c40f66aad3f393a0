/* SPDX-License-Identifier: Apache-2.0 */
/* What can be acquired: the functions that all recipes share. */
#include "lock/lockable.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "lock/chain.h"
#include "lock/cohort.h"
#include "lock/holds.h"

int zkr__lockable_check(const zkr_lockable *l,
                        const struct zkr__lockable_type *type)
{
    if (l == NULL)
        return zkr__fail(ZKR_EINVAL, "%s is NULL",
                         type == NULL ? "lockable" : type->noun);
    if (type != NULL && l->type != type)
        return zkr__fail(ZKR_EINVAL, "a %s is no %s", l->type->noun,
                         type->noun);
    return zkr__session_check(l->session, l->type->noun);
}

static const char *path_of(const zkr_lockable *l)
{
    return l->lock == NULL ? "" : l->lock->path;
}

/* -- making one ----------------------------------------------------------- */

void zkr__lockable_init(zkr_lockable *l, const struct zkr__lockable_type *type,
                        struct zkr_session *s, bool fail_on_session_loss)
{
    l->type = type;
    l->session = s;
    l->fail_on_session_loss = fail_on_session_loss;
    zkr__list_init(&l->chains);
}

int zkr__lockable_new(struct zkr_session *s, const char *path,
                      const struct zkr_lockable_opts *opts,
                      const struct zkr__lockable_type *type,
                      zkr_lockable **ret_lockable)
{
    const struct zkr__recipe *recipe = type->modes[ZKR_EXCLUSIVE];
    struct zkr__lock *lock = NULL;
    int rc = ZKR__OUTPUT(ret_lockable);

    if (rc == ZKR_OK) /* it checks what was given before it allocates */
        rc = zkr__lock_new(s, type->noun, path, NULL, opts, recipe, &lock);
    if (rc != ZKR_OK)
        return rc;
    zkr_lockable *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        zkr__lock_free(lock);
        return zkr__no_memory(type->noun, NULL);
    }
    zkr__lockable_init(l, type, s, lock->fail_on_session_loss);
    l->lock = lock;
    lock->reentrant = lock->reentrant || type->keeps_grants;
    *ret_lockable = l;
    return ZKR_OK;
}

static void free_one(zkr_lockable *l)
{
    zkr__session_lock(l->session);
    /* first, so that nothing more is granted */
    zkr__lock_cancel_locked(l->lock);
    if (l->type->keeps_grants)
        zkr__holds_free_unlocks(l->lock);
    zkr__session_unlock(l->session);
    zkr__lock_free(l->lock);
    free(l);
}

void zkr_lockable_free(zkr_lockable *l)
{
    if (l == NULL || zkr__lockable_check(l, NULL) != ZKR_OK)
        return;
    if (l->type->several == NULL) {
        free_one(l);
    } else {
        zkr__chains_cancel(l);
        l->type->several->free(l);
    }
}

const char *zkr_lockable_path(const zkr_lockable *l)
{
    return l == NULL || l->lock == NULL ? NULL : l->lock->path;
}

/* -- how to acquire it ---------------------------------------------------- */

int zkr__acquire_opts_load(const zkr_lockable *l,
                           const struct zkr_acquire_opts *opts,
                           struct zkr_acquire_opts *ret_how)
{
    int rc = zkr__opts_load(ret_how, sizeof(*ret_how), sizeof(*ret_how), opts,
                            l->type->noun);

    if (rc == ZKR_OK && (ret_how->mode > ZKR_SHARED || ret_how->mode < 0))
        rc = zkr__fail(ZKR_EINVAL, "%s '%.300s': unknown mode %d",
                       l->type->noun, path_of(l), (int)ret_how->mode);
    if (rc == ZKR_OK && ret_how->owner > ZKR_OWNER_MAX)
        rc =
            zkr__fail(ZKR_EINVAL, "%s '%.300s': the owner's number is too high",
                      l->type->noun, path_of(l));
    return rc;
}

int zkr__lockable_check_how(zkr_lockable *l, const struct zkr_acquire_opts *how)
{
    const struct zkr__several *several = l->type->several;

    if (how->mode != ZKR_EXCLUSIVE && l->type->modes[how->mode] == NULL)
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': it cannot be shared",
                         l->type->noun, path_of(l));
    if (several != NULL)
        return several->check(l, how);
    if (how->permits > 1)
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': it has no permits",
                         l->type->noun, path_of(l));
    return ZKR_OK;
}

size_t zkr__lockable_grants(const zkr_lockable *l,
                            const struct zkr_acquire_opts *how)
{
    return l->type->several == NULL ? 1 : l->type->several->grants(l, how);
}

size_t zkr__lockable_links(const zkr_lockable *l,
                           const struct zkr_acquire_opts *how,
                           struct zkr__link *links)
{
    if (l->type->several != NULL)
        return l->type->several->links(l, how, links);
    if (links != NULL)
        links[0] = (struct zkr__link){ l->lock, l->type->modes[how->mode], 0 };
    return 1;
}

static int load(const zkr_lockable *l, const struct zkr_acquire_opts *opts,
                struct zkr_acquire_opts *ret_how)
{
    int rc = zkr__lockable_check(l, NULL);

    return rc == ZKR_OK ? zkr__acquire_opts_load(l, opts, ret_how) : rc;
}

size_t zkr_lockable_count(const zkr_lockable *l,
                          const struct zkr_acquire_opts *opts)
{
    struct zkr_acquire_opts how;

    return load(l, opts, &how) == ZKR_OK ? zkr__lockable_grants(l, &how) : 0;
}

/* Loads the options of an acquire, and checks that it can be made; where there
 * is only `one` output, that it gives one grant. */
static int prepare(zkr_lockable *l, const struct zkr_acquire_opts *opts,
                   bool one, struct zkr_acquire_opts *ret_how)
{
    int rc = load(l, opts, ret_how);

    if (rc == ZKR_OK)
        rc = zkr__lockable_check_how(l, ret_how);
    if (rc == ZKR_OK && one && zkr__lockable_grants(l, ret_how) != 1)
        rc = zkr__fail(ZKR_EINVAL, "%s '%.300s': it gives %zu grants",
                       l->type->noun, path_of(l),
                       zkr__lockable_grants(l, ret_how));
    return rc;
}

/* -- an acquire ----------------------------------------------------------- */

static int acquire(zkr_lockable *l, const struct zkr_acquire_opts *how,
                   int64_t timeout_ms, zkr_grant **ret_grants)
{
    const struct zkr__time_limit until =
        zkr__time_limit(l->session, timeout_ms);

    return zkr__chain_acquire(l, how, NULL, &until, ret_grants);
}

int zkr_lockable_acquire(zkr_lockable *l, const struct zkr_acquire_opts *opts,
                         int64_t timeout_ms, zkr_grant **ret_grant)
{
    struct zkr_acquire_opts how;
    int rc = ZKR__OUTPUT(ret_grant);

    if (rc == ZKR_OK)
        rc = prepare(l, opts, true, &how);
    return rc == ZKR_OK ? acquire(l, &how, timeout_ms, ret_grant) : rc;
}

int zkr_lockable_acquire_all(zkr_lockable *l,
                             const struct zkr_acquire_opts *opts,
                             int64_t timeout_ms, zkr_grant **ret_grants)
{
    struct zkr_acquire_opts how;
    int rc = ZKR__OUTPUT(ret_grants);

    if (rc == ZKR_OK)
        rc = load(l, opts, &how);
    if (rc != ZKR_OK)
        return rc;
    memset(ret_grants, 0, zkr__lockable_grants(l, &how) * sizeof(*ret_grants));
    rc = zkr__lockable_check_how(l, &how);
    return rc == ZKR_OK ? acquire(l, &how, timeout_ms, ret_grants) : rc;
}

/* -- without a waiting thread --------------------------------------------- */

static int acquire_async(zkr_lockable *l, const struct zkr_acquire_opts *opts,
                         int64_t timeout_ms, const struct zkr__told *told,
                         bool one, zkr_request **ret_request)
{
    struct zkr_acquire_opts how;

    ZKR__OUTPUT_IF_ANY(ret_request);
    int rc = prepare(l, opts, one, &how);
    return rc == ZKR_OK ? zkr__chain_acquire_async(l, &how, timeout_ms, told,
                                                   ret_request)
                        : rc;
}

int zkr_lockable_acquire_async(zkr_lockable *l,
                               const struct zkr_acquire_opts *opts,
                               int64_t timeout_ms, zkr_acquire_fn fn,
                               void *user, zkr_request **ret_request)
{
    const struct zkr__told told = { .one = fn, .user = user };

    return acquire_async(l, opts, timeout_ms, &told, true, ret_request);
}

int zkr_lockable_acquire_all_async(zkr_lockable *l,
                                   const struct zkr_acquire_opts *opts,
                                   int64_t timeout_ms, zkr_acquire_all_fn fn,
                                   void *user, zkr_request **ret_request)
{
    const struct zkr__told told = { .all = fn, .user = user };

    return acquire_async(l, opts, timeout_ms, &told, false, ret_request);
}

int zkr_lockable_cancel(zkr_lockable *l)
{
    int rc = zkr__lockable_check(l, NULL);

    if (rc != ZKR_OK)
        return rc;
    if (l->type->several != NULL) {
        zkr__chains_cancel(l);
    } else {
        zkr__session_lock(l->session);
        zkr__lock_cancel_locked(l->lock);
        zkr__session_unlock(l->session);
    }
    return ZKR_OK;
}

/* -- while it is held ----------------------------------------------------- */

/* Tells whether anybody holds it in that mode. */
static bool is_held_locked(const struct zkr__lock *lock,
                           const struct zkr__recipe *recipe) ZKR__LOCKED
{
    const struct zkr__list *holds = &lock->holds;

    for (struct zkr__list *l = holds->next; l != holds; l = l->next) {
        if (ZKR__CONTAINER(l, struct zkr__claim, hold.link)->recipe == recipe)
            return true;
    }
    return false;
}

int zkr_lockable_grant(zkr_lockable *l, const struct zkr_acquire_opts *opts,
                       zkr_grant **ret_grant)
{
    struct zkr_acquire_opts how;
    int rc = ZKR__OUTPUT(ret_grant);

    if (rc == ZKR_OK)
        rc = prepare(l, opts, false, &how);
    if (rc == ZKR_OK && (l->type->several != NULL || !l->lock->reentrant))
        rc = zkr__fail(ZKR_EINVAL, "%s '%.300s': it is not reentrant",
                       l->type->noun, path_of(l));
    if (rc != ZKR_OK)
        return rc;
    const struct zkr__recipe *recipe = l->type->modes[how.mode];
    zkr__session_lock(l->session);
    struct zkr__claim *c =
        zkr__hold_find_locked(l->lock, recipe, zkr__hold_owner(how.owner));
    bool held = is_held_locked(l->lock, recipe);
    zkr__session_unlock(l->session); /* only its own owner ends a hold */
    if (c == NULL)
        return zkr__fail(held ? ZKR_ENOTOWNER : ZKR_ENOTHELD, "%s '%s': %s",
                         l->type->noun, l->lock->path,
                         held ? "held by another owner" : "not held");
    *ret_grant = &c->grant;
    return ZKR_OK;
}

int zkr_lockable_give_back(zkr_lockable *l)
{
    int rc = zkr__lockable_check(l, NULL);

    if (rc != ZKR_OK || l->type->several != NULL || l->lock->cohort == NULL)
        return rc;
    zkr__session_lock(l->session);
    zkr__cohort_yield_locked(l->lock->cohort);
    zkr__session_unlock(l->session);
    return ZKR_OK;
}

/* All members but the first are numbers to be added. */
static void add_locked(struct zkr_counters *sum,
                       const struct zkr__lock *lock) ZKR__LOCKED
{
    const size_t count =
        (sizeof(*sum) - offsetof(struct zkr_counters, acquires)) /
        sizeof(uint64_t);
    const uint64_t *from = &lock->counters.acquires;
    uint64_t *to = &sum->acquires;

    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

int zkr_lockable_stats(zkr_lockable *l, struct zkr_counters *ret_counters)
{
    const struct zkr_acquire_opts how = ZKR_ACQUIRE_OPTS_INIT;
    struct zkr_counters sum = ZKR_COUNTERS_INIT;
    int rc = zkr__answer_begin(ret_counters, sizeof(*ret_counters), "lockable");

    if (rc == ZKR_OK)
        rc = zkr__lockable_check(l, NULL);
    if (rc != ZKR_OK)
        return rc;
    size_t count = zkr__lockable_links(l, &how, NULL);
    struct zkr__link *links =
        calloc(count + 1, sizeof(*links)); /* there may be none */
    if (links == NULL)
        return zkr__no_memory(l->type->noun, path_of(l));
    (void)zkr__lockable_links(l, &how, links);
    zkr__session_lock(l->session);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || links[i].lock != links[i - 1].lock)
            add_locked(&sum, links[i].lock);
    }
    zkr__session_unlock(l->session);
    zkr__answer_fill(ret_counters, &sum, sizeof(sum));
    free(links);
    return ZKR_OK;
}
