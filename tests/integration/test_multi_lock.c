/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the multi-lock: all or none, one order, one deadline. */
#include "usual.h"

enum { CYCLES = 40 };

static char paths[3][64]; /* in their order */
static zkr_mutex *mutexes[3];
static zkr_mutex *others[3]; /* of their session */

static int setup(void)
{
    (void)usual_setup_two();
    for (int i = 0; i < 3; i++)
        (void)snprintf(paths[i], sizeof(paths[i]), "%s", new_path());
    qsort(paths, 3, sizeof(paths[0]),
          (int (*)(const void *, const void *))strcmp);
    for (int i = 0; i < 3; i++) {
        mutexes[i] = new_mutex(s, paths[i]);
        others[i] = new_mutex(theirs, paths[i]);
    }
    return 0;
}

static int teardown(void)
{
    for (int i = 0; i < 3; i++) {
        zkr_mutex_free(mutexes[i]);
        zkr_mutex_free(others[i]);
    }
    return usual_teardown();
}

FIXTURE(setup, teardown)

/* Of all mutexes, added in reverse. */
static zkr_multi_lock *multi_of_three(const struct zkr_lockable_opts *opts)
{
    zkr_multi_lock *ml = NEW(multi_lock, s, opts);

    for (int i = 3; i-- > 0;)
        ok(zkr_multi_lock_add(ml, mutexes[i], NULL));
    return ml;
}

static void take(zkr_multi_lock *ml, zkr_grant **grants)
{
    ok(zkr_multi_lock_acquire(ml, SOON_MS, grants));
    ok(zkr_grants_check(grants, zkr_multi_lock_count(ml)));
}

static void is_free(int i)
{
    wait_children(paths[i], 0);
    release(GRANT(mutex_acquire, others[i], 0));
}

static zkr_reentrant_mutex *held_first; /* by the thread that waits */

/* For waiter_start_by(): the grants are in `three`. */
static zkr_grant *three[3];
static char told[300]; /* the sentence of the last error */

static int by_multi(zkr_lockable *ml, int64_t timeout_ms, zkr_grant **ret_grant)
{
    int rc = zkr_multi_lock_acquire(ml, timeout_ms, three);

    (void)snprintf(told, sizeof(told), "%s", zkr_error_detail());
    *ret_grant = three[0];
    return rc;
}

/* Nodes name the thread that acquires, though another begins later links. */
TEST(all_are_granted_in_the_order_of_their_paths)
{
    AUTO(multi_lock) ml = multi_of_three(NULL);
    const char *own = textf("\"tid\":%d,", (int)gettid());
    zkr_grant *grants[3];

    assert_int_equal(zkr_multi_lock_count(ml), 3);
    for (int n = 0; n < 2; n++) {
        take(ml, grants);
        for (int i = 0; i < 3; i++) {
            char data[600];

            ok(admin_get(admin, zkr_grant_node(grants[i]), data, sizeof(data)));
            assert_has(data, own);
            assert_int_equal(
                strncmp(zkr_grant_node(grants[i]), paths[i], strlen(paths[i])),
                0);
            assert_true(i == 0 || zkr_grant_token(grants[i - 1]) <
                                      zkr_grant_token(grants[i]));
            wait_children(paths[i], 1);
        }
        release_each(grants, 3);
        for (int i = 0; i < 3; i++)
            is_free(i);
    }
}

TEST(one_that_is_taken_keeps_none)
{
    AUTO(multi_lock) ml = multi_of_three(NULL);
    zkr_grant *grants[3];

    for (int taken = 0; taken < 3; taken++) {
        AUTO(held) g = acquire(others[taken]);
        struct stopwatch *w = stopwatch_start();

        grants[0] = grants[2] = g;
        /* Long enough to have those that are free, on a busy machine, too. */
        gives(ZKR_ETIMEDOUT, zkr_multi_lock_acquire(ml, 1000, grants));
        assert_true(stopwatch_says(w, 1000, 3000));
        assert_non_null(strstr(zkr_error_detail(), paths[taken]));
        assert_null(grants[0]);
        assert_null(grants[2]);
        assert_int_equal(zkr_multi_lock_acquire(ml, 0, grants), ZKR_EBUSY);
        is_free((taken + 1) % 3);
        is_free((taken + 2) % 3);
        wait_children(paths[taken], 1);
    }
    take(ml, grants);
    release_each(grants, 3);
}

