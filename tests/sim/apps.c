/* What the threads of the processes do: acquire, hold, check, give back. */
#include <stddef.h>

#include "arena.h"
#include "choices.h"
#include "error.h"
#include "options.h"
#include "users.h"

struct thread {
    struct process *process;
    int rounds;
    void *lock;     /* of world.recipe, */
    uint32_t flags; /* ... with these */
};

/* An acquire that nobody waits for in the library. */
struct async {
    struct attempt *attempt;
    bool told;
    zkr_grant *grant;
};

static void pause_for(uint32_t most)
{
    static const int64_t times[] = { 0, 1, 10, 60, 200, 1000, 3000 };

    fiber_sleep(times[choose(most)] * MS);
}

static int64_t some_timeout(void)
{
    static const int64_t timeouts[] = { -1, -1, -1, 0, 1, 50, 1000, 8000 };

    return timeouts[choose(8)];
}

static int64_t reply_timeout(const struct thread *t)
{
    return t->process->opts.reply_timeout_ms;
}

static int64_t deadline_of(const struct thread *t, int64_t timeout_ms)
{
    return timeout_ms == 0 ? reply_timeout(t) : timeout_ms; /* a try */
}

static int make_lock(struct thread *t)
{
    zkr_session *s = t->process->session;
    const char *path = process_sees(t->process, WORLD_PATH);
    struct zkr_mutex_opts opts = ZKR_MUTEX_OPTS_INIT;
    struct zkr_rwlock_opts rw_opts = ZKR_RWLOCK_OPTS_INIT;
    int rc = 0;

    opts.flags = rw_opts.flags = t->flags;
    if (t->flags != 0)
        opts.label = rw_opts.label = "to see what happens";
    switch (world.recipe) {
    case MUTEX:
        rc = zkr_mutex_new(s, path, &opts, (zkr_mutex **)&t->lock);
        break;
    case RWLOCK:
        rc = zkr_rwlock_new(s, path, &rw_opts, (zkr_rwlock **)&t->lock);
        break;
    case UNFAIR:
        rc =
            zkr_unfair_mutex_new(s, path, &opts, (zkr_unfair_mutex **)&t->lock);
        break;
    case REENTRANT:
    case RECIPES:
        rc = zkr_reentrant_mutex_new(s, path, &opts,
                                     (zkr_reentrant_mutex **)&t->lock);
    }
    return rc;
}

static void free_lock(struct thread *t)
{
    switch (world.recipe) {
    case MUTEX:
        zkr_mutex_free(t->lock);
        break;
    case RWLOCK:
        zkr_rwlock_free(t->lock);
        break;
    case UNFAIR:
        zkr_unfair_mutex_free(t->lock);
        break;
    case REENTRANT:
    case RECIPES:
        zkr_reentrant_mutex_free(t->lock);
    }
    t->lock = NULL;
}

static void cancel(struct thread *t)
{
    switch (world.recipe) {
    case MUTEX:
        (void)zkr_mutex_cancel(t->lock);
        break;
    case RWLOCK:
        (void)zkr_rwlock_cancel(t->lock);
        break;
    case UNFAIR:
        (void)zkr_unfair_mutex_cancel(t->lock);
        break;
    case REENTRANT:
    case RECIPES:
        (void)zkr_reentrant_mutex_cancel(t->lock);
    }
}

static int acquire(struct thread *t, bool shared, int64_t timeout_ms,
                   zkr_grant **grant)
{
    int rc;

    switch (world.recipe) {
    case MUTEX:
        return zkr_mutex_acquire(t->lock, timeout_ms, grant);
    case RWLOCK:
        return shared ? zkr_rwlock_acquire_read(t->lock, timeout_ms, grant)
                      : zkr_rwlock_acquire_write(t->lock, timeout_ms, grant);
    case UNFAIR:
        return zkr_unfair_mutex_acquire(t->lock, timeout_ms, grant);
    case REENTRANT:
    case RECIPES:
        break;
    }
    rc = zkr_reentrant_mutex_acquire(t->lock, timeout_ms);
    if (rc == ZKR_OK)
        *grant = zkr_reentrant_mutex_grant(t->lock);
    return rc;
}

static void on_async(int rc, zkr_grant *grant, void *user)
{
    struct async *a = user;

    oracle_told(a->attempt, rc, grant);
    a->told = true;
    a->grant = grant;
    fiber_wake(a, true);
}

