/* The mutex on a real server: taking turns, giving up, and leaving no trace. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

static zkr_session *s;
static char path[64];

static int setup(void **state)
{
    (void)state;
    s = open_session();
    (void)snprintf(path, sizeof(path), "%s", new_path());
    return 0;
}

/* Tests may have closed it. */
static int teardown(void **state)
{
    (void)state;
    (void)zkr_session_close(s);
    s = NULL;
    return 0;
}

static void close_now(void)
{
    ok(zkr_session_close(s));
    s = NULL;
}

/* -- taking turns --------------------------------------------------------- */

/* kazoo test_lock_one, test_lock_reacquire; Curator testLocker */
static void one_holder_acquires_and_releases_again_and_again(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    int64_t last = 0;

    (void)state;
    for (int i = 0; i < 5; i++) {
        zkr_grant *g = acquire(m);

        assert_int_equal(zkr_grant_check(g), ZKR_OK);
        assert_int_equal(count_children(path), 1);
        assert_true(zkr_grant_token(g) > last);
        last = zkr_grant_token(g);
        release(g);
        assert_int_equal(count_children(path), 0);
    }
    zkr_mutex_free(m);
}

/* kazoo test_lock; the official recipe's testlock, with more than three */
static void waiters_acquire_in_the_order_of_their_nodes(void **state)
{
    enum { N = 5 };
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct waiter w[N];
    int64_t last = zkr_grant_token(g);

    (void)state;
    for (size_t i = 0; i < N; i++) {
        waiter_start(&w[i], m, -1);
        wait_children(path, i + 2);
    }
    for (size_t i = 0; i < N; i++) {
        release(g);
        assert_int_equal(waiter_join(&w[i]), ZKR_OK);
        g = w[i].grant;
        assert_true(zkr_grant_token(g) > last);
        last = zkr_grant_token(g);
        assert_int_equal(count_children(path), N - i);
        for (size_t later = i + 1; later < N; later++)
            assert_false(waiter_is_done(&w[later]));
    }
    release(g);
    zkr_mutex_free(m);
}

/* Curator test2Clients; go TestIntegration_Lock */
static void two_sessions_exclude_each_other(void **state)
{
    zkr_session *other = open_session();
    zkr_mutex *m1 = new_mutex(s, path);
    zkr_mutex *m2 = new_mutex(other, path);
    zkr_grant *g = acquire(m1);
    zkr_grant *none = NULL;
    struct waiter w;

    (void)state;
    assert_int_equal(zkr_mutex_acquire(m2, 0, &none), ZKR_EBUSY);
    assert_int_equal(zkr_mutex_acquire(m2, 100, &none), ZKR_ETIMEDOUT);
    assert_null(none);
    waiter_start(&w, m2, -1);
    wait_children(path, 2);
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    assert_int_equal(zkr_mutex_acquire(m1, 0, &none), ZKR_EBUSY);
    release(w.grant);
    zkr_mutex_free(m1);
    zkr_mutex_free(m2);
    close_session(other);
}

/* The recipe shipped with ZooKeeper takes the session for the owner: two
 * mutexes of one session both held the lock. */
static void two_mutexes_of_one_session_exclude_each_other(void **state)
{
    zkr_mutex *m1 = new_mutex(s, path);
    zkr_mutex *m2 = new_mutex(s, path);
    zkr_grant *g = acquire(m1);
    zkr_grant *none = NULL;
    struct waiter w;

    (void)state;
    assert_int_equal(zkr_mutex_acquire(m2, 0, &none), ZKR_EBUSY);
    waiter_start(&w, m2, -1);
    wait_children(path, 2);
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    release(w.grant);
    zkr_mutex_free(m1);
    zkr_mutex_free(m2);
}

struct crowd {
    zkr_mutex *mutex;
    int64_t timeout_ms;
    int rounds;
    atomic_int holders;
    atomic_int overlaps;
    atomic_int acquired;
    atomic_int failed;
};

static void *crowd_main(void *arg)
{
    struct crowd *c = arg;

    for (int i = 0; i < c->rounds; i++) {
        zkr_grant *g;

        if (zkr_mutex_acquire(c->mutex, c->timeout_ms, &g) != ZKR_OK) {
            c->failed++;
            continue;
        }
        c->overlaps += atomic_fetch_add(&c->holders, 1) != 0;
        c->acquired++;
        sleep_ms(1);
        atomic_fetch_sub(&c->holders, 1);
        if (zkr_grant_release(g) != ZKR_OK)
            c->failed++;
        zkr_grant_free(g);
    }
    return NULL;
}

