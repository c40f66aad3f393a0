/* What every exclusive recipe promises: one list of statements, run for each
 * adapter of adapters.c. */
#include "contract.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zookeeper/proto.h>

#include "proxy.h"

#ifndef ZOO_CREATE2_OP
#define ZOO_CREATE2_OP 15
#endif

enum {
    MAX_THINGS = 64,
    MAX_STATEMENTS = 64,
    MAX_ADAPTERS = 16,
    REPLY_MS =
        1000, /* how long our session waits for the answer to a release */
};

/* -- the stage ------------------------------------------------------------ */

static const struct adapter *recipe; /* under test */
static struct proxy *proxy;
static struct proxy *their_proxy;
static zkr_session *ours;   /* through the proxy */
static zkr_session *theirs; /* through one of its own */
static char path[64];

/* Everything that a test has made, for the teardown. */
static struct contender *contenders[MAX_THINGS];
static size_t contender_count;
static void *locks[MAX_THINGS];
static size_t lock_count;
static struct recorder *recorders[MAX_THINGS];
static size_t recorder_total;

static int setup(void **state)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;

    recipe = *state;
    (void)snprintf(path, sizeof(path), "%s", new_path());
    if (proxy_start(server_hosts(the_server), &proxy) != 0 ||
        proxy_start(server_hosts(the_server), &their_proxy) != 0)
        return -1;
    opts.session_timeout_ms = SESSION_MS;
    opts.reply_timeout_ms = REPLY_MS;
    ok(zkr_session_open(proxy_hosts(proxy), &opts, &ours));
    opts.reply_timeout_ms = 0;
    ok(zkr_session_open(proxy_hosts(their_proxy), &opts, &theirs));
    return 0;
}

static void close_ours(void)
{
    zkr_session *s = ours;

    ours = NULL;
    ok(zkr_session_close(s));
}

/* In this order a test that has failed leaves nothing either: the end of the
 * sessions ends every wait. */
static int teardown(void **state)
{
    (void)state;
    proxy_forget_rules(proxy);
    proxy_heal(proxy);
    proxy_release(proxy);
    (void)zkr_session_close(ours);
    (void)zkr_session_close(theirs);
    while (contender_count > 0)
        contender_stop(contenders[--contender_count]);
    while (lock_count > 0)
        recipe->free(locks[--lock_count]);
    while (recorder_total > 0)
        recorder_free(recorders[--recorder_total]);
    proxy_stop(proxy);
    proxy_stop(their_proxy);
    return 0;
}

static void *new_lock_with(zkr_session *s, uint32_t flags)
{
    void *lock = NULL;

    assert_true(lock_count < MAX_THINGS);
    ok(recipe->make(s, path, recipe->flags | flags, &lock));
    locks[lock_count++] = lock;
    return lock;
}

static void *new_lock(zkr_session *s)
{
    return new_lock_with(s, 0);
}

static void free_lock(void *lock)
{
    for (size_t i = 0; i < lock_count; i++) {
        if (locks[i] == lock)
            locks[i] = NULL;
    }
    recipe->free(lock);
}

static struct contender *contender_of(void *lock)
{
    struct contender *c;

    assert_true(contender_count < MAX_THINGS);
    c = contender_start(recipe, lock);
    contenders[contender_count++] = c;
    return c;
}

/* With a lock object of its own. */
static struct contender *one_of(zkr_session *s)
{
    return contender_of(new_lock(s));
}

static struct recorder *new_recorder(void)
{
    struct recorder *r = recorder_new();

    assert_non_null(r);
    assert_true(recorder_total < MAX_THINGS);
    recorders[recorder_total++] = r;
    return r;
}

static int recorded(struct recorder *r, size_t i)
{
    int code = 0;

    assert_true(recorder_wait(r, i + 1, SOON_MS));
    assert_true(recorder_get(r, i, &code, NULL));
    return code;
}

static bool has(unsigned trait)
{
    unsigned async = recipe->acquire_async == NULL ? 0 : ASYNC;

    return ((recipe->traits | async) & trait) == trait;
}

/* -- what contenders do --------------------------------------------------- */

/* Of its command, which must succeed. */
static void succeeds(struct contender *c)
{
    int rc = contender_rc(c);

    if (rc != ZKR_OK)
        fail_msg("%s: %s", zkr_strerror(rc), c->detail);
}

static int try_for(struct contender *c, int64_t timeout_ms)
{
    contender_acquire(c, timeout_ms);
    return contender_rc(c);
}

static void hold(struct contender *c)
{
    contender_acquire(c, SOON_MS);
    succeeds(c);
}

static int release_by(struct contender *c)
{
    contender_release(c, c->grant);
    return contender_rc(c);
}

static void gives_up_in_time(struct contender *c)
{
    struct stopwatch *w = stopwatch_start();

    assert_int_equal(try_for(c, 100), ZKR_ETIMEDOUT);
    assert_true(stopwatch_says(w, 100, 2000));
}

static void is_left_pending_in_time(struct contender *c)
{
    struct stopwatch *w = stopwatch_start();

    assert_int_equal(release_by(c), ZKR_EPENDING);
    assert_true(stopwatch_says(w, REPLY_MS, REPLY_MS + 2000));
}

/* Has the release that it was asked for ended well, maybe late? */
static bool has_released(struct contender *c)
{
    int rc = contender_rc(c); /* before its time is read */

    return is_released(rc, c->took_ms, REPLY_MS);
}

static void give_back(struct contender *c)
{
    contender_release(c, c->grant);
    if (!has_released(c))
        succeeds(c);
    contender_forget(c);
}

static size_t waiting(void)
{
    return count_waiting(ours, path) + count_waiting(theirs, path);
}

static bool as_many_wait(void *count)
{
    return waiting() == *(size_t *)count;
}

static void wait_waiting(size_t count)
{
    if (!wait_until(as_many_wait, &count, SOON_MS))
        fail_msg("%zu wait, not %zu", waiting(), count);
}

/* Returns when it has its place in the queue and its watch. */
static void let_wait(struct contender *c)
{
    size_t before = waiting();

    contender_acquire(c, -1);
    wait_waiting(before + 1);
}

/* Through a lock object that no other has. */
static void gives_up(struct contender *c)
{
    ok(recipe->cancel(c->lock));
    assert_int_equal(contender_rc(c), ZKR_ECANCELED);
}

