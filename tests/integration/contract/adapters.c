/* SPDX-License-Identifier: Apache-2.0 */
/* The recipes that the contract is for: one adapter each. */
#include "adapter.h"

/* -- how each is made ----------------------------------------------------- */

static int semaphore_make(zkr_session *s, const char *path,
                          const struct zkr_lockable_opts *opts,
                          zkr_lockable **ret_lock)
{
    return zkr_semaphore_new(s, path, 1, opts, ret_lock);
}

/* A lock has one of these for the mutex of a multi-lock, which is freed after
 * it, or for a participant of an election. */
struct belonging {
    struct belonging *next;
    const void *owner;
    zkr_mutex *mutex;
    zkr_leader *leader;
    zkr_grant *grant; /* of the leader; NULL: it waits */
};

/* All of them; the thread that takes one out of the list frees it. */
static struct belonging *all;
static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;

static void enlist(struct belonging *b)
{
    (void)pthread_mutex_lock(&all_mutex);
    b->next = all;
    all = b;
    (void)pthread_mutex_unlock(&all_mutex);
}

static struct belonging *new_belonging(const void *owner)
{
    struct belonging *b = calloc(1, sizeof(*b));

    assert_non_null(b);
    b->owner = owner;
    return b;
}

/* Takes out that one, or the first of that owner, or the one with that grant;
 * NULL: there is none. */
static struct belonging *take(const void *what)
{
    struct belonging **at = &all;

    (void)pthread_mutex_lock(&all_mutex);
    while (*at != NULL && *at != what && (*at)->owner != what &&
           (*at)->grant != what)
        at = &(*at)->next;
    struct belonging *b = *at;
    if (b != NULL)
        *at = b->next;
    (void)pthread_mutex_unlock(&all_mutex);
    return b;
}

static void lockable_free(zkr_lockable *lock)
{
    struct belonging *b = lock == NULL ? NULL : take(lock);

    zkr_lockable_free(lock);
    if (b != NULL)
        zkr_mutex_free(b->mutex);
    free(b);
}

static int multi_lock_make(zkr_session *s, const char *path,
                           const struct zkr_lockable_opts *opts,
                           zkr_lockable **ret_lock)
{
    int rc = zkr_multi_lock_new(s, opts, ret_lock);

    if (rc != ZKR_OK)
        return rc;
    struct belonging *b = new_belonging(*ret_lock);
    rc = zkr_mutex_new(s, path, NULL, &b->mutex);
    if (rc == ZKR_OK)
        rc = zkr_multi_lock_add(*ret_lock, b->mutex, NULL);
    enlist(b);
    return rc;
}

/* -- the calls, which are the same for all -------------------------------- */

static int lockable_acquire(zkr_lockable *lock, int64_t timeout_ms,
                            zkr_grant **ret_grant)
{
    return zkr_lockable_acquire(lock, NULL, timeout_ms, ret_grant);
}

static int lockable_acquire_async(zkr_lockable *lock, int64_t timeout_ms,
                                  zkr_acquire_fn fn, void *user,
                                  zkr_request **ret_request)
{
    return zkr_lockable_acquire_async(lock, NULL, timeout_ms, fn, user,
                                      ret_request);
}

static int grant_release(zkr_lockable *lock, zkr_grant *grant)
{
    return zkr_grant_release(grant);
}

/* The lock goes back to the others with the release, as if it did not stay. */
static int shared_release(zkr_lockable *lock, zkr_grant *grant)
{
    (void)zkr_lockable_give_back(lock);
    return zkr_grant_release(grant);
}

static void grant_forget(zkr_lockable *lock, zkr_grant *grant)
{
    zkr_grant_free(grant);
}

static int own_release(zkr_lockable *lock, zkr_grant *grant)
{
    return zkr_reentrant_mutex_release(lock);
}

static int own_shared_release(zkr_lockable *lock, zkr_grant *grant)
{
    (void)zkr_lockable_give_back(lock);
    return own_release(lock, grant);
}

static void own_forget(zkr_lockable *lock, zkr_grant *grant)
{
}