static void run_crowd(struct crowd *c, size_t threads)
{
    pthread_t t[64];

    for (size_t i = 0; i < threads; i++)
        assert_int_equal(pthread_create(&t[i], NULL, crowd_main, c), 0);
    for (size_t i = 0; i < threads; i++)
        assert_int_equal(pthread_join(t[i], NULL), 0);
}

/* kazoo test_lock_many_threads */
static void twenty_threads_share_one_mutex_object(void **state)
{
    struct crowd c = { .mutex = new_mutex(s, path),
                       .timeout_ms = -1,
                       .rounds = 5 };

    (void)state;
    run_crowd(&c, 20);
    assert_int_equal(c.overlaps, 0);
    assert_int_equal(c.failed, 0);
    assert_int_equal(c.acquired, 100);
    assert_int_equal(count_children(path), 0);
    zkr_mutex_free(c.mutex);
}

struct trial {
    zkr_mutex *mutex;
    int rc;
    zkr_grant *grant;
};

static void *try_main(void *arg)
{
    struct trial *t = arg;

    t->rc = zkr_mutex_acquire(t->mutex, 0, &t->grant);
    return NULL;
}

/* kazoo test_lock_many_threads_no_block: whoever has the lowest node wins, even
 * if others have put theirs behind it at the same time. */
