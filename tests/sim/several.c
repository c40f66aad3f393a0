/* SPDX-License-Identifier: Apache-2.0 */
/* Users who need several mutexes: by a multi-lock, or one by one in order. */
#include "users.h"

#define CHAINS_MAX 3

struct several {
    struct thread *thread;
    zkr_multi_lock *lock; /* NULL: it was freed */
    zkr_mutex *mutexes[WORLD_PATHS];
    const char *paths[WORLD_PATHS]; /* in their order */
    size_t count;
    int inside; /* callbacks that use `lock` now; its address wakes */
};

/* One acquire of all. */
struct chain {
    struct asked asked;
    struct several *of;
    struct attempt *attempts[WORLD_PATHS];
    zkr_grant *grants[WORLD_PATHS];
    int rc;
};

/* -- the locks ------------------------------------------------------------ */

/* Not while a callback uses it. */
static void free_locks(struct several *s)
{
    zkr_multi_lock *lock = s->lock;

    s->lock = NULL;
    FIBER_UNTIL(s->inside == 0, &s->inside);
    zkr_multi_lock_free(lock);
    for (size_t i = 0; i < s->count; i++) {
        zkr_mutex_free(s->mutexes[i]);
        s->mutexes[i] = NULL;
    }
}

static int make_locks(struct several *s)
{
    const struct process *p = s->thread->process;
    struct zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    bool reversed = choose(2) == 0;

    if (one_in(3))
        opts.flags = ZKR_FAIL_ON_SESSION_LOSS;
    int rc = zkr_multi_lock_new(p->session, &opts, &s->lock);
    opts.flags = s->thread->flags;
    for (size_t i = 0; i < s->count && rc == ZKR_OK; i++)
        rc = zkr_mutex_new(p->session, process_sees(p, s->paths[i]), &opts,
                           &s->mutexes[i]);
    for (size_t i = 0; i < s->count && rc == ZKR_OK; i++)
        rc = zkr_multi_lock_add(
            s->lock, s->mutexes[reversed ? s->count - 1 - i : i], NULL);
    if (rc != ZKR_OK)
        free_locks(s);
    WRONG_IF(rc != ZKR_OK && rc != ZKR_ENOMEM,
             "a multi-lock cannot be made: %d", rc);
    return rc;
}

/* -- an acquire ----------------------------------------------------------- */

static void ask_oracle(struct chain *c, struct several *s, int64_t timeout_ms)
{
    c->of = s;
    for (size_t i = 0; i < s->count; i++)
        c->attempts[i] = user_asks(s->thread, false, timeout_ms);
}

/* They are acquired one after the other, in the order of their paths, and none
 * is lost before the next is granted. */
static void check_turn(const struct chain *c, size_t i)
{
    const struct attempt *a = c->attempts[i];

    WRONG_IF(strcmp(a->node->parent->path, c->of->paths[i]) != 0,
             "grant %zu of a multi-lock is %s", i, a->node->path);
    WRONG_IF(i > 0 && a->token <= c->attempts[i - 1]->token,
             "a multi-lock acquires %s before %s", a->node->path,
             c->attempts[i - 1]->node->path);
    for (size_t before = 0; before < i; before++) {
        WRONG_IF(!held_at_once(c->attempts[before]->node, a->node),
                 "a multi-lock has lost %s before it was granted %s",
                 c->attempts[before]->node->path, a->node->path);
    }
}

static void tell(struct chain *c, int rc, zkr_grant *const *grants)
{
    c->rc = rc;
    for (size_t i = 0; i < c->of->count; i++) {
        zkr_grant *grant = grants == NULL ? NULL : grants[i];

        WRONG_IF((grant != NULL) != (rc == ZKR_OK),
                 "a multi-lock ends with %d, and grant %zu is%s there", rc, i,
                 grant == NULL ? " not" : "");
        c->grants[i] = grant;
        oracle_told(c->attempts[i], rc, grant);
        if (rc == ZKR_OK)
            check_turn(c, i);
    }
}