/* How many nodes so many contenders have. */
static size_t nodes(size_t holders, size_t waiters)
{
    return has(QUEUES) ? holders + waiters : holders;
}

struct turn {
    struct contender **waiting;
    size_t count;
    size_t who; /* has been granted */
};

static bool somebody_is_granted(void *arg)
{
    struct turn *t = arg;

    for (t->who = 0; t->who < t->count; t->who++) {
        if (!contender_is_busy(t->waiting[t->who]))
            return true;
    }
    return false;
}

/* The lock is free now: those who wait are granted, one at a time, and each
 * gives it back. `waiting` is in order; it is empty afterwards. */
static void take_turns(struct contender **waiting, size_t count)
{
    for (; count > 0; count--) {
        struct turn t = { waiting, count, 0 };
        struct contender *c;

        if (!wait_until(somebody_is_granted, &t, SOON_MS))
            fail_msg("none of %zu is granted", count);
        c = waiting[t.who];
        succeeds(c);
        if (has(FAIR))
            assert_int_equal(t.who, 0);
        memmove(&waiting[t.who], &waiting[t.who + 1],
                (count - t.who - 1) * sizeof(struct contender *));
        for (size_t i = 0; i + 1 < count; i++)
            assert_true(contender_is_busy(waiting[i]));
        assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
        give_back(c);
    }
}

/* The directory exists from here on. */
static void make_directory(void)
{
    struct contender *c = one_of(theirs);

    hold(c);
    give_back(c);
}

/* -- taking turns --------------------------------------------------------- */

struct crowd {
    pthread_t thread;
    void *lock;
    atomic_int *counter;
    int rounds;
    int failed;
};

/* Two steps, so that a second holder would lose a count. Relaxed, for the order
 * is to come from the lock alone. */
static void count_up(atomic_int *counter)
{
    int n = atomic_load_explicit(counter, memory_order_relaxed);

    (void)sched_yield();
    atomic_store_explicit(counter, n + 1, memory_order_relaxed);
}

static int enter_again(void *lock)
{
    zkr_grant *g = NULL;
    int rc = recipe->acquire(lock, 0, &g);

    if (rc != ZKR_OK)
        return rc;
    rc = recipe->release(lock, g);
    recipe->forget(lock, g);
    return rc;
}

static void *crowd_main(void *arg)
{
    struct crowd *c = arg;

    for (int i = 0; i < c->rounds; i++) {
        zkr_grant *g = NULL;
        int64_t began_ms;
        int rc;

        if (recipe->acquire(c->lock, SOON_MS, &g) != ZKR_OK) {
            c->failed++;
            continue;
        }
        rc = zkr_grant_check(g); /* on a busy machine a proof may be late */
        c->failed += rc != ZKR_OK && rc != ZKR_EUNSURE;
        if (has(REENTRANT))
            c->failed += enter_again(c->lock) != ZKR_OK;
        count_up(c->counter);
        began_ms = now_ms();
        rc = recipe->release(c->lock, g);
        c->failed += !is_released(rc, now_ms() - began_ms, REPLY_MS);
        recipe->forget(c->lock, g);
    }
    return NULL;
}

static void holders_never_overlap(void **state)
{
    enum { THREADS = 9, ROUNDS = 10 };
    struct crowd crowd[THREADS];
    void *shared[] = { new_lock(ours), new_lock(theirs) };
    atomic_int counter = 0;
    int failed = 0;

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        crowd[i] = (struct crowd){
            .lock = i % 3 == 2 ? new_lock(ours) : shared[i % 3],
            .counter = &counter,
            .rounds = ROUNDS,
        };
        assert_int_equal(
            pthread_create(&crowd[i].thread, NULL, crowd_main, &crowd[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(crowd[i].thread, NULL), 0);
        failed += crowd[i].failed;
    }
    assert_int_equal(failed, 0);
    assert_int_equal(counter, THREADS * ROUNDS);
    wait_children(path, 0);
}

/* The recipe shipped with ZooKeeper takes the session for the owner: two
 * mutexes of one session both held the lock. */
static void a_holder_excludes_everybody_else(void **state)
{
    struct contender *holder = one_of(ours);
    struct contender *others[] = { contender_of(holder->lock), one_of(ours),
                                   one_of(theirs) };

    (void)state;
    hold(holder);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(try_for(others[i], 0), ZKR_EBUSY);
    for (size_t i = 0; i < 3; i++)
        let_wait(others[i]);
    assert_int_equal(count_children(path), nodes(1, 3));
    give_back(holder);
    take_turns(others, 3);
    assert_int_equal(count_children(path), 0);
}

static void waiters_are_granted_in_the_order_of_their_nodes(void **state)
{
    enum { N = 5 };
    struct contender *holder = one_of(ours);
    struct contender *w[N];
    int64_t last;

    (void)state;
    hold(holder);
    last = zkr_grant_token(holder->grant);
    for (size_t i = 0; i < N; i++) {
        w[i] = one_of(i % 2 == 0 ? ours : theirs);
        let_wait(w[i]);
    }
    give_back(holder);
    for (size_t i = 0; i < N; i++) {
        succeeds(w[i]);
        for (size_t later = i + 1; later < N; later++)
            assert_true(contender_is_busy(w[later]));
        assert_true(zkr_grant_token(w[i]->grant) > last);
        last = zkr_grant_token(w[i]->grant);
        assert_int_equal(count_children(path), N - i);
        give_back(w[i]);
    }
}

static void of_many_that_try_at_once_one_succeeds(void **state)
{
    enum { N = 10 };
    struct contender *c[N];
    size_t won = 0;

    (void)state;
    for (size_t i = 0; i < N; i++)
        c[i] = one_of(i % 2 == 0 ? ours : theirs);
    for (size_t i = 0; i < N; i++)
        contender_acquire(c[i], 0);
    for (size_t i = 0; i < N; i++) {
        if (contender_rc(c[i]) == ZKR_OK)
            won++;
        else
            assert_int_equal(c[i]->rc, ZKR_EBUSY);
    }
    assert_int_equal(won, 1);
    wait_children(path, 1);
}

static void a_try_of_a_held_lock_writes_nothing(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);
    struct Stat before;
    struct Stat after;

    (void)state;
    hold(holder);
    assert_int_equal(admin_exists(admin, path, &before), ZOK);
    assert_int_equal(try_for(c, 0), ZKR_EBUSY);
    assert_int_equal(admin_exists(admin, path, &after), ZOK);
    assert_int_equal(before.cversion, after.cversion);
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_OK);
    give_back(holder);
    assert_int_equal(try_for(c, 0), ZKR_OK);
    give_back(c);
}

