/* A lock path as its claims share it, and the ways to claim it. */
#include "lock.h"

#include <stdlib.h>
#include <string.h>

#include "claim.h"
#include "error.h"
#include "path.h"

static int check_config(const struct zkr_session *s,
                        const struct zkr__lock_config *config)
{
    const char *noun = config->noun;
    const char *fault;

    if (config->path == NULL)
        return zkr__fail(ZKR_EINVAL, "%s: path is NULL", noun);
    fault = zkr__path_fault(config->path);
    if (fault == NULL && strcmp(config->path, "/") == 0)
        fault = "is the root, not a lock";
    if (fault != NULL)
        return zkr__fail(ZKR_EPATH, "%s '%.300s': the path %s", noun,
                         config->path, fault);
    if (strlen(s->hosts.chroot) + strlen(config->path) > ZKR_PATH_MAX)
        return zkr__fail(ZKR_ETOOLONG,
                         "%s '%.100s...': the path is longer than %d bytes",
                         noun, config->path, ZKR_PATH_MAX);
    if (config->label == NULL)
        return ZKR_OK;
    if (strlen(config->label) > ZKR_LABEL_MAX)
        return zkr__fail(ZKR_ETOOLONG,
                         "%s '%.300s': the label is longer than %d bytes", noun,
                         config->path, ZKR_LABEL_MAX);
    fault = zkr__text_fault(config->label);
    if (fault != NULL)
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': the label %s", noun,
                         config->path, fault);
    return ZKR_OK;
}

int zkr__lock_new(struct zkr_session *s, const struct zkr__lock_config *config,
                  struct zkr__lock **ret_lock)
{
    struct zkr__lock *lock;
    int rc = check_config(s, config);

    if (rc != ZKR_OK)
        return rc;
    lock = calloc(1, sizeof(*lock));
    if (lock == NULL)
        return zkr__fail(ZKR_ENOMEM, "%s: out of memory", config->noun);
    atomic_init(&lock->refs, 1);
    zkr__session_ref(s);
    lock->session = s;
    lock->noun = config->noun;
    lock->layout = config->layout;
    lock->parents =
        config->persistent_parents ? ZKR__ZK_PERSISTENT : ZKR__ZK_CONTAINER;
    lock->fail_on_session_loss = config->fail_on_session_loss;
    lock->path = strdup(config->path);
    lock->dir = zkr__path_join(s->hosts.chroot, config->path + 1);
    lock->label = config->label == NULL ? NULL : strdup(config->label);
    if (lock->path == NULL || lock->dir == NULL ||
        (config->label != NULL && lock->label == NULL)) {
        zkr__lock_unref(lock);
        return zkr__fail(ZKR_ENOMEM, "%s: out of memory", config->noun);
    }
    *ret_lock = lock;
    return ZKR_OK;
}

void zkr__lock_ref(struct zkr__lock *lock)
{
    (void)atomic_fetch_add(&lock->refs, 1);
}

void zkr__lock_unref(struct zkr__lock *lock)
{
    if (atomic_fetch_sub(&lock->refs, 1) != 1)
        return;
    zkr__session_unref(lock->session);
    free(lock->path);
    free(lock->dir);
    free(lock->label);
    free(lock);
}

static void cancel_locked(struct zkr__lock *lock)
{
    struct zkr__list *claims = &lock->session->claims;
    struct zkr__list *next;

    for (struct zkr__list *l = claims->next; l != claims; l = next) {
        struct zkr__claim *c = ZKR__CONTAINER(l, struct zkr__claim, link);

        next = l->next;
        if (c->lock == lock)
            zkr__claim_give_up_locked(c, ZKR_ECANCELED, "cancelled");
    }
}

int zkr__lock_cancel(struct zkr__lock *lock)
{
    int rc = zkr__session_check(lock->session, lock->noun);

    if (rc != ZKR_OK)
        return rc;
    zkr__mtx_lock(&lock->session->lock);
    cancel_locked(lock);
    zkr__mtx_unlock(&lock->session->lock);
    return ZKR_OK;
}

void zkr__lock_free(struct zkr__lock *lock)
{
    if (zkr__lock_cancel(lock) == ZKR_OK)
        zkr__lock_unref(lock);
}

