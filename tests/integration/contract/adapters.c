/* SPDX-License-Identifier: Apache-2.0 */
/* The recipes that the contract is for: one adapter each. */
#include "adapter.h"

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
};
/* clang-format on */

const size_t adapter_count = sizeof(adapters) / sizeof(adapters[0]);