static void tokens_grow_also_when_the_directory_is_created_anew(void **state)
{
    struct contender *c = one_of(ours);
    int64_t last = 0;

    (void)state;
    for (int i = 0; i < 6; i++) {
        hold(c);
        assert_true(zkr_grant_token(c->grant) > last);
        last = zkr_grant_token(c->grant);
        if (has(QUEUES)) /* the number in the name starts again */
            assert_non_null(strstr(zkr_grant_node(c->grant),
                                   i % 2 == 0 ? "0000000000" : "0000000001"));
        give_back(c);
        assert_int_equal(count_children(path), 0);
        if (i % 2 == 1)
            assert_int_equal(admin_delete(admin, path), ZOK);
    }
}

/* A foreign child crashed the official recipe, and blocks Curator for ever. */
static void foreign_children_disturb_nobody(void **state)
{
    static const char *const foreign[] = { "0",     "-x",
                                           "notes", "lock-",
                                           "zzz",   "_c_-latch-0000000000" };
    const size_t count = sizeof(foreign) / sizeof(foreign[0]);
    struct contender *c = one_of(ours);
    struct contender *next = one_of(theirs);
    char child[128];

    (void)state;
    make_directory();
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(child, sizeof(child), "%s/%s", path, foreign[i]);
        assert_int_equal(admin_create(admin, child, NULL), ZOK);
    }
    assert_int_equal(try_for(c, 0), ZKR_OK);
    let_wait(next);
    assert_int_equal(count_children(path), count + nodes(1, 1));
    give_back(c);
    succeeds(next);
    give_back(next);
    assert_int_equal(count_children(path), count);
    assert_int_equal(admin_delete_tree(admin, path), ZOK);
}

/* Of all sessions, on nodes of this lock: "path\n\tsession\n\tsession\n..." */
static size_t count_watches(void)
{
    char *wchp = server_4lw(the_server, "wchp");
    size_t len = strlen(path);
    size_t count = 0;
    bool here = false;
    char *rest = NULL;

    for (char *line = wchp == NULL ? NULL : strtok_r(wchp, "\n", &rest);
         line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == '\t')
            count += here;
        else
            here = strncmp(line, path, len) == 0 && line[len] == '/';
    }
    free(wchp);
    return count;
}

static bool as_many_watch(void *count)
{
    return count_watches() == *(size_t *)count;
}

static void wait_watches(size_t count)
{
    if (!wait_until(as_many_watch, &count, SOON_MS))
        fail_msg("%zu watches, not %zu", count_watches(), count);
}

static void many_rounds_leave_no_node_and_no_watch(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    for (int i = 0; i < 50; i++) {
        hold(c);
        assert_int_equal(count_children(path), 1);
        give_back(c);
    }
    assert_int_equal(count_children(path), 0);
    wait_watches(0);
}

/* The deletion of the holder's node would hide what they leave. */
static void many_waits_given_up_leave_no_node_and_no_watch(void **state)
{
    struct contender *holder = one_of(ours);
    struct contender *others[] = { one_of(ours), one_of(theirs) };

    (void)state;
    hold(holder);
    ok(zkr_grant_listen(holder->grant, record_grant, new_recorder()));
    wait_watches(1);
    for (int i = 0; i < 10; i++) {
        let_wait(others[i % 2]); /* watches the node of the holder */
        let_wait(others[1 - i % 2]);
        gives_up(others[1 - i % 2]);
        gives_up(others[i % 2]);
    }
    wait_children(path, 1);
    wait_watches(1);
    delete_nth_child(path, 0); /* the holder's own watch is still there */
    wait_grant_state(holder->grant, ZKR_GRANT_LOST);
    ok(zkr_grant_listen(holder->grant, NULL, NULL));
}

/* -- giving up ------------------------------------------------------------ */

static void a_wait_that_times_out_leaves_nothing(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);

    (void)state;
    hold(holder);
    gives_up_in_time(c);
    assert_non_null(strstr(c->detail, path));
    wait_children(path, 1);
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_OK);
    give_back(holder);
    hold(c);
    give_back(c);
}

/* A dead waiter in the middle: the one behind it must neither be granted nor
 * forgotten. */
static void a_waiter_that_leaves_wakes_nobody_and_breaks_no_chain(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *middle = one_of(ours);
    struct contender *last = one_of(theirs);

    (void)state;
    hold(holder);
    let_wait(middle);
    let_wait(last);
    gives_up(middle);
    wait_children(path, nodes(1, 1));
    wait_waiting(1); /* for the holder now */
    assert_true(contender_is_busy(last));
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_OK);
    give_back(holder);
    succeeds(last);
    give_back(last);
}

static void a_cancelled_wait_leaves_nothing_and_later_ones_work(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);
    struct contender *same = contender_of(c->lock);
    struct contender *bystander = one_of(ours);

    (void)state;
    hold(holder);
    let_wait(c);
    let_wait(same);
    let_wait(bystander);
    ok(recipe->cancel(c->lock));
    assert_int_equal(contender_rc(c), ZKR_ECANCELED);
    assert_int_equal(contender_rc(same), ZKR_ECANCELED);
    wait_children(path, nodes(1, 1));
    assert_true(contender_is_busy(bystander));
    give_back(holder);
    succeeds(bystander);
    give_back(bystander);
    ok(recipe->cancel(c->lock)); /* nobody waits */
    hold(c);
    ok(recipe->cancel(c->lock)); /* it does not wait any more */
    assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
    give_back(c);
}

static void freeing_the_lock_ends_the_waits_through_it(void **state)
{
    struct contender *holder = one_of(ours);
    struct contender *c = one_of(ours);
    struct contender *same = contender_of(c->lock);
    struct recorder *r = new_recorder();

    (void)state;
    hold(holder);
    let_wait(c);
    let_wait(same);
    if (has(ASYNC)) {
        ok(recipe->acquire_async(c->lock, -1, record_acquire, r, NULL));
        wait_waiting(3);
    }
    free_lock(c->lock);
    assert_int_equal(contender_rc(c), ZKR_ECANCELED);
    assert_int_equal(contender_rc(same), ZKR_ECANCELED);
    if (has(ASYNC))
        assert_int_equal(recorded(r, 0), ZKR_ECANCELED);
    wait_children(path, 1);
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_OK);
    give_back(holder);
}

