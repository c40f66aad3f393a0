/* SPDX-License-Identifier: Apache-2.0 */
/* The applications: threads of processes open sessions, acquire, and close. */
#include "users.h"

/* An asynchronous acquire, for which no thread waits in the library. */
struct async {
    struct asked asked;
    struct thread *thread;
    struct attempt *attempt;
    zkr_grant *grant;
};

void user_pauses(uint32_t most)
{
    static const int64_t times[] = { 0, 1, 10, 60, 200, 1000, 3000 };

    fiber_sleep(times[choose(most)] * MS);
}

/* So long servers have for their answers to an acquire of a shorter timeout. */
#define ANSWER_MS 100

int64_t user_timeout(void)
{
    return DRAW(int64_t, -1, -1, -1, 0, 1, 50, 1000, 8000);
}

struct attempt *user_asks(const struct thread *t, bool shared,
                          int64_t timeout_ms)
{
    int64_t limit = timeout_ms;

    if (timeout_ms == 0) /* a try */
        limit = t->process->opts.reply_timeout_ms;
    else if (timeout_ms > 0 && timeout_ms < ANSWER_MS)
        limit = ANSWER_MS;
    struct attempt *a = oracle_asked(t->process->number, shared, limit);
    a->only_mutexes = t->recipe != world.recipe;
    return a;
}

void user_is_refused_inside(int rc, int64_t began, int *inside)
{
    --*inside;
    fiber_wake(inside);
    WRONG_IF((rc != ZKR_EDEADLK && rc != ZKR_ECLOSED && rc != ZKR_ENOMEM) ||
                 sim_now != began,
             "a callback waits for a lock: %d", rc);
}

static void on_async(int rc, zkr_grant *grant, void *user)
{
    struct async *a = user;
    struct thread *t = a->thread;
    zkr_grant *unused;

    oracle_told(a->attempt, rc, grant);
    if (one_in(8) && t->lock != NULL) {
        int64_t began = sim_now;

        t->inside++;
        user_is_refused_inside(user_acquire(t, a->attempt->shared, -1, &unused),
                               began, &t->inside);
    }
    a->asked.told = true;
    a->grant = grant;
    fiber_wake(a);
    fiber_wake(&t->bursts);
}

static void blocking_round(struct thread *t)
{
    bool shared = t->recipe == RWLOCK && choose(2) == 1;
    int64_t timeout_ms = user_timeout();
    struct attempt *a = user_asks(t, shared, timeout_ms);
    zkr_grant *grant = NULL;
    int rc = user_acquire(t, shared, timeout_ms, &grant);

    oracle_told(a, rc, grant);
    if (rc != ZKR_OK)
        return;
    oracle_handed_on(a);
    user_holds(t, a, grant, true);
}

/* Two permits of a semaphore: both or none. When an operator deletes the turn
 * of one, it and the next may each have one permit, up to their deadlines. */
static void two_permits_round(struct thread *t)
{
    int64_t timeout_ms = DRAW(int64_t, 1000, 0, 50);
    struct attempt *attempts[2];
    zkr_grant *grants[2];

    for (int i = 0; i < 2; i++)
        attempts[i] = user_asks(t, false, timeout_ms);
    int rc = zkr_semaphore_acquire_many(t->lock, 2, timeout_ms, grants);
    for (int i = 0; i < 2; i++)
        oracle_told(attempts[i], rc, grants[i]);
    for (int i = 0; rc == ZKR_OK && i < 2; i++)
        user_holds(t, attempts[i], grants[i], true);
}

static bool ask_async(struct thread *t, struct async *a, bool shared)
{
    int64_t timeout_ms = user_timeout();

    a->thread = t;
    a->attempt = user_asks(t, shared, timeout_ms);
    int rc = zkr_lockable_acquire_async(t->lock, TO(shared), timeout_ms,
                                        on_async, a, &a->asked.request);
    if (rc == ZKR_OK)
        return true;
    oracle_told(a->attempt, rc, NULL);
    a->asked.told = true;
    return false;
}

static void async_round(struct thread *t)
{
    struct async *a = arena_new(sizeof(*a));

    if (!ask_async(t, a, t->recipe == RWLOCK && choose(2) == 1))
        return;
    if (choose(3) == 0) {
        user_pauses(7);
        if (choose(3) == 0)
            (void)zkr_lockable_cancel(t->lock);
        else
            (void)zkr_request_cancel(a->asked.request);
    }
    if (choose(8) == 7) /* the lock goes first */
        user_free_lock(t);
    zkr_request_free(a->asked.request);
    FIBER_UNTIL(a->asked.told, a);
    if (a->grant != NULL && t->lock != NULL)
        user_holds(t, a->attempt, a->grant, false);
    else if (a->grant != NULL)
        user_gives_back(t, a->attempt, a->grant);
    if (t->lock == NULL)
        (void)user_make_lock(t);
}

/* Several claims of one thread in the queue at once. The thread waits for one
 * after the other, and gives each back before the next, or later. */
#define BURST_MAX 6

