/* The reentrant mutex: the grant of a mutex, counted for the thread that has
 * it. */
#include <zkrecipes/reentrant_mutex.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "error.h"
#include "list.h"
#include "mutex_recipe.h"

static const char noun[] = "reentrant mutex";

/* One thread's. There are several when some have lost the lock and not released
 * it yet. */
struct hold {
    struct zkr__list link;
    uint64_t thread;
    zkr_grant *grant;
    uint32_t depth;
};

struct zkr_reentrant_mutex {
    struct zkr__lock *lock;
    pthread_mutex_t mutex; /* guards holds */
    struct zkr__list holds;
};

/* Threads by a number of their own: a pthread_t is used again when its thread
 * has ended, and a new thread must not inherit a lock. */
static uint64_t this_thread(void)
{
    static atomic_uint_fast64_t last;
    static _Thread_local uint64_t number;

    if (number == 0)
        number = atomic_fetch_add(&last, 1) + 1;
    return number;
}

static struct hold *find_held(zkr_reentrant_mutex *rm)
{
    uint64_t thread = this_thread();

    for (struct zkr__list *l = rm->holds.next; l != &rm->holds; l = l->next) {
        struct hold *h = ZKR__CONTAINER(l, struct hold, link);

        if (h->thread == thread)
            return h;
    }
    return NULL;
}

/* Takes the mutex of `rm`, unless it fails. */
static int enter(zkr_reentrant_mutex *rm)
{
    int rc;

    if (rm == NULL)
        return zkr__fail(ZKR_EINVAL, "%s is NULL", noun);
    rc = zkr__session_check(rm->lock->session, noun);
    if (rc == ZKR_OK)
        (void)pthread_mutex_lock(&rm->mutex);
    return rc;
}

static void leave(zkr_reentrant_mutex *rm)
{
    (void)pthread_mutex_unlock(&rm->mutex);
}

int zkr_reentrant_mutex_new(zkr_session *session, const char *path,
                            const struct zkr_mutex_opts *opts,
                            zkr_reentrant_mutex **ret_mutex)
{
    zkr_reentrant_mutex *rm;
    int rc;

    if (ret_mutex == NULL)
        return zkr__fail(ZKR_EINVAL, "ret_mutex is NULL");
    rm = malloc(sizeof(*rm));
    if (rm == NULL)
        return zkr__fail(ZKR_ENOMEM, "%s: out of memory", noun);
    rc = zkr__mutex_lock_new(session, noun, path, opts, &rm->lock);
    if (rc != ZKR_OK) {
        free(rm);
        return rc;
    }
    zkr__list_init(&rm->holds);
    (void)pthread_mutex_init(&rm->mutex, NULL);
    *ret_mutex = rm;
    return ZKR_OK;
}

void zkr_reentrant_mutex_free(zkr_reentrant_mutex *rm)
{
    struct zkr__list holds;
    struct zkr__list *link;

    if (rm == NULL || enter(rm) != ZKR_OK)
        return;
    zkr__list_init(&holds);
    zkr__list_splice(&holds, &rm->holds);
    leave(rm); /* freeing a grant waits for its listener */
    while ((link = zkr__list_pop(&holds)) != NULL) {
        struct hold *h = ZKR__CONTAINER(link, struct hold, link);

        zkr_grant_free(h->grant);
        free(h);
    }
    zkr__lock_free(rm->lock);
    (void)pthread_mutex_destroy(&rm->mutex);
    free(rm);
}

/* Another acquire by the owner. ZKR_ENOTHELD when it is the first. */
static int acquire_again(zkr_reentrant_mutex *rm)
{
    struct hold *h = find_held(rm);

    if (h == NULL)
        return ZKR_ENOTHELD;
    if (zkr_grant_state(h->grant) == ZKR_GRANT_LOST)
        return zkr__fail(ZKR_ELOST, "%s '%s': lost; release it %u times first",
                         noun, rm->lock->path, h->depth);
    if (h->depth == ZKR_REENTRANT_DEPTH_MAX)
        return zkr__fail(ZKR_EOVERFLOW, "%s '%s': acquired %u times", noun,
                         rm->lock->path, h->depth);
    h->depth++;
    return ZKR_OK;
}

static int acquire_first(zkr_reentrant_mutex *rm, int64_t timeout_ms)
{
    struct hold *h = calloc(1, sizeof(*h));
    int rc;

    if (h == NULL)
        return zkr__fail(ZKR_ENOMEM, "%s: out of memory", noun);
    rc = zkr__lock_acquire(rm->lock, &zkr__mutex_recipe, timeout_ms, &h->grant);
    if (rc != ZKR_OK) {
        free(h);
        return rc;
    }
    h->thread = this_thread();
    h->depth = 1;
    (void)pthread_mutex_lock(&rm->mutex);
    zkr__list_append(&rm->holds, &h->link);
    leave(rm);
    return ZKR_OK;
}

int zkr_reentrant_mutex_acquire(zkr_reentrant_mutex *rm, int64_t timeout_ms)
{
    int rc = enter(rm);

    if (rc != ZKR_OK)
        return rc;
    rc = acquire_again(rm);
    leave(rm);
    return rc == ZKR_ENOTHELD ? acquire_first(rm, timeout_ms) : rc;
}

static int release_last(zkr_reentrant_mutex *rm, struct hold *h)
{
    int rc = zkr_grant_release(h->grant);

    if (rc == ZKR_EDEADLK) /* in a callback: nothing has happened */
        return rc;
    (void)pthread_mutex_lock(&rm->mutex);
    zkr__list_remove(&h->link);
    leave(rm);
    zkr_grant_free(h->grant);
    free(h);
    return rc;
}

int zkr_reentrant_mutex_release(zkr_reentrant_mutex *rm)
{
    struct hold *h;
    bool held;
    int rc = enter(rm);

    if (rc != ZKR_OK)
        return rc;
    h = find_held(rm);
    held = !zkr__list_empty(&rm->holds);
    leave(rm); /* a hold is changed by its own thread only */
    if (h == NULL)
        return zkr__fail(held ? ZKR_ENOTOWNER : ZKR_ENOTHELD, "%s '%s': %s",
                         noun, rm->lock->path,
                         held ? "held by another thread" : "not held");
    if (h->depth == 1)
        return release_last(rm, h);
    h->depth--;
    return zkr_grant_state(h->grant) == ZKR_GRANT_LOST
               ? zkr__fail(ZKR_ELOST, "%s '%s': lost", noun, rm->lock->path)
               : ZKR_OK;
}

uint32_t zkr_reentrant_mutex_depth(zkr_reentrant_mutex *rm)
{
    struct hold *h;

    if (enter(rm) != ZKR_OK)
        return 0;
    h = find_held(rm);
    leave(rm);
    return h == NULL ? 0 : h->depth;
}

zkr_grant *zkr_reentrant_mutex_grant(zkr_reentrant_mutex *rm)
{
    struct hold *h;

    if (enter(rm) != ZKR_OK)
        return NULL;
    h = find_held(rm);
    leave(rm);
    return h == NULL ? NULL : h->grant;
}

int zkr_reentrant_mutex_cancel(zkr_reentrant_mutex *rm)
{
    return rm == NULL ? zkr__fail(ZKR_EINVAL, "%s is NULL", noun)
                      : zkr__lock_cancel(rm->lock);
}

const char *zkr_reentrant_mutex_path(const zkr_reentrant_mutex *rm)
{
    return rm == NULL ? NULL : rm->lock->path;
}