static void closing_the_session_ends_waits_and_grants(void **state)
{
    struct contender *holder = one_of(ours);
    struct contender *c = one_of(ours);
    struct contender *next = one_of(theirs);
    struct recorder *events = new_recorder();
    struct recorder *r = new_recorder();

    (void)state;
    hold(holder);
    ok(zkr_grant_listen(holder->grant, record_grant, events));
    let_wait(c);
    let_wait(next);
    if (has(ASYNC)) {
        ok(recipe->acquire_async(c->lock, -1, record_acquire, r, NULL));
        wait_waiting(3);
    }
    close_ours();
    assert_int_equal(contender_rc(c), ZKR_ECLOSED);
    assert_int_equal(recorder_count(events), 1); /* before close returns */
    assert_int_equal(recorded(events, 0), ZKR_GRANT_LOST);
    if (has(ASYNC)) {
        assert_int_equal(recorder_count(r), 1);
        assert_int_equal(recorded(r, 0), ZKR_ECLOSED);
        assert_int_equal(
            recipe->acquire_async(c->lock, -1, record_acquire, r, NULL),
            ZKR_ECLOSED);
    }
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_ELOST);
    assert_int_equal(release_by(holder), ZKR_ELOST);
    assert_int_equal(try_for(c, -1), ZKR_ECLOSED);
    succeeds(next);
    assert_int_equal(count_children(path), 1);
    give_back(next);
}

static void a_grant_outlives_the_lock_object(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    hold(c);
    free_lock(c->lock);
    assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
    assert_int_equal(count_children(path), 1);
    give_back(c);
    assert_int_equal(count_children(path), 0);
}

static void freeing_the_lock_object_releases_what_is_held(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    hold(c);
    free_lock(c->lock);
    c->grant = NULL;
    wait_children(path, 0);
}

static void freeing_a_held_grant_releases_it(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    hold(c);
    contender_forget(c);
    wait_children(path, 0);
    hold(c);
    give_back(c);
}

/* -- wrong releases ------------------------------------------------------- */

static void a_second_release_is_refused_and_harms_nobody(void **state)
{
    struct contender *c = one_of(ours);
    struct contender *next = one_of(ours);

    (void)state;
    hold(c);
    contender_release(c, c->grant);
    assert_true(has_released(c));
    assert_int_equal(release_by(c), ZKR_ENOTHELD);
    hold(next);
    assert_int_equal(release_by(c), ZKR_ENOTHELD);
    if (!has(KEEPS_GRANTS)) {
        assert_int_equal(zkr_grant_check(c->grant), ZKR_ENOTHELD);
        assert_int_equal(zkr_grant_release_async(c->grant, NULL, NULL),
                         has(THREAD_OWNED) ? ZKR_ENOTOWNER : ZKR_ENOTHELD);
    }
    assert_int_equal(zkr_grant_check(next->grant), ZKR_OK);
    assert_int_equal(count_children(path), 1);
    give_back(next);
}

static void null_is_refused(void **state)
{
    zkr_grant *none = NULL;

    (void)state;
    assert_int_equal(recipe->acquire(NULL, 0, &none), ZKR_EINVAL);
    assert_null(none);
    assert_int_equal(recipe->release(NULL, NULL), ZKR_EINVAL);
    assert_int_equal(recipe->cancel(NULL), ZKR_EINVAL);
    recipe->forget(NULL, NULL);
    recipe->free(NULL);
}

static void only_the_owner_releases(void **state)
{
    struct contender *c = one_of(ours);
    struct contender *thief = contender_of(c->lock);

    (void)state;
    hold(c);
    proxy_reset_counts(proxy);
    contender_release(thief, c->grant);
    assert_int_equal(contender_rc(thief), ZKR_ENOTOWNER);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 0);
    assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
    assert_int_equal(zkr_grant_depth(c->grant), 1);
    give_back(c);
}

static void any_thread_releases(void **state)
{
    struct contender *c = one_of(ours);
    struct contender *helper = one_of(theirs);

    (void)state;
    hold(c);
    contender_release(helper, c->grant);
    assert_true(has_released(helper));
    wait_children(path, 0);
    assert_int_equal(release_by(c), ZKR_ENOTHELD);
}

static void its_owner_waits_for_itself_like_for_anybody(void **state)
{
    struct contender *c = one_of(ours);
    zkr_grant *first;

    (void)state;
    hold(c);
    first = c->grant;
    assert_int_equal(try_for(c, 0), ZKR_EBUSY);
    assert_int_equal(try_for(c, 50), ZKR_ETIMEDOUT);
    assert_ptr_equal(c->grant, first);
    assert_int_equal(zkr_grant_check(first), ZKR_OK);
    give_back(c);
}

static void it_is_held_until_released_as_often_as_acquired(void **state)
{
    enum { DEPTH = 3 };
    struct contender *c = one_of(ours);
    struct contender *same = contender_of(c->lock);
    struct contender *waiter = one_of(theirs);

    (void)state;
    hold(c);
    let_wait(waiter);
    proxy_reset_counts(proxy);
    for (uint32_t i = 2; i <= DEPTH; i++) {
        assert_int_equal(try_for(c, 0), ZKR_OK);
        assert_int_equal(zkr_grant_depth(c->grant), i);
    }
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 0);
    assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN_OP), 0);
    for (uint32_t i = DEPTH; i > 1; i--) {
        zkr_grant *g = c->grant;

        assert_int_equal(try_for(same, 0), ZKR_EBUSY);
        give_back(c); /* one handle of several */
        c->grant = g;
        assert_int_equal(zkr_grant_depth(g), i - 1);
        assert_int_equal(zkr_grant_check(g), ZKR_OK);
        assert_true(contender_is_busy(waiter));
    }
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 0);
    give_back(c);
    succeeds(waiter);
    give_back(waiter);
}

/* -- requests and replies that are lost ----------------------------------- */

/* The classic: the node exists, and we do not know. */
static void a_lost_create_reply_makes_no_second_node(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    make_directory();
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    hold(c);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
    give_back(c);
    assert_int_equal(count_children(path), 0);
}