void *user_awaits_one(const struct thread *t, void *all, size_t size,
                      uint32_t count)
{
    for (;;) {
        bool any = false;

        for (uint32_t i = 0; i < count; i++) {
            struct asked *a = (struct asked *)(void *)((char *)all + i * size);

            any = any || !a->seen;
            if (!a->told || a->seen)
                continue;
            a->seen = true;
            zkr_request_free(a->request);
            return a;
        }
        if (!any)
            return NULL;
        (void)fiber_wait(&t->bursts, INT64_MAX);
    }
}

static void burst_round(struct thread *t)
{
    struct async *all = arena_new(BURST_MAX * sizeof(*all));
    uint32_t count = 2 + choose(BURST_MAX - 1);
    struct async *a;

    for (uint32_t i = 0; i < count; i++) {
        (void)ask_async(t, &all[i], t->recipe == RWLOCK && choose(3) == 1);
        if (one_in(4))
            user_pauses(4);
    }
    if (one_in(4) && (a = &all[choose(count)])->asked.request != NULL)
        (void)zkr_request_cancel(a->asked.request);
    if (one_in(16))
        (void)zkr_lockable_cancel(t->lock);
    while ((a = user_awaits_one(t, all, sizeof(*all), count)) != NULL) {
        if (a->grant != NULL && choose(2) == 0)
            user_gives_back(t, a->attempt, a->grant);
        else if (a->grant != NULL)
            user_holds(t, a->attempt, a->grant, false);
    }
}

static int try_to_open(struct process *p)
{
    int64_t limit =
        p->opts.connect_timeout_ms == 0 ? 15000 : p->opts.connect_timeout_ms;
    struct call call = oracle_begins(p->number);
    bool was_there = oracle_node(p->prefix, 0) != NULL;

    p->opts.chroot = p->prefix[0] == '\0' ? NULL : p->prefix;
    int rc = zkr_session_open("a:1,b:2,c:3", &p->opts, &p->session);
    oracle_in_time("an open", &call, (limit + 500) * MS);
    if (rc == ZKR_ENOCHROOT) { /* it does not exist yet: it opens without one */
        WRONG_IF(p->prefix[0] == '\0' || was_there,
                 "process %d does not find its chroot", p->number);
        p->prefix = "";
    } else if (rc == ZKR_ENOMEM) {
        fiber_sleep(100 * MS);
    }
    WRONG_IF(!ONE_OF(rc, ZKR_OK, ZKR_ENOCHROOT, ZKR_ENOMEM, ZKR_EUNREACHABLE,
                     ZKR_ZSESSIONEXPIRED),
             "process %d: cannot open a session: %s", p->number,
             zkr_error_detail());
    return rc;
}

static void on_session_event(zkr_session *session,
                             const struct zkr_session_event *event, void *user)
{
    struct process *p = user;

    WRONG_IF(event->epoch < p->epoch,
             "process %d hears of a session that is over", p->number);
    p->epoch = event->epoch;
    WRONG_IF(one_in(16) && zkr_session_close(session) != ZKR_EDEADLK,
             "a callback closes its session");
}

static void close_session(struct process *p)
{
    struct call call = oracle_begins(p->number);

    p->closed = true;
    world_trace("process %d: closes its session", p->number);
    if (choose(2) == 1)
        told_free_listener(p);
    (void)zkr_session_close(p->session);
    told_free_listener(p);
    oracle_in_time("a close", &call, 6000 * MS);
}

static void ask_session(const struct thread *t)
{
    zkr_session *s = t->process->session;
    const char *path = t->recipe == LATCH ? zkr_leader_path(t->lock)
                                          : zkr_lockable_path(t->lock);

    WRONG_IF(zkr_session_epoch(s) == 0 || zkr_session_timeout_ms(s) == 0 ||
                 zkr_session_state_name(zkr_session_state(s)) == NULL,
             "process %d has a session that knows nothing of itself",
             t->process->number);
    (void)zkr_session_id(s);
    WRONG_IF(strcmp(path, process_sees(t->process, t->path)) != 0,
             "a lock is at '%s'", path);
}

static void round_of(struct thread *t)
{
    bool has_async = t->recipe != REENTRANT && t->recipe != LATCH;

    user_pauses(7);
    if (t->process->closed)
        return;
    if (one_in(40)) {
        close_session(t->process);
        return;
    }
    if (one_in(16))
        user_looks_on(t->process);
    if (one_in(16))
        ask_session(t);
    if (one_in(3))
        user_follows(t->process);
    if (one_in(6))
        user_gathers(t->process);
    user_enters(t->process);
    if (world.limit > 1 && one_in(3))
        two_permits_round(t);
    if (world.recipe == MULTI && choose(3) > 0)
        user_needs_several(t);
    else if (has_async && choose(2) == 1 && one_in(2))
        burst_round(t);
    else if (has_async && choose(2) == 1)
        async_round(t);
    else
        blocking_round(t);
}