static void of_twenty_that_try_one_succeeds(void **state)
{
    enum { N = 20 };
    zkr_mutex *m = new_mutex(s, path);
    struct trial trials[N];
    pthread_t threads[N];
    int won = 0;

    (void)state;
    for (int i = 0; i < N; i++) {
        trials[i] = (struct trial){ .mutex = m };
        assert_int_equal(
            pthread_create(&threads[i], NULL, try_main, &trials[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (trials[i].rc == ZKR_OK)
            won++;
        else
            assert_int_equal(trials[i].rc, ZKR_EBUSY);
    }
    assert_int_equal(won, 1);
    for (int i = 0; i < N; i++) {
        if (trials[i].rc == ZKR_OK)
            release(trials[i].grant);
    }
    wait_children(path, 0);
    zkr_mutex_free(m);
}

/* kazoo test_lock_non_blocking, test_lock_same_thread_no_block */
static void a_try_of_a_held_lock_writes_nothing(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    zkr_grant *none = NULL;
    struct Stat before;
    struct Stat after;

    (void)state;
    assert_int_equal(admin_exists(admin, path, &before), ZOK);
    assert_int_equal(zkr_mutex_acquire(m, 0, &none), ZKR_EBUSY);
    assert_int_equal(admin_exists(admin, path, &after), ZOK);
    assert_int_equal(before.cversion, after.cversion);
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    release(g);
    g = NULL;
    ok(zkr_mutex_acquire(m, 0, &g));
    release(g);
    zkr_mutex_free(m);
}

/* kazoo test_lock_no_double_calls, test_lock_timeout */
static void a_wait_that_times_out_leaves_nothing(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    zkr_grant *none = NULL;
    int64_t start = now_ms();

    (void)state;
    assert_int_equal(zkr_mutex_acquire(m, 200, &none), ZKR_ETIMEDOUT);
    assert_true(now_ms() - start >= 200);
    assert_non_null(strstr(zkr_error_detail(), path));
    assert_non_null(strstr(zkr_error_detail(), "lock-0000000000"));
    wait_children(path, 1);
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    release(g);
    release(acquire(m));
    zkr_mutex_free(m);
}

/* A dead waiter in the middle: the one behind it must neither be granted nor
 * forgotten. */
static void a_waiter_that_leaves_out_of_order_wakes_nobody(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_mutex *quitter = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct waiter middle;
    struct waiter last;

    (void)state;
    waiter_start(&middle, quitter, -1);
    wait_children(path, 2);
    waiter_start(&last, m, -1);
    wait_children(path, 3);
    ok(zkr_mutex_cancel(quitter));
    assert_int_equal(waiter_join(&middle), ZKR_ECANCELED);
    wait_children(path, 2);
    assert_false(waiter_is_done(&last));
    release(g);
    assert_int_equal(waiter_join(&last), ZKR_OK);
    release(last.grant);
    zkr_mutex_free(m);
    zkr_mutex_free(quitter);
}

/* -- what is on the server ------------------------------------------------ */

static void the_node_says_who_holds_it(void **state)
{
    struct zkr_mutex_opts opts = ZKR_MUTEX_OPTS_INIT;
    zkr_mutex *m;
    zkr_grant *g;
    char data[1024];
    json_t *record;
    struct Stat stat;

    (void)state;
    opts.label = "nightly \"export\" \xc3\xa4";
    ok(zkr_mutex_new(s, path, &opts, &m));
    g = acquire(m);
    assert_int_equal(admin_get(admin, zkr_grant_node(g), data, sizeof(data)),
                     ZOK);
    assert_null(strchr(data, '\n'));
    record = json_loads(data, 0, NULL);
    assert_non_null(record);
    assert_string_equal(json_string_value(json_object_get(record, "label")),
                        opts.label);
    assert_int_equal(json_integer_value(json_object_get(record, "pid")),
                     getpid());
    json_decref(record);
    assert_int_equal(admin_exists(admin, zkr_grant_node(g), &stat), ZOK);
    assert_true(stat.ephemeralOwner == zkr_session_id(s));
    assert_true(stat.czxid == zkr_grant_token(g));
    release(g);
    zkr_mutex_free(m);
}

static bool one_watch_each(void *arg)
{
    char *wchp = server_4lw(the_server, "wchp");
    size_t *expected = arg;
    size_t found = 0;

    for (char *p = wchp; p != NULL && (p = strstr(p, path)) != NULL; p++)
        found++;
    free(wchp);
    return found == *expected;
}

/* A herd would show as one node watched by many sessions. */
static void each_waiter_watches_only_the_node_before_it(void **state)
{
    enum { N = 4 };
    zkr_session *sessions[N];
    zkr_mutex *mutexes[N];
    struct waiter waiters[N];
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    size_t expected = N; /* the holder's node among them */
    char *wchp;

    (void)state;
    for (size_t i = 0; i < N; i++) {
        sessions[i] = open_session();
        mutexes[i] = new_mutex(sessions[i], path);
        waiter_start(&waiters[i], mutexes[i], -1);
        wait_children(path, i + 2);
    }
    assert_true(wait_until(one_watch_each, &expected, SOON_MS));
    wchp = server_4lw(the_server, "wchp");
    assert_non_null(wchp);
    for (size_t i = 0; i < N; i++) { /* "path\n\tsession\n..." */
        char *name = nth_child(path, i);
        char *entry = strstr(wchp, name);
        size_t watchers = 0;

        assert_non_null(entry);
        for (char *line = strchr(entry, '\n'); line != NULL && line[1] == '\t';
             line = strchr(line + 1, '\n'))
            watchers++;
        /* the holder watches its own node too */
        assert_in_range(watchers, 1, i == 0 ? 2 : 1);
        free(name);
    }
    free(wchp);
    release(g);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(waiter_join(&waiters[i]), ZKR_OK);
        release(waiters[i].grant);
        zkr_mutex_free(mutexes[i]);
        close_session(sessions[i]);
    }
    zkr_mutex_free(m);
}

/* A foreign child crashed the official recipe, and blocks Curator for ever. */
static void foreign_children_are_ignored(void **state)
{
    static const char *const foreign[] = { "0",      "-x",
                                           "nodash", "lock-",
                                           "zzz",    "_c_-latch-0000000000" };
    zkr_mutex *m = new_mutex(s, path);
    struct waiter w;
    char child[128];
    zkr_grant *g;

    (void)state;
    release(acquire(m));
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        (void)snprintf(child, sizeof(child), "%s/%s", path, foreign[i]);
        assert_int_equal(admin_create(admin, child, NULL), ZOK);
    }
    ok(zkr_mutex_acquire(m, 0, &g));
    waiter_start(&w, m, -1);
    wait_children(path, 8);
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    release(w.grant);
    zkr_mutex_free(m);
    assert_int_equal(admin_delete_tree(admin, path), ZOK);
}

/* Other clients of the same protocol: Curator, go-zookeeper, unprotected,
 * kazoo. */
static void contenders_of_other_clients_are_waited_for(void **state)
{
    static const char *const names[] = {
        "_c_16176773-7d6f-4686-ab55-f4bd6230b745-lock-",
        "_c_16176773f4bd6230b745f4bd6230b745-lock-",
        "lock-",
        "5f1e6773f4bd6230b745f4bd6230b745__lock__",
    };
    zkr_mutex *m = new_mutex(s, path);
    char child[256];
    char created[256];
    zkr_grant *none = NULL;

    (void)state;
    release(acquire(m));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(child, sizeof(child), "%s/%s", path, names[i]);
        assert_int_equal(admin_create_flags(admin, child, NULL, ZOO_SEQUENCE,
                                            created, sizeof(created)),
                         ZOK);
        assert_int_equal(zkr_mutex_acquire(m, 0, &none), ZKR_EBUSY);
        assert_int_equal(zkr_mutex_acquire(m, 50, &none), ZKR_ETIMEDOUT);
        assert_int_equal(admin_delete(admin, created), ZOK);
        wait_children(path, 0);
    }
    zkr_mutex_free(m);
}