/* -- an election as a lock ------------------------------------------------- */

/* To become the leader is to acquire it, to leave is to release it. Each
 * acquire is a participant of its own. */
struct election {
    zkr_session *session;
    uint32_t flags;
    char path[64];
};

static int leadership_make(zkr_session *s, const char *path,
                           const struct zkr_lockable_opts *opts,
                           zkr_lockable **ret_lock)
{
    struct election *e = calloc(1, sizeof(*e));

    assert_non_null(e);
    e->session = s;
    e->flags = opts->flags;
    (void)snprintf(e->path, sizeof(e->path), "%s", path);
    *ret_lock = (void *)e;
    return ZKR_OK;
}

/* A participant that waits belongs to the thread that waits for it. */
static void leadership_free(zkr_lockable *lock)
{
    struct belonging *p;

    while (lock != NULL && (p = take(lock)) != NULL) {
        bool waits = p->grant == NULL;

        zkr_leader_free(p->leader);
        if (waits)
            continue;
        zkr_grant_free(p->grant);
        free(p);
    }
    free(lock);
}

static int leadership_acquire(zkr_lockable *lock, int64_t timeout_ms,
                              zkr_grant **ret_grant)
{
    const struct election *e = (const void *)lock;
    zkr_grant *grant = NULL;

    if (e == NULL)
        return ZKR_EINVAL;
    struct belonging *p = new_belonging(e);
    int rc =
        zkr_leader_new(e->session, e->path, OPTS(leader, .flags = e->flags),
                       NULL, NULL, &p->leader);
    if (rc != ZKR_OK) {
        free(p);
        return rc;
    }
    enlist(p);
    rc = zkr_leader_campaign(p->leader);
    if (rc == ZKR_OK)
        rc = zkr_leader_wait(p->leader, timeout_ms);
    if (rc == ZKR_OK)
        rc = zkr_leader_grant(p->leader, &grant);
    (void)pthread_mutex_lock(&all_mutex);
    p->grant = grant; /* which others look for */
    (void)pthread_mutex_unlock(&all_mutex);
    if (rc == ZKR_OK) {
        *ret_grant = grant;
        return ZKR_OK;
    }
    if (take(p) != NULL)
        zkr_leader_free(p->leader);
    free(p);
    return rc;
}

static int leadership_cancel(zkr_lockable *lock)
{
    if (lock == NULL)
        return ZKR_EINVAL;
    (void)pthread_mutex_lock(&all_mutex);
    for (struct belonging *p = all; p != NULL; p = p->next) {
        if (p->owner == lock && p->grant == NULL)
            (void)zkr_leader_leave_async(p->leader);
    }
    (void)pthread_mutex_unlock(&all_mutex);
    return ZKR_OK;
}

/* After a loss a campaign is left, so the grant tells of the loss. */
static int leadership_release(zkr_lockable *lock, zkr_grant *grant)
{
    struct belonging *p = grant == NULL ? NULL : take(grant);

    if (p == NULL)
        return zkr_grant_release(grant);
    bool is_lost = zkr_grant_state(grant) == ZKR_GRANT_LOST;
    int rc = zkr_leader_leave(p->leader);
    zkr_leader_free(p->leader);
    free(p);
    return is_lost ? ZKR_ELOST : rc;
}

/* That of a participant is freed with it. */
static void leadership_forget(zkr_lockable *lock, zkr_grant *grant)
{
    struct belonging *p = grant == NULL ? NULL : take(grant);

    if (p == NULL)
        zkr_grant_free(grant);
    else
        enlist(p);
}

/* -- all of them ----------------------------------------------------------- */

#define CALLS(makes)                                                           \
    .make = makes, .free = lockable_free, .acquire = lockable_acquire,         \
    .cancel = zkr_lockable_cancel
#define GRANTS                                                                 \
    .acquire_async = lockable_acquire_async, .release = grant_release,         \
    .forget = grant_forget
#define SHARED_GRANTS                                                          \
    .acquire_async = lockable_acquire_async, .release = shared_release,        \
    .forget = grant_forget