static void a_lost_create_reply_keeps_the_place_in_the_queue(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);
    struct contender *last = one_of(theirs);

    (void)state;
    hold(holder);
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    contender_acquire(c, -1);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    wait_waiting(1);
    let_wait(last);
    assert_int_equal(count_children(path), 3);
    give_back(holder);
    succeeds(c);
    assert_true(contender_is_busy(last));
    give_back(c);
    succeeds(last);
    give_back(last);
    assert_int_equal(count_children(path), 0);
}

static void a_lost_create_request_is_sent_again(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    make_directory();
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REQUEST);
    hold(c);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
    give_back(c);
    assert_int_equal(count_children(path), 0);
}

/* Curator loses the node here (its two nested retry loops). */
static void a_create_lost_twice_makes_one_node(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    make_directory();
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REQUEST);
    proxy_rule(proxy, ZOO_CREATE2_OP, 2, PROXY_DROP_REPLY);
    hold(c);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
    give_back(c);
    assert_int_equal(count_children(path), 0);
}

/* Given up while nobody knows whether the node exists: it must not stay. */
static void
a_wait_that_ends_before_its_create_is_known_leaves_nothing(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    make_directory();
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REPLY);
    assert_int_equal(try_for(c, 100), ZKR_ETIMEDOUT);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    assert_int_equal(count_children(path), 1);
    proxy_cut(proxy); /* the reply is lost for good */
    proxy_heal(proxy);
    wait_children(path, 0);
    hold(c);
    give_back(c);
}

static void release_without(enum proxy_action action)
{
    struct contender *c = one_of(ours);
    struct contender *next = one_of(theirs);
    int rc;

    hold(c);
    let_wait(next);
    proxy_rule(proxy, ZOO_DELETE_OP, 1, action);
    rc = release_by(c);
    assert_true(rc == ZKR_OK || rc == ZKR_EPENDING);
    assert_true(proxy_rule_done(proxy));
    contender_forget(c);
    succeeds(next);
    wait_children(path, 1);
    give_back(next);
}

static void a_lost_delete_reply_is_a_release(void **state)
{
    (void)state;
    release_without(PROXY_DROP_REPLY);
}

static void a_lost_delete_request_is_sent_again(void **state)
{
    (void)state;
    release_without(PROXY_DROP_REQUEST);
}

/* The recipe shipped with ZooKeeper takes this for a failure. */
static void a_holder_that_leaves_before_it_is_watched_is_seen(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);

    (void)state;
    hold(holder);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    contender_acquire(c, -1);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    give_back(holder);
    assert_true(contender_is_busy(c));
    proxy_release(proxy);
    succeeds(c);
    assert_int_equal(count_children(path), 1);
    give_back(c);
}

static void a_vanished_predecessor_costs_nobody_its_place(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *middle = one_of(theirs);
    struct contender *c = one_of(ours);
    char *place;
    char *same_place;

    (void)state;
    hold(holder);
    let_wait(middle);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    contender_acquire(c, -1);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    place = nth_child(path, 2);
    delete_nth_child(path, 1);
    proxy_release(proxy);
    wait_waiting(2); /* it waits for the holder now */
    same_place = nth_child(path, 1);
    assert_string_equal(place, same_place);
    free(place);
    free(same_place);
    give_back(holder);
    succeeds(c);
    wait_waiting(1); /* the one in the middle, behind us */
    give_back(c);
    succeeds(middle);
    give_back(middle);
}

static void a_lost_watch_reply_loses_no_wake_up(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);

    (void)state;
    hold(holder);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_DROP_REPLY);
    contender_acquire(c, -1);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    give_back(holder);
    succeeds(c);
    give_back(c);
}

/* -- connections that break ----------------------------------------------- */

static void cut_off(void)
{
    proxy_cut(proxy);
    wait_session_state(ours, ZKR_SESSION_SUSPENDED);
}

static void a_disconnect_costs_neither_the_lock_nor_the_place(void **state)
{
    struct contender *holder = one_of(ours);
    struct contender *waiting[] = { one_of(ours), one_of(theirs) };
    struct recorder *r = new_recorder();
    char *place;
    char *same_place;
    int64_t token;

    (void)state;
    hold(holder);
    token = zkr_grant_token(holder->grant);
    ok(zkr_grant_listen(holder->grant, record_grant, r));
    let_wait(waiting[0]);
    let_wait(waiting[1]);
    place = nth_child(path, nodes(1, 1) - 1);
    proxy_reset_counts(proxy);
    proxy_cut(proxy);
    wait_grant_state(holder->grant, ZKR_GRANT_SUSPENDED);
    proxy_heal(proxy);
    wait_grant_state(holder->grant, ZKR_GRANT_HELD);
    assert_true(zkr_grant_token(holder->grant) == token);
    assert_int_equal(recorded(r, 0), ZKR_GRANT_SUSPENDED);
    assert_int_equal(recorded(r, 1), ZKR_GRANT_HELD);
    assert_true(proxy_requests(proxy, ZOO_MULTI_OP) >= 1); /* a write */
    same_place = nth_child(path, nodes(1, 1) - 1);
    assert_string_equal(place, same_place);
    free(place);
    free(same_place);
    assert_int_equal(count_children(path), nodes(1, 2));
    ok(zkr_grant_listen(holder->grant, NULL, NULL));
    give_back(holder);
    take_turns(waiting, 2);
}

/* RECONNECTED proves nothing: its node may have been deleted meanwhile. */
static void a_holder_replaced_while_cut_off_is_not_held_again(void **state)
{
    struct contender *c = one_of(ours);
    struct contender *next = one_of(theirs);
    struct recorder *r = new_recorder();

    (void)state;
    hold(c);
    ok(zkr_grant_listen(c->grant, record_grant, r));
    let_wait(next);
    cut_off();
    delete_nth_child(path, 0);
    succeeds(next);
    proxy_heal(proxy);
    wait_grant_state(c->grant, ZKR_GRANT_LOST);
    assert_int_equal(recorded(r, 0), ZKR_GRANT_SUSPENDED);
    assert_int_equal(recorded(r, 1), ZKR_GRANT_LOST);
    assert_int_equal(release_by(c), ZKR_ELOST);
    assert_int_equal(zkr_grant_check(next->grant), ZKR_OK);
    give_back(next);
}

