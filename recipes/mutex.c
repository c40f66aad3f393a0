/* The fair mutex: each contender waits for the one right before it. */
#include "mutex_recipe.h"

#include <stdlib.h>

#include "error.h"
#include "opts.h"

struct zkr_mutex {
    struct zkr__lock *lock;
};

static size_t wait_for_the_one_before(const struct zkr__queue *queue)
{
    return queue->count == 0 ? ZKR__NOBODY : queue->count - 1;
}

static const char *const exclusive[] = { "lock-", "__lock__", NULL };
static const char *const shared[] = { NULL };

const struct zkr__recipe zkr__mutex_recipe = {
    .noun = "mutex",
    .marker = { [ZKR__LAYOUT_CURATOR] = "lock-",
                [ZKR__LAYOUT_KAZOO] = "__lock__" },
    .markers = { exclusive, shared },
    .waits_for = wait_for_the_one_before,
};

int zkr__mutex_lock_new(zkr_session *session, const char *noun,
                        const char *path, const struct zkr_mutex_opts *opts,
                        struct zkr__lock **ret_lock)
{
    const uint32_t known =
        ZKR_MUTEX_FAIL_ON_SESSION_LOSS | ZKR_MUTEX_PERSISTENT_PARENTS;
    struct zkr__lock_config config = { .noun = noun, .path = path };
    struct zkr_mutex_opts o;
    int rc = zkr__session_check(session, "session");

    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, "mutex options");
    if (rc != ZKR_OK)
        return rc;
    if ((o.flags & ~known) != 0 || o.reserved != 0)
        return zkr__fail(ZKR_EINVAL, "mutex options: unknown flags %#x",
                         o.flags);
    config.label = o.label;
    config.fail_on_session_loss =
        (o.flags & ZKR_MUTEX_FAIL_ON_SESSION_LOSS) != 0;
    config.persistent_parents = (o.flags & ZKR_MUTEX_PERSISTENT_PARENTS) != 0;
    return zkr__lock_new(session, &config, ret_lock);
}

int zkr_mutex_new(zkr_session *session, const char *path,
                  const struct zkr_mutex_opts *opts, zkr_mutex **ret_mutex)
{
    zkr_mutex *mutex;
    int rc;

    if (ret_mutex == NULL)
        return zkr__fail(ZKR_EINVAL, "ret_mutex is NULL");
    mutex = malloc(sizeof(*mutex));
    if (mutex == NULL)
        return zkr__fail(ZKR_ENOMEM, "mutex: out of memory");
    rc = zkr__mutex_lock_new(session, zkr__mutex_recipe.noun, path, opts,
                             &mutex->lock);
    if (rc != ZKR_OK) {
        free(mutex);
        return rc;
    }
    *ret_mutex = mutex;
    return ZKR_OK;
}

void zkr_mutex_free(zkr_mutex *mutex)
{
    if (mutex == NULL)
        return;
    zkr__lock_free(mutex->lock);
    free(mutex);
}

static int check(const zkr_mutex *mutex)
{
    return mutex != NULL ? ZKR_OK : zkr__fail(ZKR_EINVAL, "mutex is NULL");
}

int zkr_mutex_acquire(zkr_mutex *mutex, int64_t timeout_ms,
                      zkr_grant **ret_grant)
{
    int rc = check(mutex);

    return rc != ZKR_OK ? rc
                        : zkr__lock_acquire(mutex->lock, &zkr__mutex_recipe,
                                            timeout_ms, ret_grant);
}

int zkr_mutex_acquire_async(zkr_mutex *mutex, int64_t timeout_ms,
                            zkr_acquire_fn fn, void *user,
                            zkr_request **ret_request)
{
    int rc = check(mutex);

    return rc != ZKR_OK
               ? rc
               : zkr__lock_acquire_async(mutex->lock, &zkr__mutex_recipe,
                                         timeout_ms, fn, user, ret_request);
}

int zkr_mutex_cancel(zkr_mutex *mutex)
{
    int rc = check(mutex);

    return rc != ZKR_OK ? rc : zkr__lock_cancel(mutex->lock);
}

const char *zkr_mutex_path(const zkr_mutex *mutex)
{
    return mutex == NULL ? NULL : mutex->lock->path;
}
