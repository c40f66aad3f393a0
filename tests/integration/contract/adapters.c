/* SPDX-License-Identifier: Apache-2.0 */
/* The recipes that the contract is for: one adapter each. */
#include "adapter.h"

#include <stdlib.h>

#include "leadership.h"

/* The calls of a recipe whose acquire gives a grant. `mode` is "" or the end of
 * the name of its acquire. */
#define CALLS_OF(noun, mode)                                                   \
    static int noun##mode##_acquire(void *lock, int64_t timeout_ms,            \
                                    zkr_grant **ret_grant)                     \
    {                                                                          \
        return zkr_##noun##_acquire##mode(lock, timeout_ms, ret_grant);        \
    }                                                                          \
    static int noun##mode##_acquire_async(void *lock, int64_t timeout_ms,      \
                                          zkr_acquire_fn fn, void *user,       \
                                          zkr_request **ret_request)           \
    {                                                                          \
        return zkr_##noun##_acquire##mode##_async(lock, timeout_ms, fn, user,  \
                                                  ret_request);                \
    }

/* The calls that each recipe has. */
#define HANDLE_OF(noun, opts_noun, OPTS_INIT)                                  \
    static int noun##_make_with(zkr_session *s, const char *path,              \
                                struct zkr_##opts_noun##_opts opts,            \
                                void **ret_lock)                               \
    {                                                                          \
        zkr_##noun *lock = NULL;                                               \
        int rc = zkr_##noun##_new(s, path, &opts, &lock);                      \
                                                                               \
        *ret_lock = lock;                                                      \
        return rc;                                                             \
    }                                                                          \
    static int noun##_make(zkr_session *s, const char *path, uint32_t flags,   \
                           void **ret_lock)                                    \
    {                                                                          \
        struct zkr_##opts_noun##_opts opts = OPTS_INIT;                        \
                                                                               \
        opts.flags = flags;                                                    \
        return noun##_make_with(s, path, opts, ret_lock);                      \
    }                                                                          \
    static void noun##_free(void *lock)                                        \
    {                                                                          \
        zkr_##noun##_free(lock);                                               \
    }                                                                          \
    static int noun##_cancel(void *lock)                                       \
    {                                                                          \
        return zkr_##noun##_cancel(lock);                                      \
    }

/* The same lock, which stays. */
#define RETAINED_OF(noun, opts_noun, OPTS_INIT)                                \
    static int noun##_make_retained(zkr_session *s, const char *path,          \
                                    uint32_t flags, void **ret_lock)           \
    {                                                                          \
        struct zkr_##opts_noun##_opts opts = OPTS_INIT;                        \
                                                                               \
        opts.flags = flags;                                                    \
        opts.retain_ms = 60000;                                                \
        opts.retain_max = 3;                                                   \
        return noun##_make_with(s, path, opts, ret_lock);                      \
    }

#define HANDLE(noun)                                                           \
    .make = noun##_make, .free = noun##_free, .cancel = noun##_cancel
#define RETAINED(noun)                                                         \
    .make = noun##_make_retained, .free = noun##_free, .cancel = noun##_cancel
#define GRANTS(noun)                                                           \
    .acquire = noun##_acquire, .acquire_async = noun##_acquire_async,          \
    .release = grant_release, .forget = grant_forget

#define YIELDS(noun, handle)                                                   \
    .acquire = noun##_acquire, .acquire_async = noun##_acquire_async,          \
    .release = handle##_yield_release, .forget = grant_forget

#define LEADERSHIP                                                             \
    .make = leadership_make, .free = leadership_free,                          \
    .acquire = leadership_acquire, .cancel = leadership_cancel,                \
    .release = leadership_release, .forget = leadership_forget

static int grant_release(void *lock, zkr_grant *grant)
{
    (void)lock;
    return zkr_grant_release(grant);
}

/* The lock goes back to the fleet with the release, as one that does not stay.
 */
static int mutex_yield_release(void *lock, zkr_grant *grant)
{
    (void)zkr_mutex_yield(lock);
    return zkr_grant_release(grant);
}

static int rwlock_yield_release(void *lock, zkr_grant *grant)
{
    (void)zkr_rwlock_yield(lock);
    return zkr_grant_release(grant);
}

static void grant_forget(void *lock, zkr_grant *grant)
{
    (void)lock;
    zkr_grant_free(grant);
}

HANDLE_OF(mutex, mutex, ZKR_MUTEX_OPTS_INIT)
RETAINED_OF(mutex, mutex, ZKR_MUTEX_OPTS_INIT)
CALLS_OF(mutex, )

HANDLE_OF(rwlock, rwlock, ZKR_RWLOCK_OPTS_INIT)
RETAINED_OF(rwlock, rwlock, ZKR_RWLOCK_OPTS_INIT)
CALLS_OF(rwlock, _write)