/* -- no two of them wait for each other ------------------------------------ */

struct pair {
    zkr_multi_lock *ml;
    int errors;
};

static atomic_int inside;

static void *go_round(void *arg)
{
    struct pair *p = arg;

    for (int i = 0; i < CYCLES; i++) {
        zkr_grant *two[2];

        if (zkr_multi_lock_acquire(p->ml, -1, two) != ZKR_OK) {
            p->errors++;
            continue;
        }
        p->errors += atomic_fetch_add(&inside, 1) != 0;
        (void)atomic_fetch_sub(&inside, 1);
        p->errors += zkr_grants_release(two, 2) != ZKR_OK;
        zkr_grants_free(two, 2);
    }
    return NULL;
}

TEST(the_order_of_adding_does_not_matter)
{
    struct pair pairs[2] = { { NEW(multi_lock, s, NULL), 0 },
                             { NEW(multi_lock, theirs, NULL), 0 } };
    pthread_t threads[2];

    ok(zkr_multi_lock_add(pairs[0].ml, mutexes[0], NULL));
    ok(zkr_multi_lock_add(pairs[0].ml, mutexes[1], NULL));
    ok(zkr_multi_lock_add(pairs[1].ml, others[1], NULL));
    ok(zkr_multi_lock_add(pairs[1].ml, others[0], NULL));
    for (int i = 0; i < 2; i++)
        threads[i] = thread_start(go_round, &pairs[i]);
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(pairs[i].errors, 0);
        zkr_multi_lock_free(pairs[i].ml);
    }
}

/* -- any recipe ------------------------------------------------------------ */

TEST(locks_of_all_recipes_are_members)
{
    AUTO(reentrant_mutex) rm = NEW(reentrant_mutex, s, new_path(), NULL);
    AUTO(unfair_mutex) um = NEW(unfair_mutex, s, new_path(), NULL);
    AUTO(semaphore) sem = NEW(semaphore, s, new_path(), 2, NULL);
    AUTO(rwlock) shared = NEW(rwlock, s, new_path(), NULL);
    AUTO(rwlock) written = NEW(rwlock, s, new_path(), NULL);
    AUTO(multi_lock) ml = NEW(multi_lock, s, NULL);
    zkr_lockable *members[] = { rm, um, sem, shared, written };
    zkr_grant *grants[7];

    ok(zkr_multi_lock_add(ml, mutexes[0], NULL));
    ok(zkr_multi_lock_add(ml, rm, NULL));
    ok(zkr_multi_lock_add(ml, um, NULL));
    ok(zkr_multi_lock_add(ml, sem, OPTS(acquire, .permits = 2)));
    ok(zkr_multi_lock_add(ml, shared, OPTS(acquire, .mode = ZKR_SHARED)));
    ok(zkr_multi_lock_add(ml, written, NULL));
    /* one of another session is none */
    tells(zkr_multi_lock_add(ml, others[1], NULL), ZKR_EINVAL, paths[1]);
    assert_int_equal(zkr_multi_lock_count(ml), 7);
    ok(zkr_reentrant_mutex_acquire(rm, SOON_MS)); /* once more below */
    AUTO(held) reader = GRANT(rwlock_acquire_read, shared, SOON_MS);
    for (int i = 0; i < 2; i++) {
        take(ml, grants);
        assert_int_equal(zkr_reentrant_mutex_depth(rm), 2);
        release_each(grants, 7);
        assert_int_equal(zkr_reentrant_mutex_depth(rm), 1);
        is_free(0);
    }
    uint64_t acquires = lock_stats(mutexes[0]).acquires;
    for (size_t i = 0; i < COUNT(members); i++)
        acquires += lock_stats(members[i]).acquires;
    assert_int_equal(lock_stats(ml).acquires, acquires);
    ok(zkr_reentrant_mutex_release(rm));
}

/* In bytes "-" is less than the "/" before the directories of a semaphore. */
TEST(the_paths_are_compared_and_not_the_directories_of_the_nodes)
{
    AUTO(semaphore) sem = NEW(semaphore, s, paths[0], 1, NULL);
    AUTO(mutex) next = new_mutex(s, textf("%s-2", paths[0]));
    AUTO(mutex) turns = new_mutex(s, textf("%s/locks", paths[0]));
    AUTO(multi_lock) ml = NEW(multi_lock, s, NULL);
    zkr_grant *grants[2];

    ok(zkr_multi_lock_add(ml, next, NULL));
    ok(zkr_multi_lock_add(ml, sem, NULL));
    tells(zkr_multi_lock_add(ml, mutexes[0], NULL), ZKR_EINVAL, paths[0]);
    tells(zkr_multi_lock_add(ml, turns, NULL), ZKR_EINVAL, "/locks");
    take(ml, grants);
    assert_has(zkr_grant_node(grants[0]), "/leases/");
    assert_true(zkr_grant_token(grants[0]) < zkr_grant_token(grants[1]));
    release_each(grants, 2);
}