#define OWN_GRANTS        .release = own_release, .forget = own_forget
#define OWN_SHARED_GRANTS .release = own_shared_release, .forget = own_forget
#define STAYING           .retain_ms = 60000, .retain_max = 3
#define OWNED             (REENTRANT | THREAD_OWNED)

#define LEADERSHIP                                                             \
    .traits = FAIR | QUEUES | KEEPS_GRANTS | CAMPAIGNS | TRIES_WRITE,          \
    .make = leadership_make, .free = leadership_free,                          \
    .acquire = leadership_acquire, .cancel = leadership_cancel,                \
    .release = leadership_release, .forget = leadership_forget

/* clang-format off */
const struct adapter adapters[] = {
    { .name = "mutex", .traits = FAIR | QUEUES, CALLS(zkr_mutex_new), GRANTS },
    { .name = "mutex in kazoo layout", .traits = FAIR | QUEUES,
      .flags = ZKR_KAZOO_LAYOUT, CALLS(zkr_mutex_new), GRANTS },
    { .name = "reentrant mutex", .traits = FAIR | QUEUES | OWNED | KEEPS_GRANTS,
      CALLS(zkr_reentrant_mutex_new), OWN_GRANTS },
    { .name = "write lock", .traits = FAIR | QUEUES, CALLS(zkr_rwlock_new), GRANTS },
    { .name = "write lock in kazoo layout", .traits = FAIR | QUEUES,
      .flags = ZKR_KAZOO_LAYOUT, CALLS(zkr_rwlock_new), GRANTS },
    { .name = "reentrant write lock", .traits = FAIR | QUEUES | OWNED,
      .flags = ZKR_REENTRANT, CALLS(zkr_rwlock_new), GRANTS },
    { .name = "mutex that stays", .traits = FAIR | QUEUES | STAYS,
      CALLS(zkr_mutex_new), STAYING, GRANTS },
    { .name = "mutex that yields", .traits = FAIR | QUEUES | SHARES,
      CALLS(zkr_mutex_new), STAYING, SHARED_GRANTS },
    { .name = "reentrant mutex that stays", .traits = FAIR | QUEUES | OWNED | KEEPS_GRANTS | STAYS,
      CALLS(zkr_reentrant_mutex_new), STAYING, OWN_GRANTS },
    { .name = "reentrant mutex that yields",
      .traits = FAIR | QUEUES | OWNED | KEEPS_GRANTS | SHARES,
      CALLS(zkr_reentrant_mutex_new), STAYING, OWN_SHARED_GRANTS },
    { .name = "write lock that stays", .traits = FAIR | QUEUES | STAYS,
      CALLS(zkr_rwlock_new), STAYING, GRANTS },
    { .name = "write lock that yields", .traits = FAIR | QUEUES | SHARES,
      CALLS(zkr_rwlock_new), STAYING, SHARED_GRANTS },
    { .name = "unfair mutex", CALLS(zkr_unfair_mutex_new), GRANTS },
    { .name = "semaphore of one", .traits = FAIR | QUEUES | TURNS | TRIES_WRITE,
      .below = "/leases", CALLS(semaphore_make), GRANTS },
    { .name = "multi-lock of a mutex", .traits = FAIR | QUEUES, CALLS(multi_lock_make), GRANTS },
    { .name = "leadership", LEADERSHIP },
    { .name = "leadership in kazoo layout", .flags = ZKR_KAZOO_LAYOUT, LEADERSHIP },
    { .name = "leadership in selector layout", .flags = ZKR_SELECTOR_LAYOUT, LEADERSHIP },
};
/* clang-format on */

const size_t adapter_count = COUNT(adapters);

int adapter_make(const struct adapter *recipe, zkr_session *s, const char *path,
                 uint32_t flags, void **ret_lock)
{
    return recipe->make(s, path,
                        OPTS(lockable, .flags = recipe->flags | flags,
                             .retain_ms = recipe->retain_ms,
                             .retain_max = recipe->retain_max),
                        (zkr_lockable **)ret_lock);
}