/* Errors that are certain before anything has been sent. */
static int refuse_locked(const struct zkr__lock *lock,
                         const struct zkr__claim *c)
{
    struct zkr_session *s = lock->session;

    if (s->over != 0)
        return zkr__fail(s->over, "%s '%s': the session is %s", lock->noun,
                         lock->path, zkr__sm_name(&s->sm));
    if (c->is_try && !zkr__session_connected(s))
        return zkr__fail(ZKR__ZCONNECTIONLOSS,
                         "%s '%s': a try needs a connection; the session is %s",
                         lock->noun, lock->path, zkr__sm_name(&s->sm));
    return ZKR_OK;
}

static int acquire_unlocks(struct zkr__claim *c)
{
    struct zkr_session *s = c->session;
    int rc = refuse_locked(c->lock, c);

    if (rc == ZKR_OK && zkr__dispatch_inside_locked(s))
        rc = zkr__fail(ZKR_EDEADLK, "%s '%s': a callback cannot wait",
                       c->lock->noun, c->lock->path);
    if (rc != ZKR_OK)
        return rc;
    zkr__claim_start_locked(c);
    while (!c->decided && zkr__cond_wait(&c->changed, &s->lock, c->deadline))
        ;
    if (!c->decided)
        zkr__claim_time_out_locked(c);
    if (c->outcome != ZKR_OK)
        zkr__error_set_detail(c->detail);
    return c->outcome;
}

int zkr__lock_acquire(struct zkr__lock *lock, const struct zkr__recipe *recipe,
                      int64_t timeout_ms, zkr_grant **ret_grant)
{
    struct zkr__claim *c;
    int rc = zkr__session_check(lock->session, lock->noun);

    if (rc != ZKR_OK)
        return rc;
    if (ret_grant == NULL)
        return zkr__fail(ZKR_EINVAL, "%s '%s': ret_grant is NULL", lock->noun,
                         lock->path);
    rc = zkr__claim_new(lock, recipe, timeout_ms, &c);
    if (rc != ZKR_OK)
        return rc;
    zkr__mtx_lock(&lock->session->lock);
    rc = acquire_unlocks(c);
    zkr__mtx_unlock(&lock->session->lock);
    if (rc == ZKR_OK)
        *ret_grant = &c->grant;
    else
        zkr__claim_unref(c);
    return rc;
}

int zkr__lock_acquire_async(struct zkr__lock *lock,
                            const struct zkr__recipe *recipe,
                            int64_t timeout_ms, zkr_acquire_fn fn, void *user,
                            zkr_request **ret_request)
{
    struct zkr__claim *c;
    int rc = zkr__session_check(lock->session, lock->noun);

    if (rc != ZKR_OK)
        return rc;
    if (fn == NULL)
        return zkr__fail(ZKR_EINVAL, "%s '%s': the callback is NULL",
                         lock->noun, lock->path);
    rc = zkr__claim_new(lock, recipe, timeout_ms, &c);
    if (rc != ZKR_OK)
        return rc;
    c->fn = fn;
    c->user = user;
    zkr__mtx_lock(&lock->session->lock);
    rc = refuse_locked(lock, c);
    if (rc == ZKR_OK) {
        if (ret_request != NULL) {
            zkr__claim_ref(c);
            *ret_request = &c->request;
        }
        zkr__claim_start_locked(c);
    }
    zkr__mtx_unlock(&lock->session->lock);
    zkr__claim_unref(c);
    return rc;
}

int zkr_request_cancel(zkr_request *request)
{
    struct zkr_session *s;
    int rc;

    if (request == NULL)
        return zkr__fail(ZKR_EINVAL, "request is NULL");
    s = request->claim->session;
    rc = zkr__session_check(s, "request");
    if (rc != ZKR_OK)
        return rc;
    zkr__mtx_lock(&s->lock);
    zkr__claim_give_up_locked(request->claim, ZKR_ECANCELED, "cancelled");
    zkr__mtx_unlock(&s->lock);
    return ZKR_OK;
}

void zkr_request_free(zkr_request *request)
{
    if (request != NULL &&
        zkr__session_check(request->claim->session, "request") == ZKR_OK)
        zkr__claim_unref(request->claim);
}