/* go TestIntegration_MultiLevelLock */
static void missing_parents_are_created_below_existing_ones(void **state)
{
    char deep[256];
    zkr_mutex *m;

    (void)state;
    assert_int_equal(admin_create_flags(admin, "/level1", NULL, 0, NULL, 0),
                     ZOK);
    (void)snprintf(deep, sizeof(deep), "/level1/level2/level3/level4");
    m = new_mutex(s, deep);
    release(acquire(m));
    zkr_mutex_free(m);
    assert_int_equal(admin_exists(admin, deep, NULL), ZOK);
    assert_int_equal(admin_delete_tree(admin, "/level1"), ZOK);
}

static void parents_that_vanish_are_created_again(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    int64_t last = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        zkr_grant *g = acquire(m);

        assert_non_null(strstr(zkr_grant_node(g), "-lock-0000000000"));
        /* The sequence starts anew; the token does not. */
        assert_true(zkr_grant_token(g) > last);
        last = zkr_grant_token(g);
        release(g);
        assert_int_equal(admin_delete(admin, path), ZOK);
    }
    zkr_mutex_free(m);
}

/* -- loss ----------------------------------------------------------------- */

/* After an operator's delete, kazoo and Curator go on believing. */
static void a_holder_learns_that_its_node_was_deleted(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    int code = 0;

    (void)state;
    ok(zkr_grant_listen(g, record_grant, r));
    delete_nth_child(path, 0);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_GRANT_LOST);
    assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
    assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
    zkr_grant_free(g);
    release(acquire(m));
    recorder_free(r);
    zkr_mutex_free(m);
}

static void a_holder_without_a_listener_learns_it_too(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);

    (void)state;
    delete_nth_child(path, 0);
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
    zkr_mutex_free(m);
}

static void a_waiter_whose_node_was_deleted_enters_again(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct waiter first;
    struct waiter second;

    (void)state;
    waiter_start(&first, m, -1);
    wait_children(path, 2);
    waiter_start(&second, m, -1);
    wait_children(path, 3);
    delete_nth_child(path, 1);
    /* The second now waits for the holder; the first notices at its turn. */
    release(g);
    assert_int_equal(waiter_join(&second), ZKR_OK);
    assert_int_equal(waiter_is_done(&first), false);
    release(second.grant);
    assert_int_equal(waiter_join(&first), ZKR_OK);
    release(first.grant);
    zkr_mutex_free(m);
}

static void a_parent_deleted_under_everybody_costs_no_progress(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct waiter w;

    (void)state;
    ok(zkr_grant_listen(g, NULL, NULL));
    waiter_start(&w, m, -1);
    wait_children(path, 2);
    delete_nth_child(path, 1);
    delete_nth_child(path, 0);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
    release(w.grant);
    zkr_mutex_free(m);
}

/* Curator's Revoker writes this into the node. */
static void a_revocation_request_reaches_the_listener(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    int code = 0;

    (void)state;
    ok(zkr_grant_listen(g, record_grant, r));
    assert_int_equal(admin_set(admin, zkr_grant_node(g), "something"), ZOK);
    assert_int_equal(admin_set(admin, zkr_grant_node(g), "__REVOKE__"), ZOK);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, 100);
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    ok(zkr_grant_listen(g, NULL, NULL));
    release(g);
    recorder_free(r);
    zkr_mutex_free(m);
}

/* -- ends of all kinds ---------------------------------------------------- */