HANDLE_OF(unfair_mutex, mutex, ZKR_MUTEX_OPTS_INIT)
CALLS_OF(unfair_mutex, )

HANDLE_OF(reentrant_mutex, mutex, ZKR_MUTEX_OPTS_INIT)
RETAINED_OF(reentrant_mutex, mutex, ZKR_MUTEX_OPTS_INIT)

static int reentrant_mutex_acquire(void *lock, int64_t timeout_ms,
                                   zkr_grant **ret_grant)
{
    int rc = zkr_reentrant_mutex_acquire(lock, timeout_ms);

    if (rc == ZKR_OK)
        *ret_grant = zkr_reentrant_mutex_grant(lock);
    return rc;
}

static int reentrant_mutex_release(void *lock, zkr_grant *grant)
{
    (void)grant;
    return zkr_reentrant_mutex_release(lock);
}

static int reentrant_mutex_yield_release(void *lock, zkr_grant *grant)
{
    (void)zkr_reentrant_mutex_yield(lock);
    return reentrant_mutex_release(lock, grant);
}

static void reentrant_mutex_forget(void *lock, zkr_grant *grant)
{
    (void)lock;
    (void)grant;
}

static int semaphore_make(zkr_session *s, const char *path, uint32_t flags,
                          void **ret_lock)
{
    struct zkr_semaphore_opts opts = ZKR_SEMAPHORE_OPTS_INIT;
    zkr_semaphore *semaphore = NULL;
    int rc;

    opts.flags = flags;
    rc = zkr_semaphore_new(s, path, 1, &opts, &semaphore);
    *ret_lock = semaphore;
    return rc;
}

static void semaphore_free(void *lock)
{
    zkr_semaphore_free(lock);
}

static int semaphore_cancel(void *lock)
{
    return zkr_semaphore_cancel(lock);
}

CALLS_OF(semaphore, )

/* A multi-lock and its only lock. */
struct chained {
    zkr_multi_lock *all;
    zkr_mutex *mutex;
};

static void multi_lock_free(void *lock)
{
    struct chained *c = lock;

    if (c == NULL)
        return;
    zkr_multi_lock_free(c->all);
    zkr_mutex_free(c->mutex);
    free(c);
}

static int multi_lock_make(zkr_session *s, const char *path, uint32_t flags,
                           void **ret_lock)
{
    struct zkr_multi_lock_opts opts = ZKR_MULTI_LOCK_OPTS_INIT;
    struct chained *c = calloc(1, sizeof(*c));
    int rc;

    assert_non_null(c);
    opts.flags = flags;
    rc = zkr_multi_lock_new(s, &opts, &c->all);
    if (rc == ZKR_OK)
        rc = zkr_mutex_new(s, path, NULL, &c->mutex);
    if (rc == ZKR_OK)
        rc = zkr_multi_lock_add_mutex(c->all, c->mutex);
    *ret_lock = c;
    return rc;
}

static zkr_multi_lock *multi_lock_of(const struct chained *c)
{
    return c == NULL ? NULL : c->all;
}

static int multi_lock_cancel(void *lock)
{
    return zkr_multi_lock_cancel(multi_lock_of(lock));
}

static int multi_lock_acquire(void *lock, int64_t timeout_ms,
                              zkr_grant **ret_grant)
{
    return zkr_multi_lock_acquire(multi_lock_of(lock), timeout_ms, ret_grant);
}

struct one_of_all {
    zkr_acquire_fn fn;
    void *user;
};

static void tell_one(int error, zkr_grant *const *grants, size_t count,
                     void *user)
{
    struct one_of_all *one = user;

    one->fn(error, count == 1 ? grants[0] : NULL, one->user);
    free(one);
}

static int multi_lock_acquire_async(void *lock, int64_t timeout_ms,
                                    zkr_acquire_fn fn, void *user,
                                    zkr_request **ret_request)
{
    struct one_of_all *one = calloc(1, sizeof(*one));
    int rc;

    assert_non_null(one);
    *one = (struct one_of_all){ fn, user };
    rc = zkr_multi_lock_acquire_async(multi_lock_of(lock), timeout_ms, tell_one,
                                      one, ret_request);
    if (rc != ZKR_OK)
        free(one);
    return rc;
}