/* The client sets its watches again, and the server tells what was missed. */
static void a_wake_up_missed_while_cut_off_comes_later(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);

    (void)state;
    hold(holder);
    let_wait(c);
    cut_off();
    give_back(holder);
    proxy_heal(proxy);
    succeeds(c);
    give_back(c);
}

static void a_wait_that_ends_while_cut_off_leaves_nothing(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *c = one_of(ours);

    (void)state;
    hold(holder);
    let_wait(c);
    cut_off();
    gives_up(c);
    gives_up_in_time(c);
    assert_non_null(strstr(c->detail, "connection"));
    assert_int_equal(try_for(c, 0), ZCONNECTIONLOSS);
    proxy_heal(proxy);
    wait_children(path, 1);
    give_back(holder);
    hold(c);
    give_back(c);
}

/* CURATOR-678: it forgets the node when the delete fails, and then queues
 * behind itself. */
static void a_release_while_cut_off_is_made_up_for(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    hold(c);
    cut_off();
    is_left_pending_in_time(c);
    assert_int_equal(release_by(c), ZKR_ENOTHELD);
    contender_forget(c);
    contender_acquire(c, SOON_MS); /* begins before it is connected again */
    proxy_heal(proxy);
    succeeds(c);
    assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
    wait_children(path, 1);
    give_back(c);
    assert_int_equal(count_children(path), 0);
}

static void deadlines_hold_while_the_server_is_silent(void **state)
{
    struct contender *holder = one_of(ours);
    struct contender *c = one_of(ours);

    (void)state;
    hold(holder);
    proxy_freeze(proxy);
    gives_up_in_time(c);
    is_left_pending_in_time(holder);
    proxy_heal(proxy);
    wait_children(path, 0);
}

/* Curator testWaitingProcessKilledServer, and the official WriteLockTest */
/* A server forgets clients that connect while it starts, and their sessions may
 * end before they try again. */
static void restart_alone(void)
{
    proxy_cut(proxy);
    proxy_cut(their_proxy);
    restart_server();
    proxy_heal(proxy);
    proxy_heal(their_proxy);
}

static void a_server_restart_costs_neither_the_lock_nor_the_place(void **state)
{
    struct contender *holder = one_of(ours);
    struct contender *waiting[] = { one_of(theirs), one_of(ours) };

    (void)state;
    hold(holder);
    let_wait(waiting[0]);
    let_wait(waiting[1]);
    server_kill9(the_server);
    wait_grant_state(holder->grant, ZKR_GRANT_SUSPENDED);
    restart_alone();
    wait_grant_state(holder->grant, ZKR_GRANT_HELD);
    assert_true(contender_is_busy(waiting[0]));
    assert_true(contender_is_busy(waiting[1]));
    give_back(holder);
    take_turns(waiting, 2);
}

/* -- nodes and sessions that end ------------------------------------------ */

/* After an operator's delete, kazoo and Curator go on believing. */
static void a_holder_whose_node_is_deleted_is_told(void **state)
{
    struct contender *c = one_of(ours);
    struct contender *next = one_of(theirs);
    struct recorder *r = new_recorder();

    (void)state;
    hold(c);
    ok(zkr_grant_listen(c->grant, record_grant, r));
    let_wait(next);
    delete_nth_child(path, 0);
    succeeds(next);
    assert_int_equal(recorded(r, 0), ZKR_GRANT_LOST);
    assert_int_equal(zkr_grant_check(c->grant), ZKR_ELOST);
    assert_int_equal(release_by(c), ZKR_ELOST);
    contender_forget(c);
    assert_int_equal(zkr_grant_check(next->grant), ZKR_OK);
    give_back(next);
    hold(c);
    give_back(c);
}

static void a_holder_that_does_not_listen_learns_it_too(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    hold(c);
    delete_nth_child(path, 0);
    wait_grant_state(c->grant, ZKR_GRANT_LOST);
}

static void a_waiter_whose_node_is_deleted_queues_again(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *first = one_of(ours);
    struct contender *second = one_of(theirs);

    (void)state;
    hold(holder);
    let_wait(first);
    let_wait(second);
    delete_nth_child(path, 1);
    give_back(holder); /* the first notices at its turn */
    succeeds(second);
    assert_true(contender_is_busy(first));
    give_back(second);
    succeeds(first);
    assert_int_equal(zkr_grant_check(first->grant), ZKR_OK);
    give_back(first);
}

static void a_directory_emptied_under_everybody_costs_no_progress(void **state)
{
    struct contender *holder = one_of(ours);
    struct contender *c = one_of(theirs);

    (void)state;
    hold(holder);
    let_wait(c);
    for (size_t i = nodes(1, 1); i > 0; i--)
        delete_nth_child(path, i - 1);
    succeeds(c);
    wait_grant_state(holder->grant, ZKR_GRANT_LOST);
    give_back(c);
}

static size_t count_lost(struct recorder *r)
{
    size_t lost = 0;

    for (size_t i = 0; i < recorder_count(r); i++)
        lost += recorded(r, i) == ZKR_GRANT_LOST;
    return lost;
}

/* By the dispatcher, a little after the state has changed. */
static bool has_been_told_lost(void *r)
{
    return count_lost(r) > 0;
}

static void
a_holder_whose_session_ends_is_told_and_the_next_is_granted(void **state)
{
    struct contender *c = one_of(ours);
    struct contender *next = one_of(theirs);
    struct recorder *r = new_recorder();

    (void)state;
    hold(c);
    ok(zkr_grant_listen(c->grant, record_grant, r));
    let_wait(next);
    expire(ours);
    succeeds(next);
    wait_grant_state(c->grant, ZKR_GRANT_LOST);
    assert_true(wait_until(has_been_told_lost, r, SOON_MS));
    wait_session_state(ours, ZKR_SESSION_RECONNECTED);
    assert_int_equal(zkr_grant_check(c->grant), ZKR_ELOST);
    assert_int_equal(release_by(c), ZKR_ELOST);
    assert_int_equal(count_lost(r), 1);
    contender_forget(c);
    assert_int_equal(zkr_grant_check(next->grant), ZKR_OK);
    give_back(next);
    hold(c);
    give_back(c);
}