static void a_second_release_is_refused(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    zkr_grant *next;

    (void)state;
    ok(zkr_grant_release(g));
    next = acquire(m);
    assert_int_equal(zkr_grant_release(g), ZKR_ENOTHELD);
    assert_int_equal(zkr_grant_release_async(g, NULL, NULL), ZKR_ENOTHELD);
    assert_int_equal(zkr_grant_check(g), ZKR_ENOTHELD);
    assert_int_equal(zkr_grant_check(next), ZKR_OK);
    zkr_grant_free(g);
    release(next);
    zkr_mutex_free(m);
}

static void freeing_a_held_grant_releases_it(void **state)
{
    zkr_mutex *m = new_mutex(s, path);

    (void)state;
    zkr_grant_free(acquire(m));
    release(acquire(m));
    zkr_mutex_free(m);
}

static void a_grant_outlives_its_mutex(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);

    (void)state;
    zkr_mutex_free(m);
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    release(g);
}

static void freeing_the_mutex_ends_its_waits(void **state)
{
    zkr_mutex *holder = new_mutex(s, path);
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(holder);
    struct recorder *r = recorder_new();
    struct waiter w;
    int code = 0;

    (void)state;
    waiter_start(&w, m, -1);
    wait_children(path, 2);
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    wait_children(path, 3);
    zkr_mutex_free(m);
    assert_int_equal(waiter_join(&w), ZKR_ECANCELED);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_ECANCELED);
    wait_children(path, 1);
    release(g);
    zkr_mutex_free(holder);
    recorder_free(r);
}

static void closing_the_session_ends_waits_and_grants(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    zkr_grant *none = NULL;
    struct recorder *r = recorder_new();
    struct recorder *events = recorder_new();
    struct waiter w;
    int code = 0;

    (void)state;
    ok(zkr_grant_listen(g, record_grant, events));
    waiter_start(&w, m, -1);
    wait_children(path, 2);
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    wait_children(path, 3);
    close_now();
    assert_int_equal(waiter_join(&w), ZKR_ECLOSED);
    assert_int_equal(recorder_count(r), 1); /* delivered before close returns */
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_ECLOSED);
    assert_int_equal(recorder_count(events), 1);
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_LOST);
    assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
    assert_int_equal(zkr_mutex_acquire(m, -1, &none), ZKR_ECLOSED);
    assert_int_equal(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL),
                     ZKR_ECLOSED);
    assert_int_equal(count_children(path), 0);
    zkr_grant_free(g);
    zkr_mutex_free(m);
    recorder_free(r);
    recorder_free(events);
}

/* -- asynchronous --------------------------------------------------------- */

static void thousands_of_claims_wait_without_a_thread(void **state)
{
    enum { N = 1000 };
    zkr_mutex *m = new_mutex(s, path);
    struct recorder *r = recorder_new();
    int threads = count_threads();
    int64_t last = 0;

    (void)state;
    for (int i = 0; i < N; i++)
        ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    assert_int_equal(count_threads(), threads);
    for (size_t i = 0; i < N; i++) {
        zkr_grant *g;
        int code = 0;

        assert_true(recorder_wait(r, i + 1, SOON_MS));
        assert_true(recorder_get(r, i, &code, NULL));
        assert_int_equal(code, ZKR_OK);
        g = recorded_grant(r, i);
        assert_true(zkr_grant_token(g) > last);
        last = zkr_grant_token(g);
        ok(zkr_grant_release_async(g, NULL, NULL));
        zkr_grant_free(g);
    }
    wait_children(path, 0);
    recorder_free(r);
    zkr_mutex_free(m);
}

static void a_request_can_be_cancelled(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    zkr_request *request = NULL;
    int code = 0;

    (void)state;
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, &request));
    wait_children(path, 2);
    ok(zkr_request_cancel(request));
    ok(zkr_request_cancel(request));
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_ECANCELED);
    wait_children(path, 1);
    zkr_request_free(request);
    release(g);
    /* A cancel is for one attempt, not for the next (kazoo's poison). */
    release(acquire(m));
    assert_int_equal(recorder_count(r), 1);
    recorder_free(r);
    zkr_mutex_free(m);
}

