/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders: threads that acquire and release on command. */
#include "stage.h"

#include <limits.h>

#include "lock/claim.h"
#include "lock/cohort.h"
#include "lock/locks.h"

enum { ACQUIRE, RELEASE, FORGET, STOP };

static int carry_out(struct contender *c, int command)
{
    zkr_grant *grant = NULL;
    int rc = ZKR_OK;

    if (command == RELEASE)
        return recipe->release(c->lock, c->target);
    if (command == ACQUIRE)
        rc = recipe->acquire(c->lock, c->timeout_ms, &grant);
    else if (c->grant != NULL)
        recipe->forget(c->lock, c->grant);
    if (rc == ZKR_OK) /* a failed acquire leaves the grant that it has */
        c->grant = grant;
    return rc;
}

static void *contender_main(void *arg)
{
    struct contender *c = arg;
    int command = ACQUIRE;

    for (size_t i = 0; command != STOP; i++) {
        (void)recorder_wait(c->commands, i + 1, INT_MAX);
        (void)recorder_get(c->commands, i, &command, NULL);
        int64_t start = now_ms();
        int rc = carry_out(c, command);
        if (rc != ZKR_OK)
            PRINT(c->detail, "%s", zkr_error_detail());
        recorder_add(c->outcomes, rc, now_ms() - start);
    }
    return NULL;
}

static void ask(struct contender *c, int command)
{
    recorder_add(c->commands, command, 0);
}

struct contender *contender_start(void *lock)
{
    struct contender *c = calloc(1, sizeof(*c));

    assert_non_null(c);
    c->lock = lock;
    c->commands = recorder_new();
    c->outcomes = recorder_new();
    c->thread = thread_start(contender_main, c);
    return c;
}

static bool await_idle(struct contender *c)
{
    return recorder_wait(c->outcomes, recorder_count(c->commands), SOON_MS);
}

void contender_stop(struct contender *c)
{
    (void)await_idle(c);
    ask(c, STOP);
    (void)pthread_join(c->thread, NULL);
    recorder_free(c->commands);
    recorder_free(c->outcomes);
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
    return recorder_count(c->outcomes) < recorder_count(c->commands);
}

int contender_rc(struct contender *c)
{
    if (!await_idle(c))
        fail_msg("a contender hangs");
    (void)recorder_get(c->outcomes, recorder_count(c->commands) - 1, &c->rc,
                       &c->took_ms);
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
static bool is_waiting(const struct zkr__claim *c)
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

size_t count_waiting(zkr_session *s)
{
    size_t count = 0;

    zkr__session_lock(s);
    if (s->observer != NULL) { /* the session has, or had, a lock */
        const struct zkr__list *claims = &zkr__locks_of(s)->claims;
        for (const struct zkr__list *l = claims->next; l != claims; l = l->next)
            count += is_waiting(ZKR__CONTAINER(l, struct zkr__claim, link));
    }
    zkr__session_unlock(s);
    return count;
}