/* Curator says "acquired" here, while another client holds the lock. */
static void
after_a_loss_it_is_released_as_often_before_it_is_held_anew(void **state)
{
    struct contender *c = one_of(ours);
    struct contender *same = contender_of(c->lock);
    zkr_grant *g;

    (void)state;
    hold(c);
    hold(c);
    g = c->grant;
    delete_nth_child(path, 0);
    wait_grant_state(g, ZKR_GRANT_LOST);
    hold(same); /* others may */
    assert_int_equal(try_for(c, SOON_MS), ZKR_ELOST);
    assert_int_equal(zkr_grant_depth(g), 2);
    assert_int_equal(release_by(c), ZKR_ELOST);
    contender_forget(c);
    assert_int_equal(try_for(c, SOON_MS), ZKR_ELOST);
    c->grant = g;
    assert_int_equal(release_by(c), ZKR_ELOST);
    contender_forget(c);
    assert_int_equal(try_for(c, 0), ZKR_EBUSY);
    give_back(same);
    assert_int_equal(try_for(c, 0), ZKR_OK);
    give_back(c);
}

/* kazoo test_lock_reconnect; Curator testKilledSession */
static void a_waiter_whose_session_ends_queues_again(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *first = one_of(ours);
    struct contender *second = one_of(theirs);
    struct contender *new_order[] = { second, first };

    (void)state;
    hold(holder);
    let_wait(first);
    let_wait(second);
    expire(ours);
    wait_session_state(ours, ZKR_SESSION_RECONNECTED);
    wait_waiting(2);
    wait_children(path, nodes(1, 2));
    give_back(holder);
    take_turns(new_order, 2);
}

static void a_waiter_may_ask_to_fail_when_its_session_ends(void **state)
{
    struct contender *holder = one_of(theirs);
    struct contender *c =
        contender_of(new_lock_with(ours, recipe->fail_on_session_loss));

    (void)state;
    hold(holder);
    let_wait(c);
    expire(ours);
    assert_int_equal(contender_rc(c), ZKR_ELOST);
    assert_int_equal(count_children(path), 1);
    wait_session_state(ours, ZKR_SESSION_RECONNECTED);
    give_back(holder);
    hold(c);
    give_back(c);
}

/* CURATOR-498, -604: the node of the session before was taken for ours. */
static void a_session_that_ends_while_creating_leaves_one_node(void **state)
{
    struct contender *c = one_of(ours);

    (void)state;
    make_directory();
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REPLY);
    contender_acquire(c, SOON_MS);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    expire(ours);
    proxy_cut(proxy);
    proxy_heal(proxy);
    succeeds(c);
    assert_int_equal(zkr_session_epoch(ours), 2);
    assert_int_equal(count_children(path), 1);
    assert_int_equal(zkr_grant_check(c->grant), ZKR_OK);
    give_back(c);
    assert_int_equal(count_children(path), 0);
}

static void a_session_that_ends_while_releasing_has_released(void **state)
{
    struct contender *c = one_of(ours);
    int rc;

    (void)state;
    hold(c);
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_HOLD_REQUEST);
    contender_release(c, c->grant);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    expire(ours);
    proxy_cut(proxy);
    proxy_heal(proxy);
    rc = contender_rc(c);
    assert_true(rc == ZKR_OK || rc == ZKR_EPENDING);
    contender_forget(c);
    assert_int_equal(count_children(path), 0);
    hold(c);
    give_back(c);
}

/* -- without a waiting thread --------------------------------------------- */

static void claims_are_granted_one_after_the_other(void **state)
{
    enum { N = 20 };
    void *lock = new_lock(ours);
    struct recorder *r = new_recorder();
    int64_t last = 0;

    (void)state;
    for (int i = 0; i < N; i++)
        ok(recipe->acquire_async(lock, -1, record_acquire, r, NULL));
    for (size_t i = 0; i < N; i++) {
        zkr_grant *g;

        assert_int_equal(recorded(r, i), ZKR_OK);
        g = recorded_grant(r, i);
        assert_int_equal(recorder_count(r), i + 1);
        assert_int_equal(zkr_grant_check(g), ZKR_OK);
        assert_true(zkr_grant_token(g) > last);
        last = zkr_grant_token(g);
        ok(zkr_grant_release_async(g, NULL, NULL));
        zkr_grant_free(g);
    }
    wait_children(path, 0);
}

static void a_claim_can_be_cancelled(void **state)
{
    struct contender *holder = one_of(theirs);
    void *lock = new_lock(ours);
    struct recorder *r = new_recorder();
    zkr_request *request = NULL;

    (void)state;
    hold(holder);
    ok(recipe->acquire_async(lock, -1, record_acquire, r, &request));
    wait_waiting(1);
    ok(zkr_request_cancel(request));
    ok(zkr_request_cancel(request));
    zkr_request_free(request);
    assert_int_equal(recorded(r, 0), ZKR_ECANCELED);
    wait_children(path, 1);
    give_back(holder);
    /* A cancel is for one attempt, not for the next (kazoo's poison). */
    ok(recipe->acquire_async(lock, -1, record_acquire, r, NULL));
    assert_int_equal(recorded(r, 1), ZKR_OK);
    assert_int_equal(recorder_count(r), 2);
    zkr_grant_free(recorded_grant(r, 1));
    wait_children(path, 0);
}

static void a_claim_times_out(void **state)
{
    struct contender *holder = one_of(theirs);
    void *lock = new_lock(ours);
    struct recorder *waits = new_recorder();
    struct recorder *tries = new_recorder();

    (void)state;
    hold(holder);
    ok(recipe->acquire_async(lock, 100, record_acquire, waits, NULL));
    ok(recipe->acquire_async(lock, 0, record_acquire, tries, NULL));
    assert_int_equal(recorded(tries, 0), ZKR_EBUSY);
    assert_int_equal(recorded(waits, 0), ZKR_ETIMEDOUT);
    wait_children(path, 1);
    give_back(holder);
}

struct inside {
    void *lock;
    struct recorder *results;
};

static void call_what_waits(int error, zkr_grant *g, void *user)
{
    struct inside *in = user;
    zkr_grant *none = NULL;

    recorder_add(in->results, error, 0);
    recorder_add(in->results, recipe->acquire(in->lock, -1, &none), 0);
    recorder_add(in->results, zkr_grant_release(g), 0);
    recorder_add(in->results, zkr_session_close(ours), 0);
    recorder_add(in->results, zkr_grant_check(g), 0);
    recorder_add(in->results, zkr_grant_release_async(g, NULL, NULL), 0);
    zkr_grant_free(g);
    recorder_add(in->results, 0, 0);
}