static void an_asynchronous_claim_times_out(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    int code = 0;

    (void)state;
    ok(zkr_mutex_acquire_async(m, 100, record_acquire, r, NULL));
    ok(zkr_mutex_acquire_async(m, 0, record_acquire, r, NULL));
    assert_true(recorder_wait(r, 2, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_EBUSY);
    assert_true(recorder_get(r, 1, &code, NULL));
    assert_int_equal(code, ZKR_ETIMEDOUT);
    release(g);
    recorder_free(r);
    zkr_mutex_free(m);
}

static void a_release_without_waiting_is_confirmed_later(void **state)
{
    zkr_mutex *m = new_mutex(s, path);
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    int code = -1;

    (void)state;
    ok(zkr_grant_release_async(g, record_release, r));
    zkr_grant_free(g);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_OK);
    assert_int_equal(count_children(path), 0);
    recorder_free(r);
    zkr_mutex_free(m);
}

struct inside {
    zkr_mutex *mutex;
    zkr_session *session;
    struct recorder *results;
};

static void call_everything(int error, zkr_grant *g, void *user)
{
    struct inside *in = user;
    zkr_grant *none = NULL;

    recorder_add(in->results, error, 0);
    recorder_add(in->results, zkr_grant_check(g), 0);
    recorder_add(in->results, zkr_mutex_acquire(in->mutex, -1, &none), 0);
    recorder_add(in->results, zkr_grant_release(g), 0);
    recorder_add(in->results, zkr_session_close(in->session), 0);
    recorder_add(in->results, zkr_grant_release_async(g, NULL, NULL), 0);
    zkr_grant_free(g);
    recorder_add(in->results, 0, 0);
}

/* A blocking call from a callback would wait for itself. */
static void calls_that_wait_are_refused_in_callbacks(void **state)
{
    static const int expected[] = {
        ZKR_OK, ZKR_OK, ZKR_EDEADLK, ZKR_EDEADLK, ZKR_EDEADLK, ZKR_OK, 0
    };
    struct inside in = { new_mutex(s, path), s, recorder_new() };

    (void)state;
    ok(zkr_mutex_acquire_async(in.mutex, -1, call_everything, &in, NULL));
    assert_true(recorder_wait(in.results, 7, SOON_MS));
    for (size_t i = 0; i < 7; i++) {
        int code = 1;

        assert_true(recorder_get(in.results, i, &code, NULL));
        assert_int_equal(code, expected[i]);
    }
    wait_children(path, 0);
    recorder_free(in.results);
    zkr_mutex_free(in.mutex);
}

static int run_group(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    static const struct CMUnitTest tests[] = {
        TEST(one_holder_acquires_and_releases_again_and_again),
        TEST(waiters_acquire_in_the_order_of_their_nodes),
        TEST(two_sessions_exclude_each_other),
        TEST(two_mutexes_of_one_session_exclude_each_other),
        TEST(twenty_threads_share_one_mutex_object),
        TEST(of_twenty_that_try_one_succeeds),
        TEST(a_try_of_a_held_lock_writes_nothing),
        TEST(a_wait_that_times_out_leaves_nothing),
        TEST(a_waiter_that_leaves_out_of_order_wakes_nobody),
        TEST(the_node_says_who_holds_it),
        TEST(each_waiter_watches_only_the_node_before_it),
        TEST(foreign_children_are_ignored),
        TEST(contenders_of_other_clients_are_waited_for),
        TEST(missing_parents_are_created_below_existing_ones),
        TEST(parents_that_vanish_are_created_again),
        TEST(a_holder_learns_that_its_node_was_deleted),
        TEST(a_holder_without_a_listener_learns_it_too),
        TEST(a_waiter_whose_node_was_deleted_enters_again),
        TEST(a_parent_deleted_under_everybody_costs_no_progress),
        TEST(a_revocation_request_reaches_the_listener),
        TEST(a_second_release_is_refused),
        TEST(freeing_a_held_grant_releases_it),
        TEST(a_grant_outlives_its_mutex),
        TEST(freeing_the_mutex_ends_its_waits),
        TEST(closing_the_session_ends_waits_and_grants),
        TEST(thousands_of_claims_wait_without_a_thread),
        TEST(a_request_can_be_cancelled),
        TEST(an_asynchronous_claim_times_out),
        TEST(a_release_without_waiting_is_confirmed_later),
        TEST(calls_that_wait_are_refused_in_callbacks),
    };

    return cmocka_run_group_tests_name("mutex", tests, NULL, NULL);
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