/* clang-format off */
const struct adapter adapters[] = {
    { .name = "mutex",
      .traits = FAIR | QUEUES,
      .fail_on_session_loss = ZKR_MUTEX_FAIL_ON_SESSION_LOSS,
      HANDLE(mutex), GRANTS(mutex) },
    { .name = "mutex in kazoo layout",
      .traits = FAIR | QUEUES,
      .flags = ZKR_MUTEX_KAZOO_LAYOUT,
      .fail_on_session_loss = ZKR_MUTEX_FAIL_ON_SESSION_LOSS,
      HANDLE(mutex), GRANTS(mutex) },
    { .name = "reentrant mutex",
      .traits = FAIR | QUEUES | REENTRANT | THREAD_OWNED | KEEPS_GRANTS,
      .fail_on_session_loss = ZKR_MUTEX_FAIL_ON_SESSION_LOSS,
      HANDLE(reentrant_mutex),
      .acquire = reentrant_mutex_acquire,
      .release = reentrant_mutex_release,
      .forget = reentrant_mutex_forget },
    { .name = "write lock",
      .traits = FAIR | QUEUES,
      .fail_on_session_loss = ZKR_RWLOCK_FAIL_ON_SESSION_LOSS,
      HANDLE(rwlock), GRANTS(rwlock_write) },
    { .name = "write lock in kazoo layout",
      .traits = FAIR | QUEUES,
      .flags = ZKR_RWLOCK_KAZOO_LAYOUT,
      .fail_on_session_loss = ZKR_RWLOCK_FAIL_ON_SESSION_LOSS,
      HANDLE(rwlock), GRANTS(rwlock_write) },
    { .name = "reentrant write lock",
      .traits = FAIR | QUEUES | REENTRANT | THREAD_OWNED,
      .flags = ZKR_RWLOCK_REENTRANT,
      .fail_on_session_loss = ZKR_RWLOCK_FAIL_ON_SESSION_LOSS,
      HANDLE(rwlock), GRANTS(rwlock_write) },
    { .name = "mutex that stays",
      .traits = FAIR | QUEUES | STAYS,
      .fail_on_session_loss = ZKR_MUTEX_FAIL_ON_SESSION_LOSS,
      RETAINED(mutex), GRANTS(mutex) },
    { .name = "mutex that yields",
      .traits = FAIR | QUEUES | SHARES,
      .fail_on_session_loss = ZKR_MUTEX_FAIL_ON_SESSION_LOSS,
      RETAINED(mutex), YIELDS(mutex, mutex) },
    { .name = "reentrant mutex that stays",
      .traits = FAIR | QUEUES | REENTRANT | THREAD_OWNED | KEEPS_GRANTS | STAYS,
      .fail_on_session_loss = ZKR_MUTEX_FAIL_ON_SESSION_LOSS,
      RETAINED(reentrant_mutex),
      .acquire = reentrant_mutex_acquire,
      .release = reentrant_mutex_release,
      .forget = reentrant_mutex_forget },
    { .name = "reentrant mutex that yields",
      .traits =
          FAIR | QUEUES | REENTRANT | THREAD_OWNED | KEEPS_GRANTS | SHARES,
      .fail_on_session_loss = ZKR_MUTEX_FAIL_ON_SESSION_LOSS,
      RETAINED(reentrant_mutex),
      .acquire = reentrant_mutex_acquire,
      .release = reentrant_mutex_yield_release,
      .forget = reentrant_mutex_forget },
    { .name = "write lock that stays",
      .traits = FAIR | QUEUES | STAYS,
      .fail_on_session_loss = ZKR_RWLOCK_FAIL_ON_SESSION_LOSS,
      RETAINED(rwlock), GRANTS(rwlock_write) },
    { .name = "write lock that yields",
      .traits = FAIR | QUEUES | SHARES,
      .fail_on_session_loss = ZKR_RWLOCK_FAIL_ON_SESSION_LOSS,
      RETAINED(rwlock), YIELDS(rwlock_write, rwlock) },
    { .name = "unfair mutex",
      .fail_on_session_loss = ZKR_MUTEX_FAIL_ON_SESSION_LOSS,
      HANDLE(unfair_mutex), GRANTS(unfair_mutex) },
    { .name = "semaphore of one",
      .traits = FAIR | QUEUES | TURNS | TRIES_WRITE,
      .below = "/leases",
      .fail_on_session_loss = ZKR_SEMAPHORE_FAIL_ON_SESSION_LOSS,
      HANDLE(semaphore), GRANTS(semaphore) },
    { .name = "multi-lock of a mutex",
      .traits = FAIR | QUEUES,
      .fail_on_session_loss = ZKR_MULTI_LOCK_FAIL_ON_SESSION_LOSS,
      HANDLE(multi_lock), GRANTS(multi_lock) },
    { .name = "leadership",
      .traits = FAIR | QUEUES | KEEPS_GRANTS | CAMPAIGNS | TRIES_WRITE,
      LEADERSHIP },
    { .name = "leadership in kazoo layout",
      .traits = FAIR | QUEUES | KEEPS_GRANTS | CAMPAIGNS | TRIES_WRITE,
      .flags = ZKR_LEADER_KAZOO_LAYOUT,
      LEADERSHIP },
    { .name = "leadership in selector layout",
      .traits = FAIR | QUEUES | KEEPS_GRANTS | CAMPAIGNS | TRIES_WRITE,
      .flags = ZKR_LEADER_SELECTOR_LAYOUT,
      LEADERSHIP },
};
/* clang-format on */

const size_t adapter_count = sizeof(adapters) / sizeof(adapters[0]);