/* The read beside the write is granted at once, and does not hurry the rest. */
TEST(a_read_beside_a_write_does_not_end_the_wait_for_others)
{
    AUTO(recorder) r = recorder_new();
    AUTO(session) hasty = OPEN(.reply_timeout_ms = 100);
    AUTO(rwlock) rw = NEW(rwlock, hasty, paths[0], NULL);
    AUTO(mutex) m2 = new_mutex(hasty, paths[1]);
    AUTO(multi_lock) ml = NEW(multi_lock, hasty, NULL);
    zkr_grant *g = acquire(others[1]);
    AUTO(grant) writing = NULL;
    ok(zkr_multi_lock_add(ml, rw, OPTS(acquire, .mode = ZKR_SHARED)));
    ok(zkr_multi_lock_add(ml, m2, NULL));
    ok(zkr_lockable_acquire(rw, OPTS(acquire, .owner = 7), -1, &writing));
    ok(zkr_lockable_acquire_all_async(ml, OPTS(acquire, .owner = 7), -1,
                                      record_grants, r, NULL));
    wait_children(paths[1], 2);
    gives(ZKR_ETIMEDOUT, zkr_mutex_acquire(mutexes[1], GIVE_UP_MS, &nil));
    release(g);
    is_recorded(r, 0, ZKR_OK, 2);
}

/* A lock that the thread had before must not be lost with the rest. */
TEST(a_failure_gives_back_no_more_than_it_took)
{
    AUTO(multi_lock) ml = NEW(multi_lock, s, NULL);
    zkr_grant *grants[2];
    AUTO(held) g = acquire(others[2]);

    AUTO(reentrant_mutex) rm = NEW(reentrant_mutex, s, paths[0], NULL);
    ok(zkr_multi_lock_add(ml, rm, NULL));
    ok(zkr_multi_lock_add(ml, mutexes[2], NULL));
    ok(zkr_reentrant_mutex_acquire(rm, SOON_MS));
    for (int i = 0; i < 2; i++) {
        gives(ZKR_ETIMEDOUT, zkr_multi_lock_acquire(ml, 100, grants));
        assert_int_equal(zkr_reentrant_mutex_depth(rm), 1);
        ok(zkr_grant_check(zkr_reentrant_mutex_grant(rm)));
    }
    ok(zkr_reentrant_mutex_release(rm));
}

/* Curator: testSomeReleasesFail. */
TEST(each_release_is_tried)
{
    AUTO(multi_lock) ml = multi_of_three(NULL);
    zkr_grant *grants[3];

    for (int lost = 0; lost < 3; lost++) {
        take(ml, grants);
        delete_nth_child(paths[lost], 0);
        wait_grant_state(grants[lost], ZKR_GRANT_LOST);
        assert_int_equal(zkr_grants_check(grants, 3), ZKR_ELOST);
        tells(zkr_grants_release(grants, 3), ZKR_ELOST, paths[lost]);
        for (int i = 0; i < 3; i++)
            is_free(i);
        zkr_grants_free(grants, 3);
    }
    take(ml, grants);
    delete_nth_child(paths[0], 0);
    wait_grant_state(grants[0], ZKR_GRANT_LOST);
    ok(zkr_grant_release(grants[2]));
    assert_int_equal(zkr_grants_release(grants, 3), ZKR_ENOTHELD);
    assert_has(zkr_error_detail(), paths[2]); /* the first that failed */
    zkr_grants_free(grants, 3);
}

/* -- what it has may be lost while it waits for the rest ------------------- */

static struct waiter wait_for_the_last(zkr_multi_lock *ml)
{
    struct waiter w = WAITER(start_by, by_multi, ml, -1);

    wait_children(paths[0], 1);
    wait_children(paths[1], 1);
    wait_children(paths[2], 2);
    return w;
}