static int acquire_async(struct thread *t, bool shared, int64_t timeout_ms,
                         struct async *a, zkr_request **request)
{
    if (world.recipe == MUTEX)
        return zkr_mutex_acquire_async(t->lock, timeout_ms, on_async, a,
                                       request);
    if (world.recipe == UNFAIR)
        return zkr_unfair_mutex_acquire_async(t->lock, timeout_ms, on_async, a,
                                              request);
    return shared ? zkr_rwlock_acquire_read_async(t->lock, timeout_ms, on_async,
                                                  a, request)
                  : zkr_rwlock_acquire_write_async(t->lock, timeout_ms,
                                                   on_async, a, request);
}

static void give_back(struct thread *t, struct attempt *a, zkr_grant *grant)
{
    int64_t began = sim_now;
    int64_t stopped = process_stopped_for(t->process->number);

    world_trace("process %d: attempt %d is given back", t->process->number,
                a->number);
    oracle_over(a);
    if (world.recipe == REENTRANT) {
        (void)zkr_reentrant_mutex_release(t->lock);
    } else if (choose(3) == 0) {
        zkr_grant_free(grant);
    } else {
        if (choose(2) == 0)
            (void)zkr_grant_release(grant);
        else
            (void)zkr_grant_release_async(grant, NULL, NULL);
        zkr_grant_free(grant);
    }
    oracle_in_time("a release", t->process->number, began, stopped,
                   reply_timeout(t) * MS);
}

static void on_grant_event(zkr_grant *grant, const struct zkr_grant_event *e,
                           void *user)
{
    (void)grant;
    (void)e;
    (void)user;
}

static void verify(struct thread *t, struct attempt *a, zkr_grant *grant)
{
    int64_t began = sim_now;
    int64_t stopped = process_stopped_for(t->process->number);
    int rc = zkr_grant_verify(grant, 500);

    if (rc == ZKR_OK)
        oracle_checked(a, rc);
    oracle_in_time("a verify", t->process->number, began, stopped, 500 * MS);
}

static struct attempt *downgrade(struct thread *t, struct attempt *a,
                                 zkr_grant **grant)
{
    struct attempt *down = oracle_asked(t->process->number, true, -1);
    zkr_grant *read;
    int64_t began = sim_now;
    int64_t stopped = process_stopped_for(t->process->number);
    int rc;

    down->beside = a;
    down->deadline = INT64_MAX - 1;
    a->grant = NULL; /* whatever comes of it is told at the end only */
    rc = zkr_rwlock_downgrade(t->lock, *grant, &read);
    oracle_told(down, rc == ZKR_ENOTHELD ? ZKR_ELOST : rc, read);
    oracle_in_time("a downgrade", t->process->number, began, stopped,
                   2 * reply_timeout(t) * MS);
    if (rc != ZKR_OK) {
        a->grant = *grant;
        return a;
    }
    zkr_grant_free(*grant);
    *grant = read;
    return down;
}

static void hold(struct thread *t, struct attempt *a, zkr_grant *grant)
{
    uint32_t steps = choose(4);

    if (one_in(4))
        (void)zkr_grant_listen(grant, on_grant_event, NULL);
    for (uint32_t i = 0; i < steps; i++) {
        pause_for(7);
        oracle_checked(a, zkr_grant_check(grant));
        if (one_in(6))
            verify(t, a, grant);
    }
    if (one_in(4))
        user_writes(t->process, a, grant);
    if (one_in(16))
        user_looks_on(t->process);
    if (world.recipe == RWLOCK && !a->shared && one_in(3))
        a = downgrade(t, a, &grant);
    if (world.recipe == REENTRANT && one_in(4) &&
        zkr_reentrant_mutex_acquire(t->lock, -1) == ZKR_OK) {
        pause_for(4);
        (void)zkr_reentrant_mutex_release(t->lock);
    }
    give_back(t, a, grant);
}

static void blocking_round(struct thread *t)
{
    bool shared = world.recipe == RWLOCK && choose(2) == 1;
    int64_t timeout_ms = some_timeout();
    struct attempt *a =
        oracle_asked(t->process->number, shared, deadline_of(t, timeout_ms));
    zkr_grant *grant = NULL;
    int rc = acquire(t, shared, timeout_ms, &grant);

    oracle_told(a, rc, grant);
    if (rc == ZKR_OK)
        hold(t, a, grant);
}

