/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders: threads that acquire and release on command. */
#include "contender.h"

#include <time.h>

#include "lock/claim.h"
#include "lock/cohort.h"
#include "lock/locks.h"

enum { NOTHING, ACQUIRE, RELEASE, FORGET, STOP };

static void forget(struct contender *c)
{
    if (c->grant != NULL)
        c->recipe->forget(c->lock, c->grant);
    c->grant = NULL;
}

/* A failed one leaves the grant that it has. */
static int acquire_one(struct contender *c)
{
    zkr_grant *grant = NULL;
    int rc = c->recipe->acquire(c->lock, c->timeout_ms, &grant);

    if (rc == ZKR_OK)
        c->grant = grant;
    return rc;
}

static int carry_out(struct contender *c, int command)
{
    switch (command) {
    case ACQUIRE:
        return acquire_one(c);
    case RELEASE:
        return c->recipe->release(c->lock, c->target);
    default:
        forget(c);
        return ZKR_OK;
    }
}

static void *contender_main(void *arg)
{
    struct contender *c = arg;
    int command;

    do {
        (void)pthread_mutex_lock(&c->mutex);
        while (c->command == NOTHING)
            (void)pthread_cond_wait(&c->changed, &c->mutex);
        command = c->command;
        c->command = NOTHING;
        (void)pthread_mutex_unlock(&c->mutex);

        int64_t start = now_ms();
        int rc = carry_out(c, command);

        (void)pthread_mutex_lock(&c->mutex);
        c->rc = rc;
        c->took_ms = now_ms() - start;
        if (rc != ZKR_OK)
            (void)snprintf(c->detail, sizeof(c->detail), "%s",
                           zkr_error_detail());
        c->busy = false;
        (void)pthread_cond_broadcast(&c->changed);
        (void)pthread_mutex_unlock(&c->mutex);
    } while (command != STOP);
    return NULL;
}

static void ask(struct contender *c, int command)
{
    (void)pthread_mutex_lock(&c->mutex);
    c->command = command;
    c->busy = true;
    (void)pthread_cond_broadcast(&c->changed);
    (void)pthread_mutex_unlock(&c->mutex);
}

struct contender *contender_start(const struct adapter *recipe, void *lock)
{
    struct contender *c = calloc(1, sizeof(*c));
    pthread_condattr_t attr;

    assert_non_null(c);
    c->recipe = recipe;
    c->lock = lock;
    (void)pthread_mutex_init(&c->mutex, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&c->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    assert_int_equal(pthread_create(&c->thread, NULL, contender_main, c), 0);
    return c;
}

static bool await_idle(struct contender *c)
{
    struct timespec deadline;
    bool busy;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += SOON_MS / 1000;
    (void)pthread_mutex_lock(&c->mutex);
    while (c->busy &&
           pthread_cond_timedwait(&c->changed, &c->mutex, &deadline) == 0)
        ;
    busy = c->busy;
    (void)pthread_mutex_unlock(&c->mutex);
    return !busy;
}

void contender_stop(struct contender *c)
{
    (void)await_idle(c);
    ask(c, STOP);
    (void)pthread_join(c->thread, NULL);
    (void)pthread_cond_destroy(&c->changed);
    (void)pthread_mutex_destroy(&c->mutex);
    free(c);
}

void contender_acquire(struct contender *c, int64_t timeout_ms)
{
    c->timeout_ms = timeout_ms;
    ask(c, ACQUIRE);
}

void contender_release(struct contender *c, zkr_grant *grant)
{
    c->target = grant;
    ask(c, RELEASE);
}

void contender_forget(struct contender *c)
{
    ask(c, FORGET);
    (void)contender_rc(c);
}

bool contender_is_busy(struct contender *c)
{
    bool busy;

    (void)pthread_mutex_lock(&c->mutex);
    busy = c->busy;
    (void)pthread_mutex_unlock(&c->mutex);
    return busy;
}

int contender_rc(struct contender *c)
{
    if (!await_idle(c))
        fail_msg("a contender hangs");
    return c->rc;
}

static bool waits(const struct zkr__claim *c)
{
    const struct zkr__line *line = c->lock->line;
    bool watches = c->wait.watch != NULL && c->wait.get.where == ZKR__OP_IDLE;
    bool shares = line->watched && line->list.where == ZKR__OP_IDLE &&
                  !zkr__list_empty(&c->place.ask);

    return c->sm.state == ZKR__CLAIM_WAITING &&
           (watches || shares || c->place.behind);
}

/* A member of a cohort waits for another member, or its delegate waits. */
static bool is_waiting(const struct zkr__claim *c, const char *path)
{
    const struct zkr__claim *d =
        c->role == &zkr__member ? c->lock->cohort->delegate : NULL;

    if (strcmp(c->lock->path, path) != 0 || c->role == &zkr__delegate)
        return false;
    if (d == NULL)
        return waits(c);
    return c->sm.state == ZKR__CLAIM_WAITING &&
           (d->sm.state == ZKR__CLAIM_HELD || waits(d));
}

size_t count_waiting(zkr_session *s, const char *path)
{
    const struct zkr__list *claims;
    size_t count = 0;

    zkr__session_lock(s);
    if (s->observer != NULL) { /* the session has, or had, a lock */
        claims = &zkr__locks_of(s)->claims;
        for (const struct zkr__list *l = claims->next; l != claims; l = l->next)
            count +=
                is_waiting(ZKR__CONTAINER(l, struct zkr__claim, link), path);
    }
    zkr__session_unlock(s);
    return count;
}