/* Deletes the first node when its holder watches it, and so hears of that. */
static void delete_watched(const char *dir)
{
    AUTO(text) name = nth_child(dir, 0);
    const char *node = textf("%s/%s", dir, name);

    AWAIT(server_watches(the_server, node, 0) > 0);
    assert_int_equal(admin_delete(admin, node), ZOK);
}

/* Also with its session, and that more than once. */
TEST(a_lock_lost_meanwhile_is_acquired_again)
{
    AUTO(multi_lock) ml = multi_of_three(NULL);
    zkr_grant *g = acquire(others[2]);
    struct waiter w = wait_for_the_last(ml);
    struct waiter next = WAITER(queue, others[0]);

    delete_watched(paths[0]);
    ok(waiter_join(&next));
    wait_children(paths[0], 2); /* it begins again */
    wait_children(paths[1], 0);
    release(g);
    release(next.grant);
    ok(waiter_join(&w));
    ok(zkr_grants_check(three, 3));
    release_each(three, 3);
    g = acquire(others[2]);
    w = wait_for_the_last(ml);
    for (int i = 0; i < 2; i++) {
        expire_and_wait(s);
        wait_children(paths[2], 2);
    }
    release(g);
    ok(waiter_join(&w));
    ok(zkr_grants_check(three, 3));
    release_each(three, 3);
    for (int i = 0; i < 3; i++)
        is_free(i);
}

static int by_thread_that_has_it(zkr_lockable *ml, int64_t timeout_ms,
                                 zkr_grant **ret_grant)
{
    zkr_reentrant_mutex *rm = held_first;
    int rc = zkr_reentrant_mutex_acquire(rm, timeout_ms);

    if (rc == ZKR_OK)
        rc = by_multi(ml, timeout_ms, ret_grant);
    (void)zkr_reentrant_mutex_release(rm);
    return rc;
}

/* It is not acquired again before its thread has released it. */
TEST(a_lock_that_its_thread_had_may_be_lost_meanwhile)
{
    for (int i = 0; i < 4; i++) {
        int had = i / 2; /* of the two before the one that is waited for */
        AUTO(multi_lock) ml = NEW(multi_lock, s, NULL);
        zkr_grant *g = acquire(others[2]);

        AUTO(reentrant_mutex) rm = NEW(reentrant_mutex, s, paths[had], NULL);
        held_first = rm;
        ok(zkr_multi_lock_add(ml, rm, NULL));
        ok(zkr_multi_lock_add(ml, mutexes[1 - had], NULL));
        ok(zkr_multi_lock_add(ml, mutexes[2], NULL));
        struct waiter w = WAITER(queue_by, by_thread_that_has_it, ml, paths[2]);
        delete_watched(paths[had]);
        settle(s);
        release(g);
        assert_int_equal(waiter_join(&w), ZKR_ELOST);
        assert_has(told, paths[had]);
        for (int k = 0; k < 3; k++)
            is_free(k);
    }
}

static const struct {
    const char *name;
    uint32_t retain_ms;
    size_t nodes; /* of the holder and of the multi-lock, which waits */
} lasts[] = { { "in a line", 0, 2 }, { "a lock that stays", 60000, 1 } };

/* Regression: a step used the claim and its line when it had ended them. */
TEST_ROWS(the_last_lock_may_be_granted_in_vain, lasts, row)
{
    AUTO(mutex) last =
        NEW(mutex, s, paths[1], OPTS(lockable, .retain_ms = row->retain_ms));
    AUTO(multi_lock) ml =
        NEW(multi_lock, s, OPTS(lockable, .flags = ZKR_FAIL_ON_SESSION_LOSS));

    ok(zkr_multi_lock_add(ml, mutexes[0], NULL));
    ok(zkr_multi_lock_add(ml, last, NULL));
    for (int i = 0; i < 2; i++) {
        zkr_grant *g = acquire(last);
        struct waiter w = WAITER(start_by, by_multi, ml, -1);

        wait_children(paths[0], 1);
        wait_children(paths[1], row->nodes);
        struct waiter behind = WAITER(queue, mutexes[1]);
        delete_watched(paths[0]);
        settle(s);
        release(g);
        assert_int_equal(waiter_join(&w), ZKR_ELOST);
        assert_has(told, paths[0]);
        assert_has(told, ": its node was deleted");
        release(waiter_grant(&behind));
    }
    release(acquire(last));
}

