/* SPDX-License-Identifier: Apache-2.0 */
/* Users and their locks: the calls of each recipe under one name. */
#include "users.h"

/* The last event that a leader was told of, and its term. */
struct told_leader {
    enum zkr_leader_event_kind kind;
    int64_t token;
};

static void on_leader_event(zkr_leader *leader,
                            const struct zkr_leader_event *e, void *user)
{
    struct told_leader *last = user;
    bool in_term =
        last->kind == ZKR_LEADER_GAINED || last->kind == ZKR_LEADER_SUSPENDED;

    WRONG_IF(e->kind == last->kind && e->kind != ZKR_LEADER_FAILED,
             "a leader is told %d twice", (int)e->kind);
    WRONG_IF(in_term ? e->kind == ZKR_LEADER_FAILED || e->token != last->token
                     : e->kind == ZKR_LEADER_SUSPENDED ||
                           e->kind == ZKR_LEADER_LOST,
             "a leader is told %d of term %lld after %d of %lld", (int)e->kind,
             (long long)e->token, (int)last->kind, (long long)last->token);
    WRONG_IF(!in_term && e->kind == ZKR_LEADER_GAINED &&
                 e->token <= last->token,
             "P3: term %lld comes after %lld", (long long)e->token,
             (long long)last->token);
    last->kind = e->kind;
    if (e->token != 0)
        last->token = e->token;
}

static int make_lock(struct thread *t, void **lock)
{
    static int (*const makers[RECIPES])(
        zkr_session *, const char *, const struct zkr_lockable_opts *,
        zkr_lockable **) = { [MUTEX] = zkr_mutex_new,
                             [RWLOCK] = zkr_rwlock_new,
                             [UNFAIR] = zkr_unfair_mutex_new,
                             [REENTRANT] = zkr_reentrant_mutex_new,
                             [MULTI] = zkr_reentrant_mutex_new };
    zkr_session *s = t->process->session;
    const char *path = process_sees(t->process, t->path);

    if (t->recipe == LATCH)
        return zkr_leader_new(s, path,
                              OPTS(leader, .flags = t->flags,
                                   .id = t->flags != 0 ? "who leads" : NULL,
                                   .id_size = t->flags != 0 ? 9 : 0),
                              on_leader_event,
                              arena_new(sizeof(struct told_leader)),
                              (zkr_leader **)lock);
    if (t->recipe == SEMAPHORE)
        return zkr_semaphore_new(s, path, world.limit,
                                 OPTS(lockable, .flags = t->flags),
                                 (zkr_semaphore **)lock);
    return makers[t->recipe](
        s, path,
        OPTS(lockable, .flags = t->flags, .retain_ms = t->process->stays.ms,
             .retain_max = t->process->stays.max,
             .label = t->flags != 0 ? "to see what happens" : NULL),
        (zkr_lockable **)lock);
}

static void free_lock(const struct thread *t, void *lock)
{
    if (t->recipe == LATCH)
        zkr_leader_free(lock);
    else
        zkr_lockable_free(lock);
}

int user_make_lock(struct thread *t)
{
    struct process *p = t->process;
    void *lock = NULL;
    int rc = ZKR_OK;

    if (p->stays.lock == NULL)
        FIBER_WHILE((rc = make_lock(t, &lock)) == ZKR_ENOMEM, 100 * MS);
    if (rc != ZKR_OK)
        return rc;
    if (p->stays.ms == 0) {
        t->lock = lock;
        return ZKR_OK;
    }
    if (p->stays.lock == NULL)
        p->stays.lock = lock;
    else if (lock != NULL) /* another thread was faster */
        free_lock(t, lock);
    p->stays.users++;
    t->lock = p->stays.lock;
    return ZKR_OK;
}

/* Not while a callback uses it. */
void user_free_lock(struct thread *t)
{
    struct process *p = t->process;
    void *lock = t->lock;

    t->lock = NULL;
    FIBER_UNTIL(t->inside == 0, &t->inside);
    if (p->stays.ms != 0) {
        if (--p->stays.users > 0)
            return;
        p->stays.lock = NULL;
    }
    free_lock(t, lock);
}

void user_yields(const struct thread *t)
{
    if (t->lock != NULL && t->recipe != LATCH)
        (void)zkr_lockable_give_back(t->lock);
}

/* Where there is no lease, nobody is ever sure to lead: then the grant is taken
 * as it is, as an acquire does. */
static int wait_to_lead(zkr_leader *leader, int64_t timeout_ms,
                        zkr_grant **grant)
{
    int rc;

    do {
        rc = zkr_leader_wait(leader, timeout_ms < 0 ? 5000 : timeout_ms);
        if ((rc == ZKR_OK || rc == ZKR_ETIMEDOUT) &&
            zkr_leader_grant(leader, grant) == ZKR_OK)
            return ZKR_OK;
    } while (rc == ZKR_ETIMEDOUT && timeout_ms < 0);
    return rc == ZKR_OK ? ZKR_ELOST : rc;
}

int user_acquire(struct thread *t, bool shared, int64_t timeout_ms,
                 zkr_grant **grant)
{
    if (t->recipe != LATCH)
        return zkr_lockable_acquire(t->lock, TO(shared), timeout_ms, grant);
    int rc = zkr_leader_campaign(t->lock);
    if (rc == ZKR_OK)
        rc = wait_to_lead(t->lock, timeout_ms, grant);
    if (rc != ZKR_OK) /* nobody leads whom the oracle does not know of */
        (void)zkr_leader_leave_async(t->lock);
    return rc;
}