/* All checked, and given back, by one call. */
static void give_back_all(struct chain *c)
{
    const struct thread *t = c->of->thread;
    int process = t->process->number;
    size_t count = c->of->count;

    user_pauses(5);
    struct call call = oracle_begins(process);
    int rc = zkr_grants_check(c->grants, count);
    for (size_t i = 0; i < count; i++) {
        if (process_stopped_for(process) == call.stopped)
            oracle_checked(c->attempts[i], rc);
        oracle_over(c->attempts[i]);
    }
    world_trace("process %d: attempts up to %d are given back", process,
                c->attempts[count - 1]->number);
    if (choose(2) == 0)
        (void)zkr_grants_release(c->grants, count);
    zkr_grants_free(c->grants, count);
    oracle_in_time("a release of several", &call,
                   (int64_t)count * process_patience(t->process, 0));
}

static void hold_all(struct chain *c)
{
    if (choose(2) == 0) {
        give_back_all(c);
        return;
    }
    for (size_t i = c->of->count; i-- > 0;)
        user_holds(c->of->thread, c->attempts[i], c->grants[i], false);
}

static void acquire_all(struct several *s)
{
    int64_t timeout_ms = user_timeout();
    zkr_grant *grants[WORLD_PATHS];
    struct chain c = { 0 };

    ask_oracle(&c, s, timeout_ms);
    int rc = zkr_multi_lock_acquire(s->lock, timeout_ms, grants);
    tell(&c, rc, grants);
    if (rc == ZKR_OK)
        hold_all(&c);
}

/* -- acquires without a waiting thread, several at once -------------------- */

static void on_all(int rc, zkr_grant *const *grants, size_t count, void *user)
{
    struct chain *c = user;
    struct several *s = c->of;
    zkr_grant *unused[WORLD_PATHS];

    WRONG_IF(count != (rc == ZKR_OK ? s->count : 0),
             "a multi-lock ends with %d, and %zu grants", rc, count);
    tell(c, rc, grants);
    if (one_in(8) && s->lock != NULL) {
        int64_t began = sim_now;

        s->inside++;
        user_is_refused_inside(zkr_multi_lock_acquire(s->lock, -1, unused),
                               began, &s->inside);
    }
    c->asked.told = true;
    fiber_wake(&s->thread->bursts);
}

static void ask_for_all(struct several *s)
{
    uint32_t count = 1 + choose(CHAINS_MAX);
    struct chain *all = arena_new(count * sizeof(*all));
    struct chain *c;

    for (c = all; c < all + count; c++) {
        int64_t timeout_ms = user_timeout();

        ask_oracle(c, s, timeout_ms);
        int rc = zkr_multi_lock_acquire_async(s->lock, timeout_ms, on_all, c,
                                              &c->asked.request);
        if (rc == ZKR_OK)
            continue;
        tell(c, rc, NULL);
        c->asked.told = true;
    }
    if (one_in(3)) {
        c = &all[choose(count)];
        user_pauses(7);
        if (one_in(3))
            (void)zkr_lockable_cancel(s->lock);
        else if (one_in(3))
            free_locks(s);
        else if (c->asked.request != NULL)
            (void)zkr_request_cancel(c->asked.request);
    }
    /* another may wait for what it has */
    while ((c = user_awaits_one(s->thread, all, sizeof(*all), count)) != NULL) {
        if (c->rc == ZKR_OK)
            hold_all(c);
    }
}

/* -- one by one ----------------------------------------------------------- */

static void acquire_one_by_one(struct several *s)
{
    struct chain c = { .of = s };
    size_t n;

    for (n = 0; n < s->count; n++) {
        int64_t timeout_ms = user_timeout();

        c.attempts[n] = user_asks(s->thread, false, timeout_ms);
        int rc = zkr_mutex_acquire(s->mutexes[n], timeout_ms, &c.grants[n]);
        oracle_told(c.attempts[n], rc, c.grants[n]);
        if (rc != ZKR_OK)
            break;
    }
    while (n-- > 0)
        user_holds(s->thread, c.attempts[n], c.grants[n], true);
}

void user_needs_several(struct thread *t)
{
    static void (*const ways[])(struct several *) = { acquire_all, ask_for_all,
                                                      acquire_one_by_one };
    struct several *s = ARENA_NEW(struct several, .thread = t);
    size_t left_out = choose(WORLD_PATHS + 1); /* at WORLD_PATHS: none */

    for (size_t i = 0; i < WORLD_PATHS; i++) {
        if (i != left_out)
            s->paths[s->count++] = world_paths[i];
    }
    if (make_locks(s) != ZKR_OK)
        return;
    ways[choose(3)](s);
    free_locks(s);
}