/* With a reentrant mutex; its owner may have been told of the grant before. */
TEST(a_grant_that_is_not_told_can_be_freed)
{
    const struct zkr_acquire_opts *owner = OPTS(acquire, .owner = 7);
    AUTO(session) loop =
        OPEN(.flags = ZKR_SESSION_OWN_LOOP, .session_timeout_ms = SESSION_MS);

    for (int before = 0; before < 2; before++) {
        AUTO(recorder) r = recorder_new();
        zkr_reentrant_mutex *rm = NEW(reentrant_mutex, loop, paths[0], NULL);
        zkr_multi_lock *ml = NEW(multi_lock, loop, NULL);
        ok(zkr_multi_lock_add(ml, rm, NULL));
        if (before)
            (void)GRANT(lockable_acquire, rm, owner, SOON_MS);
        for (int i = 0; i < 2; i++) {
            ok(zkr_lockable_acquire_all_async(ml, owner, -1, record_grants, r,
                                              NULL));
            wait_children(paths[0], 1);
            settle(loop);
        }
        zkr_multi_lock_free(ml);
        zkr_reentrant_mutex_free(rm);
        ok(zkr_session_dispatch(loop));
        assert_int_equal(recorder_count(r), 2);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(recorded(r, i), ZKR_ECANCELED);
        wait_children(paths[0], 0);
    }
}

TEST(with_the_flag_it_fails)
{
    AUTO(multi_lock) ml =
        multi_of_three(OPTS(lockable, .flags = ZKR_FAIL_ON_SESSION_LOSS));
    zkr_grant *g = acquire(others[2]);
    struct waiter w = wait_for_the_last(ml);

    expire_and_wait(s);
    assert_int_equal(waiter_join(&w), ZKR_ELOST); /* its mutex has no flag */
    release(g);
    g = acquire(others[0]); /* it has nothing yet that could be lost */
    waiter_start_by(&w, by_multi, ml, -1);
    wait_children(paths[0], 2);
    expire_and_wait(s);
    assert_int_equal(waiter_join(&w), ZKR_ELOST);
    release(g);
    for (int i = 0; i < 3; i++)
        is_free(i);
}

/* -- ends ------------------------------------------------------------------ */

TEST(a_cancel_ends_no_other_acquire)
{
    AUTO(recorder) r = recorder_new();
    AUTO(multi_lock) ml = multi_of_three(NULL);
    zkr_grant *g = acquire(others[2]);
    struct waiter by_itself = WAITER(queue, mutexes[2]);

    for (int i = 0; i < 2; i++) {
        struct waiter w = WAITER(start_by, by_multi, ml, -1);

        wait_children(paths[2], 3);
        ok(zkr_lockable_cancel(ml));
        assert_int_equal(waiter_join(&w), ZKR_ECANCELED);
        wait_children(paths[2], 2);
        is_free(0);
    }
    AUTO(request)
    request = MADE(request, multi_lock_acquire_async, ml, -1, record_grants, r);
    wait_children(paths[2], 3);
    ok(zkr_request_cancel(request));
    assert_int_equal(recorded(r, 0), ZKR_ECANCELED);
    wait_children(paths[2], 2);
    ok(zkr_multi_lock_acquire_async(ml, -1, record_grants, r, NULL));
    wait_children(paths[2], 3);
    release_to(g, &by_itself);
    is_recorded(r, 1, ZKR_OK, 3);
    for (int i = 0; i < 3; i++)
        is_free(i);
}

/* A lock that stays answers a try at once. The sentence was that of an earlier
 * error, and a callback was not called. */
TEST(a_try_that_is_refused_at_once_is_told)
{
    AUTO(recorder) r = recorder_new();
    AUTO(multi_lock) ml = NEW(multi_lock, s, NULL);
    zkr_grant *grants[1];

    AUTO(mutex) stays =
        NEW(mutex, s, new_path(), OPTS(lockable, .retain_ms = 60000));
    ok(zkr_multi_lock_add(ml, stays, NULL));
    AUTO(held) g = acquire(stays);
    assert_int_equal(zkr_multi_lock_acquire(NULL, 0, grants), ZKR_EINVAL);
    tells(zkr_multi_lock_acquire(ml, 0, grants), ZKR_EBUSY,
          zkr_lockable_path(stays));
    ok(zkr_multi_lock_acquire_async(ml, 0, record_grants, r, NULL));
    assert_int_equal(recorded(r, 0), ZKR_EBUSY);
}