static void calls_that_wait_are_refused_in_callbacks(void **state)
{
    static const int expected[] = {
        ZKR_OK, ZKR_EDEADLK, ZKR_EDEADLK, ZKR_EDEADLK, ZKR_OK, ZKR_OK, 0
    };
    static struct inside in;

    (void)state;
    in = (struct inside){ new_lock(ours), new_recorder() };
    ok(recipe->acquire_async(in.lock, -1, call_what_waits, &in, NULL));
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_int_equal(recorded(in.results, i), expected[i]);
    wait_children(path, 0);
}

/* -- the list ------------------------------------------------------------- */

struct statement {
    const char *name;
    void (*test)(void **state);
    unsigned for_those; /* that have these traits, */
    unsigned not_for;   /* and none of these */
};

#define ALL(test)                                                              \
    {                                                                          \
#test, test, 0, 0                                                      \
    }
#define FOR(traits, test)                                                      \
    {                                                                          \
#test, test, traits, 0                                                 \
    }
#define NOT_FOR(traits, test)                                                  \
    {                                                                          \
#test, test, 0, traits                                                 \
    }

static const struct statement statements[] = {
    ALL(holders_never_overlap),
    ALL(a_holder_excludes_everybody_else),
    FOR(FAIR, waiters_are_granted_in_the_order_of_their_nodes),
    ALL(of_many_that_try_at_once_one_succeeds),
    ALL(a_try_of_a_held_lock_writes_nothing),
    ALL(tokens_grow_also_when_the_directory_is_created_anew),
    ALL(foreign_children_disturb_nobody),
    ALL(many_rounds_leave_no_node_and_no_watch),
    ALL(many_waits_given_up_leave_no_node_and_no_watch),
    ALL(a_wait_that_times_out_leaves_nothing),
    ALL(a_waiter_that_leaves_wakes_nobody_and_breaks_no_chain),
    ALL(a_cancelled_wait_leaves_nothing_and_later_ones_work),
    ALL(freeing_the_lock_ends_the_waits_through_it),
    ALL(closing_the_session_ends_waits_and_grants),
    NOT_FOR(KEEPS_GRANTS, a_grant_outlives_the_lock_object),
    NOT_FOR(KEEPS_GRANTS, freeing_a_held_grant_releases_it),
    FOR(KEEPS_GRANTS, freeing_the_lock_object_releases_what_is_held),
    ALL(a_second_release_is_refused_and_harms_nobody),
    ALL(null_is_refused),
    FOR(THREAD_OWNED, only_the_owner_releases),
    NOT_FOR(THREAD_OWNED, any_thread_releases),
    NOT_FOR(REENTRANT, its_owner_waits_for_itself_like_for_anybody),
    FOR(REENTRANT, it_is_held_until_released_as_often_as_acquired),
    ALL(a_lost_create_reply_makes_no_second_node),
    FOR(QUEUES, a_lost_create_reply_keeps_the_place_in_the_queue),
    ALL(a_lost_create_request_is_sent_again),
    ALL(a_create_lost_twice_makes_one_node),
    ALL(a_wait_that_ends_before_its_create_is_known_leaves_nothing),
    ALL(a_lost_delete_reply_is_a_release),
    ALL(a_lost_delete_request_is_sent_again),
    ALL(a_holder_that_leaves_before_it_is_watched_is_seen),
    FOR(QUEUES, a_vanished_predecessor_costs_nobody_its_place),
    ALL(a_lost_watch_reply_loses_no_wake_up),
    ALL(a_disconnect_costs_neither_the_lock_nor_the_place),
    ALL(a_holder_replaced_while_cut_off_is_not_held_again),
    ALL(a_wake_up_missed_while_cut_off_comes_later),
    ALL(a_wait_that_ends_while_cut_off_leaves_nothing),
    ALL(a_release_while_cut_off_is_made_up_for),
    ALL(deadlines_hold_while_the_server_is_silent),
    ALL(a_server_restart_costs_neither_the_lock_nor_the_place),
    ALL(a_holder_whose_node_is_deleted_is_told),
    ALL(a_holder_that_does_not_listen_learns_it_too),
    FOR(QUEUES, a_waiter_whose_node_is_deleted_queues_again),
    ALL(a_directory_emptied_under_everybody_costs_no_progress),
    ALL(a_holder_whose_session_ends_is_told_and_the_next_is_granted),
    FOR(REENTRANT, after_a_loss_it_is_released_as_often_before_it_is_held_anew),
    ALL(a_waiter_whose_session_ends_queues_again),
    ALL(a_waiter_may_ask_to_fail_when_its_session_ends),
    ALL(a_session_that_ends_while_creating_leaves_one_node),
    ALL(a_session_that_ends_while_releasing_has_released),
    FOR(ASYNC, claims_are_granted_one_after_the_other),
    FOR(ASYNC, a_claim_can_be_cancelled),
    FOR(ASYNC, a_claim_times_out),
    FOR(ASYNC, calls_that_wait_are_refused_in_callbacks),
};

/* cmocka keeps the names. */
static char names[MAX_STATEMENTS][128];

static size_t list_tests(const struct adapter *adapter,
                         struct CMUnitTest tests[MAX_STATEMENTS])
{
    size_t count = 0;

    recipe = adapter;
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        const struct statement *s = &statements[i];

        if (!has(s->for_those) || (s->not_for != 0 && has(s->not_for)))
            continue;
        (void)snprintf(names[count], sizeof(names[count]), "%s: %s",
                       adapter->name, s->name);
        tests[count] = (struct CMUnitTest){
            .name = names[count],
            .test_func = s->test,
            .setup_func = setup,
            .teardown_func = teardown,
            .initial_state = (void *)adapter,
        };
        count++;
    }
    return count;
}

static int run_group(void)
{
    struct CMUnitTest tests[MAX_STATEMENTS];
    int failed = 0;

    for (size_t i = 0; i < adapter_count; i++) {
        size_t count = list_tests(&adapters[i], tests);

        failed +=
            _cmocka_run_group_tests(adapters[i].name, tests, count, NULL, NULL);
    }
    return failed;
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