static void async_round(struct thread *t)
{
    bool shared = world.recipe == RWLOCK && choose(2) == 1;
    int64_t timeout_ms = some_timeout();
    struct async *a = arena_new(sizeof(*a));
    zkr_request *request = NULL;
    int rc;

    a->attempt =
        oracle_asked(t->process->number, shared, deadline_of(t, timeout_ms));
    rc = acquire_async(t, shared, timeout_ms, a, &request);
    if (rc != ZKR_OK) {
        oracle_told(a->attempt, rc, NULL);
        return;
    }
    if (choose(3) == 0) {
        pause_for(7);
        if (choose(3) == 0)
            cancel(t);
        else
            (void)zkr_request_cancel(request);
    }
    if (choose(8) == 7) { /* the lock goes first */
        free_lock(t);
    }
    zkr_request_free(request);
    while (!a->told)
        (void)fiber_wait(a, INT64_MAX);
    if (a->grant != NULL && t->lock != NULL)
        hold(t, a->attempt, a->grant);
    else if (a->grant != NULL)
        give_back(t, a->attempt, a->grant);
    if (t->lock == NULL)
        (void)make_lock(t);
}

/* Its chroot is not there yet: without one, then. */
static void without_chroot(struct process *p, bool was_there)
{
    if (p->prefix[0] == '\0' || was_there)
        world_fail("process %d does not find its chroot", p->number);
    p->prefix = "";
}

static int try_to_open(struct process *p)
{
    int64_t limit =
        p->opts.connect_timeout_ms == 0 ? 15000 : p->opts.connect_timeout_ms;
    int64_t began = sim_now;
    int64_t stopped = process_stopped_for(p->number);
    bool was_there;
    int rc;

    was_there = oracle_node(p->prefix, 0) != NULL;
    p->opts.chroot = p->prefix[0] == '\0' ? NULL : p->prefix;
    rc = zkr_session_open("a:1,b:2,c:3", &p->opts, &p->session);
    oracle_in_time("an open", p->number, began, stopped, (limit + 500) * MS);
    if (rc == ZKR_ENOCHROOT)
        without_chroot(p, was_there);
    else if (rc != ZKR_OK && rc != ZKR_EUNREACHABLE &&
             rc != ZKR__ZSESSIONEXPIRED)
        world_fail("process %d: cannot open a session: %s", p->number,
                   zkr_error_detail());
    return rc;
}

static void open_session(struct process *p)
{
    while (try_to_open(p) != ZKR_OK)
        world_trace("process %d: another try", p->number);
    p->opened = true;
    fiber_wake(p, true);
}

static void close_session(struct process *p)
{
    int64_t began = sim_now;
    int64_t stopped = process_stopped_for(p->number);

    p->closed = true;
    world_trace("process %d: closes its session", p->number);
    (void)zkr_session_close(p->session);
    oracle_in_time("a close", p->number, began, stopped, 6000 * MS);
}

static void round_of(struct thread *t)
{
    pause_for(7);
    if (t->process->closed)
        return;
    if (one_in(40)) {
        close_session(t->process);
        return;
    }
    if (one_in(16))
        user_looks_on(t->process);
    if (t->process->closed)
        return;
    if (world.recipe != REENTRANT && choose(2) == 1)
        async_round(t);
    else
        blocking_round(t);
}

static void *thread_main(void *arg)
{
    struct thread *t = arg;
    struct process *p = t->process;

    if (p->threads++ == 0) {
        pause_for(7);
        open_session(p);
    }
    while (!p->opened)
        (void)fiber_wait(p, INT64_MAX);
    if (make_lock(t) != ZKR_OK)
        world_fail("process %d: cannot make a lock: %s", p->number,
                   zkr_error_detail());
    while (t->rounds-- > 0)
        round_of(t);
    world.busy--;
    while (!world.closing)
        (void)fiber_wait(&world.closing, INT64_MAX);
    free_lock(t);
    if (--p->threads == 0 && !p->closed)
        close_session(p);
    return NULL;
}

static void start_thread(struct process *p)
{
    struct thread *t = arena_new(sizeof(*t));

    t->process = p;
    t->flags = options_lock_flags();
    t->rounds = 1 + (int)choose(3);
    world.busy++;
    (void)fiber_start(p->number, thread_main, t);
}

void apps_start(void)
{
    world.process_count = 2 + (int)choose(4);
    for (int i = 0; i < world.process_count; i++) {
        struct process *p = &world.processes[i];
        uint32_t threads = 1 + choose(2);

        p->number = i;
        options_draw(p);
        while (threads-- > 0)
            start_thread(p);
    }
}