static void *thread_main(void *arg)
{
    struct thread *t = arg;
    struct process *p = t->process;

    if (p->threads++ == 0) {
        user_pauses(7);
        while (try_to_open(p) != ZKR_OK)
            world_trace("process %d: another try", p->number);
        if (one_in(2))
            told_of_session(p, on_session_event, p);
        p->opened = true;
        fiber_wake(p);
    }
    FIBER_UNTIL(p->opened, p);
    WRONG_IF(user_make_lock(t) != ZKR_OK, "process %d: cannot make a lock: %s",
             p->number, zkr_error_detail());
    while (t->rounds-- > 0)
        round_of(t);
    user_yields(t);
    world.busy--;
    FIBER_UNTIL(world.closing, &world.closing);
    user_free_lock(t);
    if (--p->threads == 0) {
        if (!p->closed)
            close_session(p);
        follows_end(p);
    }
    return NULL;
}

/* -- options of sessions and locks, and threads ---------------------------- */

/* A user that assumes more pings than there are makes a mistake; one that
 * assumes fewer is careful. */
static void draw_lease(struct process *p)
{
    uint32_t timeout_ms = p->opts.session_timeout_ms;

    p->no_lease = one_in(4);
    if (p->no_lease)
        p->opts.flags |= ZKR_SESSION_NO_LEASE;
    p->opts.lease_margin_ms = DRAW(uint32_t, 0, 1, 200);
    if (one_in(4))
        p->opts.lease_ping_gap_ms = timeout_ms * DRAW(uint32_t, 4, 10) / 10;
}

static void options_draw(struct process *p)
{
    const struct zkr_retry policies[] = {
        { .kind = ZKR_RETRY_DEFAULT },          ZKR_RETRY_NONE_INIT,
        ZKR_RETRY_N_TIMES_INIT(2, 50),          ZKR_RETRY_UNTIL_INIT(700, 100),
        ZKR_RETRY_EXPONENTIAL_INIT(10, 500, 4), ZKR_RETRY_FOREVER_INIT(30),
    };

    p->opts = (struct zkr_session_opts)ZKR_SESSION_OPTS_INIT;
    p->opts.session_timeout_ms = (uint32_t)(p->timeout / MS);
    p->opts.reply_timeout_ms = 5000;
    p->prefix = "";
    if (world.beacon)
        p->opts.lease_beacon = WORLD_BEACON;
    if (choose(3) > 0)
        return;
    uint32_t which = choose(6);
    p->opts.retry = policies[which];
    p->gives_up = which >= 1 && which <= 4;
    draw_lease(p);
    if (choose(2) == 1)
        p->prefix = "/locks";
    if (one_in(3)) {
        p->opts.auth_scheme = "digest";
        p->opts.auth = "anna:secret";
    }
    if (one_in(3))
        p->opts.acl = "world:anyone:cdrwa,digest:anna:rw";
    p->opts.reply_timeout_ms = DRAW(uint32_t, 5000, 1000, 300);
    if (one_in(3))
        p->opts.connect_timeout_ms = 2000;
}

static uint32_t options_lock_flags(void)
{
    uint32_t flags = 0;

    if (choose(3) > 0)
        return 0;
    if (choose(2) == 1 && world.recipe != LATCH)
        flags |= ZKR_FAIL_ON_SESSION_LOSS;
    if (choose(2) == 1)
        flags |= ZKR_PERSISTENT_PARENTS;
    if (choose(2) == 1 && world.recipe != UNFAIR && world.recipe != SEMAPHORE)
        flags |= ZKR_KAZOO_LAYOUT;
    if (choose(2) == 1 && world.recipe == RWLOCK)
        flags |= ZKR_REENTRANT;
    return flags;
}

static void start_thread(struct process *p)
{
    struct thread *t = arena_new(sizeof(*t));

    t->process = p;
    t->recipe = world.recipe == MULTI ? MUTEX : world.recipe;
    t->path =
        world.recipe == MULTI ? world_paths[choose(WORLD_PATHS)] : WORLD_PATH;
    t->flags = p->stays.ms != 0 ? p->stays.flags : options_lock_flags();
    if (world.recipe == RWLOCK && p->stays.ms == 0 && one_in(4)) {
        t->recipe = MUTEX;
        t->flags &= ~ZKR_REENTRANT;
    }
    t->rounds = 1 + (int)choose(3);
    world.busy++;
    (void)fiber_start(p->number, thread_main, t);
}

void apps_start(void)
{
    world.crowded = one_in(3);
    world.process_count =
        world.crowded ? 1 + (int)choose(2) : 2 + (int)choose(4);
    for (int i = 0; i < world.process_count; i++) {
        struct process *p = &world.processes[i];
        uint32_t threads = 1 + choose(world.crowded ? 5 : 2);

        p->number = i;
        options_draw(p);
        if (ONE_OF(world.recipe, MUTEX, RWLOCK, REENTRANT) && one_in(3)) {
            /* its threads share a lock that stays */
            p->stays.ms = DRAW(uint32_t, 1000, 20, 3000);
            p->stays.max = DRAW(uint32_t, 1, 3, 0);
            p->stays.flags = options_lock_flags();
            threads += choose(3);
        }
        while (threads-- > 0)
            start_thread(p);
    }
}
