/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the read/write lock on a real server: who shares it, who waits for
 * whom, and what belongs to a thread. Each test runs twice, with and without a
 * chroot. */
#include "rw_fixture.h"

/* -- sharing -------------------------------------------------------------- */

FIXTURE(rw_setup, rw_teardown)

/* kazoo test_read_lock, test_write_lock */
TEST(readers_share_and_a_writer_is_alone)
{
    zkr_grant *first = read_lock(lock);
    zkr_grant *second = read_lock(rival);

    release(GRANT(rwlock_acquire_read, visitor, 0));
    is_refused(by_writing);
    release(first);
    is_refused(by_writing);
    release(second);
    zkr_grant *writer = GRANT(rwlock_acquire_write, lock, 0);
    is_refused(by_reading);
    is_refused(by_writing);
    assert_int_equal(count_children(dir), 1);
    release(writer);
    assert_int_equal(count_children(dir), 0);
}

/* zk-ruby: shared, exclusive, shared acts as a queue; of the readers the
 * highest is released, others remain; then the lowest. Without the flag each
 * acquire of a thread is a claim of its own, as rwlock.h says. */
TEST(a_writer_waits_for_all_readers_before_it_and_no_reader_overtakes_it)
{
    zkr_grant *readers[] = { read_lock(lock), read_lock(rival),
                             read_lock(lock) };
    struct waiter writer = WAITER(queue_by, by_writing, rival, dir);

    assert_ptr_not_equal(readers[0], readers[2]);
    assert_int_equal(zkr_grant_depth(readers[0]), 1);
    tells(zkr_rwlock_acquire_read(lock, 0, &nil), ZKR_EBUSY, "-__WRIT");
    gives(ZKR_ETIMEDOUT, zkr_rwlock_acquire_read(lock, GIVE_UP_MS, &nil));
    wait_children(dir, 4);
    is_refused(by_reading);
    struct waiter late = WAITER(queue_by, by_reading, lock, dir);
    release(readers[2]);
    still_waits(&writer);
    release(readers[0]);
    still_waits(&late);
    still_waits(&writer);
    readers[1] = hand_on(readers[1], &writer);
    still_waits(&late);
    release(hand_on(readers[1], &late));
}

TEST(a_reader_behind_two_writers_waits_for_both)
{
    AUTO(rwlock) quitter = new_rwlock(other, 0);
    zkr_grant *first = write_lock(lock);
    struct waiter second = WAITER(queue_by, by_writing, quitter, dir);
    struct waiter reader = WAITER(queue_by, by_reading, rival, dir);
    struct waiter last = WAITER(queue_by, by_writing, lock, dir);

    ok(zkr_lockable_cancel(quitter)); /* the nearest writer goes first */
    assert_int_equal(waiter_join(&second), ZKR_ECANCELED);
    wait_children(dir, 3);
    still_waits(&reader);
    first = hand_on(first, &reader);
    still_waits(&last);
    release(hand_on(first, &last));
}

/* A herd would show as a node watched by more than the one behind it. */
TEST(each_watches_only_whom_it_waits_for)
{
    zkr_grant *first = write_lock(lock);
    struct waiter readers[2];
    const char *nodes[5];
    struct waiter second = WAITER(queue_by, by_writing, lock, dir);

    queue_up(&readers[0], by_reading, rival);
    queue_up(&readers[1], by_reading, rival);
    struct waiter last = WAITER(queue_by, by_writing, lock, dir);
    for (size_t i = 0; i < 5; i++) {
        AUTO(text) name = nth_child(dir, i);
        nodes[i] = textf("%s/%s", dir, name);
    }
    AWAIT(server_watches(the_server, nodes[3], 0) == 1);
    /* Sessions are counted: the holder watches its own node, and so does the
     * one of its session behind it, whose node the readers watch. */
    AWAIT(server_watches(the_server, nodes[0], 0) == 1);
    AWAIT(server_watches(the_server, nodes[1], 0) == 2);
    assert_int_equal(server_watches(the_server, nodes[2], 0), 0);
    assert_int_equal(server_watches(the_server, nodes[4], 0), 0);
    release(hand_on(first, &second));
    release(granted(&readers[0]));
    release(granted(&readers[1]));
    release(granted(&last));
}

/* -- asynchronous, cancelled, lost ---------------------------------------- */

static int acquire_async(acquire_call *call, zkr_rwlock *l, int64_t timeout_ms,
                         struct recorder *r, zkr_request **ret_request)
{
    return call == by_reading
               ? zkr_rwlock_acquire_read_async(l, timeout_ms, record_acquire, r,
                                               ret_request)
               : zkr_rwlock_acquire_write_async(l, timeout_ms, record_acquire,
                                                r, ret_request);
}

/* kazoo test_rw_lock: a reader saw the writer behind it, and waited (#649). */
TEST(asynchronous_claims_of_both_modes_queue_with_the_others)
{
    AUTO(recorder) r = recorder_new();
    AUTO(request) request = NULL;
    zkr_grant *first = write_lock(lock);

    ok(acquire_async(by_reading, lock, 0, r, NULL));
    assert_int_equal(recorded(r, 0), ZKR_EBUSY);
    ok(acquire_async(by_writing, lock, 30, r, NULL));
    assert_int_equal(recorded(r, 1), ZKR_ETIMEDOUT);
    ok(acquire_async(by_reading, lock, -1, r, &request));
    wait_children(dir, 2);
    ok(zkr_request_cancel(request));
    assert_int_equal(recorded(r, 2), ZKR_ECANCELED);
    wait_children(dir, 1);
    ok(acquire_async(by_reading, lock, -1, r, NULL));
    ok(acquire_async(by_reading, lock, SOON_MS, r, NULL));
    ok(acquire_async(by_reading, rival, -1, r, NULL));
    wait_children(dir, 4);
    ok(acquire_async(by_writing, lock, -1, r, NULL));
    wait_children(dir, 5);
    settle(s);
    assert_int_equal(recorder_count(r), 3);
    release(first);
    for (size_t i = 6; i-- > 3;) {
        ok(recorded(r, 5));
        settle(s);
        assert_int_equal(recorder_count(r), 6);
        release(recorded_grant(r, i));
    }
    ok(recorded(r, 6));
    is_refused(by_reading);
    release(recorded_grant(r, 6));
}

static int free_it(zkr_lockable *of)
{
    zkr_lockable_free(of);
    nested = NULL;
    return ZKR_OK;
}

static int close_it(zkr_lockable *of)
{
    int rc = zkr_session_close(s);

    s = NULL;
    return rc;
}

static const struct {
    const char *name;
    int (*end)(zkr_lockable *of);
    int code;
} ends[] = { { "cancelled", zkr_lockable_cancel, ZKR_ECANCELED },
             { "freed", free_it, ZKR_ECANCELED },
             { "closed", close_it, ZKR_ECLOSED } };

TEST_ROWS(waits_of_both_modes_end_with_their_lock, ends, row)
{
    AUTO(recorder) r = recorder_new();
    AUTO(grant) held = read_lock(nested);
    struct waiter writer = WAITER(queue_by, by_writing, nested, dir);
    struct waiter reader = WAITER(queue_by, by_reading, nested, dir);

    ok(acquire_async(by_reading, nested, -1, r, NULL));
    ok(acquire_async(by_writing, nested, -1, r, NULL));
    wait_children(dir, 5);
    ok(row->end(nested));
    assert_int_equal(waiter_join(&writer), row->code);
    assert_int_equal(waiter_join(&reader), row->code);
    assert_int_equal(recorded(r, 0), row->code);
    assert_int_equal(recorded(r, 1), row->code);
    if (s == NULL) {
        assert_int_equal(zkr_grant_state(held), ZKR_GRANT_LOST);
        assert_int_equal(zkr_grant_release(held), ZKR_ELOST);
        assert_int_equal(count_children(dir), 0);
        return;
    }
    wait_children(dir, 1);
    assert_int_equal(zkr_grant_check(held), ZKR_OK);
    is_refused(by_writing);
    ok(zkr_grant_release(held));
    release(write_lock(lock));
}

TEST(a_session_that_ends_loses_all_grants_and_queues_again)
{
    AUTO(grant) first = read_lock(lock);
    AUTO(grant) second = read_lock(lock);
    zkr_grant *foreign = read_lock(rival);
    AUTO(rwlock) strict = new_rwlock(s, ZKR_FAIL_ON_SESSION_LOSS);
    struct waiter writer = WAITER(queue_by, by_writing, lock, dir);
    struct waiter strict_reader = WAITER(queue_by, by_reading, strict, dir);
    struct waiter rest = WAITER(queue_by, by_writing, visitor, dir);
    struct waiter reader = WAITER(queue_by, by_reading, lock, dir);

    expire_and_wait(s);
    assert_int_equal(zkr_grant_check(first), ZKR_ELOST);
    tells(zkr_grant_release(second), ZKR_ELOST, "read lock '");
    assert_int_equal(zkr_grant_check(foreign), ZKR_OK);
    assert_int_equal(waiter_join(&strict_reader), ZKR_ELOST);
    wait_children(dir, 4); /* foreign, rest; then both of ours anew */
    still_waits(&rest);
    foreign = hand_on(foreign, &rest);
    still_waits(&writer);
    still_waits(&reader);
    release(hand_on(foreign, &writer));
    release(granted(&reader));
}

TEST(a_reader_learns_that_its_node_was_deleted)
{
    AUTO(grant) first = read_lock(lock);
    zkr_grant *second = read_lock(lock);
    struct waiter writer = WAITER(queue_by, by_writing, rival, dir);

    lose(first);
    still_waits(&writer);
    assert_int_equal(zkr_grant_check(second), ZKR_OK);
    release(hand_on(second, &writer));
    assert_int_equal(zkr_grant_release(first), ZKR_ELOST);
}

TEST(a_waiter_whose_node_was_deleted_enters_again)
{
    zkr_grant *first = write_lock(rival);
    struct waiter reader = WAITER(queue_by, by_reading, lock, dir);
    struct waiter writer = WAITER(queue_by, by_writing, lock, dir);
    AUTO(text) old = nth_child(dir, 2);

    delete_nth_child(dir, 2);
    AWAIT(child_is_new(dir, 2, old)); /* the writer */
    delete_nth_child(dir, 1);
    wait_children(dir, 3); /* the reader is behind it from here on */
    release(first);
    first = granted(&writer);
    still_waits(&reader);
    release(hand_on(first, &reader));
}

/* -- the thread that holds ------------------------------------------------ */

/* Curator testThatUpgradingIsDisallowed: it waits there until the timeout. The
 * last of several reads still forbids it. */
TEST(an_upgrade_is_refused_at_once_and_sends_nothing)
{
    static const uint32_t flags[] = { 0, ZKR_REENTRANT };

    for (size_t i = 0; i < 2; i++) {
        AUTO(rwlock) l = new_rwlock(s, flags[i]);
        zkr_grant *first = read_lock(l);
        zkr_grant *second = read_lock(l);

        be_quiet(first);
        tells(zkr_rwlock_acquire_write(l, -1, &nil), ZKR_EDEADLK, path);
        assert_int_equal(zkr_rwlock_acquire_write(l, 0, &nil), ZKR_EDEADLK);
        assert_int_equal(zkr_rwlock_acquire_write(l, 50, &nil), ZKR_EDEADLK);
        assert_int_equal(count_requests(), 0);
        assert_int_equal(zkr_grant_check(first), ZKR_OK);
        release(first);
        assert_int_equal(zkr_rwlock_acquire_write(l, 300, &nil), ZKR_EDEADLK);
        ok(zkr_grant_release_async(second, NULL, NULL));
        zkr_grant_free(second);
        release(write_lock(l));
    }
}

struct call {
    acquire_call *by;
    zkr_rwlock *lock;
    int64_t timeout_ms;
    zkr_grant *grant;
    int acquired, released;
    uint32_t depth;
};

static void *acquire_and_release(void *arg)
{
    struct call *c = arg;

    c->acquired = c->by(c->lock, c->timeout_ms, &c->grant);
    if (c->acquired != ZKR_OK)
        return NULL;
    c->depth = zkr_grant_depth(c->grant);
    c->released = zkr_grant_release(c->grant);
    zkr_grant_free(c->grant);
    return NULL;
}

static struct call elsewhere(acquire_call *by, zkr_rwlock *l,
                             int64_t timeout_ms)
{
    struct call c = { .by = by, .lock = l, .timeout_ms = timeout_ms };

    on_thread(acquire_and_release, &c);
    return c;
}

/* Regression: the first grant that was found decided, and a lost one hid the
 * other: the thread then waited for itself. */
TEST(after_a_loss_the_grant_that_is_held_decides)
{
    zkr_grant *lost = read_lock(lock);
    zkr_grant *held = read_lock(lock);

    lose(lost);
    assert_int_equal(zkr_grant_check(held), ZKR_OK);
    assert_int_equal(zkr_rwlock_acquire_write(lock, 100, &nil), ZKR_EDEADLK);
    release(held);
    release(write_lock(lock)); /* nothing is read now */
    assert_int_equal(zkr_grant_release(lost), ZKR_ELOST);
    zkr_grant_free(lost);
    lost = write_lock(lock);
    lose(lost);
    held = write_lock(lock);
    AUTO(held) reading = read_lock(lock);
    assert_int_equal(sequence_of(reading), sequence_of(held));
    release(held);
    zkr_grant_free(lost);
}

/* Curator testThatDowngradingRespectsThreads */
TEST(only_the_thread_that_writes_reads_beside)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *writing = write_lock(lock);

    assert_int_equal(elsewhere(by_reading, lock, 0).acquired, ZKR_EBUSY);
    assert_int_equal(elsewhere(by_reading, lock, GIVE_UP_MS).acquired,
                     ZKR_ETIMEDOUT);
    wait_children(dir, 1);
    struct waiter reader = WAITER(queue_by, by_reading, lock, dir);
    ok(acquire_async(by_reading, lock, -1, r, NULL)); /* belongs to no thread */
    wait_children(dir, 3);
    still_waits(&reader);
    assert_int_equal(recorder_count(r), 0);
    release(hand_on(writing, &reader));
    release(recorded_grant(r, 0));
}

TEST(a_reader_that_belongs_to_no_thread_stops_no_writer)
{
    AUTO(recorder) r = recorder_new();

    ok(acquire_async(by_reading, nested, -1, r, NULL));
    ok(acquire_async(by_reading, nested, -1, r, NULL));
    ok(recorded(r, 1));
    wait_children(dir, 2); /* not counted */
    assert_ptr_not_equal(recorded_grant(r, 0), recorded_grant(r, 1));
    assert_int_equal(zkr_grant_depth(recorded_grant(r, 0)), 1);
    assert_int_equal(zkr_rwlock_acquire_write(nested, 0, &nil), ZKR_EBUSY);
    gives(ZKR_ETIMEDOUT, zkr_rwlock_acquire_write(nested, GIVE_UP_MS, &nil));
    /* A thread that may release them too. */
    struct call c = elsewhere(by_reading, nested, 0);
    assert_int_equal(c.acquired, ZKR_OK);
    release(recorded_grant(r, 0));
    release(recorded_grant(r, 1));
}

/* -- reentrant ------------------------------------------------------------ */

static int release_it(void *grant)
{
    return zkr_grant_release(grant);
}

TEST(each_mode_is_counted_and_costs_no_request)
{
    for (size_t i = 0; i < 2; i++) {
        AUTO(recorder) r = recorder_new();
        zkr_grant *g = NULL;
        zkr_grant *again = NULL;

        ok(modes[i](nested, SOON_MS, &g));
        assert_int_equal(zkr_grant_depth(g), 1);
        struct waiter writer = WAITER(queue_by, by_writing, rival, dir);
        be_quiet(g);
        ok(modes[i](nested, 0, &again)); /* beside a writer that waits */
        ok(modes[i](nested, -1, &again));
        assert_ptr_equal(g, again);
        assert_int_equal(zkr_grant_depth(g), 3);
        struct caller thief;
        call_start(&thief, release_it, g);
        assert_int_equal(call_join(&thief), ZKR_ENOTOWNER);
        assert_int_equal(zkr_grant_state(g), ZKR_GRANT_HELD);
        assert_int_equal(zkr_grant_depth(g), 3);
        release(g);
        ok(zkr_grant_release_async(g, record_release, r));
        zkr_grant_free(g);
        assert_int_equal(zkr_grant_depth(g), 1);
        assert_int_equal(count_requests(), 0);
        still_waits(&writer);
        assert_int_equal(recorder_count(r), 0); /* the last one tells */
        ok(zkr_grant_release(g));
        assert_int_equal(zkr_grant_depth(g), 0);
        assert_int_equal(zkr_grant_release(g), ZKR_ENOTHELD);
        zkr_grant_free(g);
        release(granted(&writer));
        assert_int_equal(recorder_count(r), 0);
    }
}

TEST(threads_that_share_a_reentrant_lock_are_counted_apart)
{
    zkr_grant *g = read_lock(nested);
    zkr_grant *again = read_lock(nested);
    struct call c = elsewhere(by_reading, nested, 0);

    assert_int_equal(c.acquired, ZKR_OK);
    assert_int_equal(c.depth, 1);
    assert_int_equal(c.released, ZKR_OK);
    assert_ptr_not_equal(c.grant, g);
    /* Only the thread that holds read would wait for itself. */
    assert_int_equal(elsewhere(by_writing, nested, GIVE_UP_MS).acquired,
                     ZKR_ETIMEDOUT);
    release(again);
    assert_int_equal(elsewhere(by_writing, nested, 0).acquired, ZKR_EBUSY);
    release(g);
    c = elsewhere(by_writing, nested, SOON_MS);
    assert_int_equal(c.acquired, ZKR_OK);
    assert_int_equal(c.depth, 1);
}

/* In every order of the releases, as Curator allows. */
TEST(write_read_write_nests_and_is_released_in_any_order)
{
    enum { W, R, W2 };
    static const int orders[][3] = { { W2, R, W }, { W2, W, R }, { R, W2, W },
                                     { R, W, W2 }, { W, R, W2 }, { W, W2, R } };

    for (size_t i = 0; i < COUNT(orders); i++) {
        zkr_grant *g[3] = { NULL };

        g[W] = write_lock(nested);
        struct waiter writer = WAITER(queue_by, by_writing, rival, dir);
        ok(zkr_rwlock_acquire_read(nested, 0, &g[R]));
        ok(zkr_rwlock_acquire_write(nested, 0, &g[W2]));
        assert_ptr_equal(g[W], g[W2]);
        assert_ptr_not_equal(g[W], g[R]);
        assert_int_equal(count_children(dir), 3);
        for (size_t k = 0; k < 3; k++) {
            still_waits(&writer);
            release(g[orders[i][k]]);
        }
        release(granted(&writer));
        assert_int_equal(count_children(dir), 0);
    }
}

TEST(grants_may_be_freed_without_a_release_and_in_any_order)
{
    zkr_grant *g = read_lock(nested);

    for (int i = 0; i < 2; i++)
        assert_ptr_equal(read_lock(nested), g);
    zkr_grant_free(g); /* takes back what it stands for */
    assert_int_equal(zkr_grant_depth(g), 2);
    ok(zkr_grant_release(g));
    assert_int_equal(zkr_grant_depth(g), 1);
    zkr_grant_free(g); /* of the one released already */
    assert_int_equal(zkr_grant_depth(g), 1);
    is_refused(by_writing);
    zkr_grant_free(g);
    wait_children(dir, 0);

    g = write_lock(nested);
    assert_ptr_equal(write_lock(nested), g);
    ok(zkr_grant_release(g));
    ok(zkr_grant_release(g));
    assert_int_equal(count_children(dir), 0);
    AUTO(held) fresh = write_lock(nested);
    assert_ptr_not_equal(fresh, g); /* whose handles live on */
    assert_int_equal(zkr_grant_depth(fresh), 1);
    assert_int_equal(zkr_grant_check(g), ZKR_ENOTHELD);
    zkr_grant_free(g);
    zkr_grant_free(g);
    is_refused(by_reading);
}

TEST(acquired_too_often_is_an_error)
{
    enum { MAX = 65535 };

    for (size_t i = 0; i < 2; i++) {
        zkr_grant *g = NULL;

        for (int k = 0; k < MAX; k++)
            ok(modes[i](nested, SOON_MS, &g));
        assert_int_equal(modes[i](nested, SOON_MS, &nil), ZKR_EOVERFLOW);
        assert_int_equal(zkr_grant_depth(g), MAX);
        assert_int_equal(zkr_grant_check(g), ZKR_OK);
        for (int k = 0; k < MAX; k++)
            release(g);
        assert_int_equal(count_children(dir), 0);
    }
    assert_null(nil);
}

TEST(after_a_loss_a_mode_is_released_before_it_is_acquired)
{
    for (size_t i = 0; i < 2; i++) {
        zkr_grant *g = NULL;
        zkr_grant *again = NULL;

        ok(modes[i](nested, SOON_MS, &g));
        ok(modes[i](nested, SOON_MS, &g));
        lose(g);
        assert_int_equal(modes[i](nested, SOON_MS, &again), ZKR_ELOST);
        assert_int_equal(modes[i](nested, 0, &again), ZKR_ELOST);
        assert_int_equal(zkr_grant_depth(g), 2);
        struct caller thief;
        call_start(&thief, release_it, g);
        assert_int_equal(call_join(&thief), ZKR_ENOTOWNER);
        /* Other threads may acquire it, and this thread in the other mode. */
        assert_int_equal(elsewhere(modes[i], nested, SOON_MS).acquired, ZKR_OK);
        ok(modes[1 - i](nested, SOON_MS, &again));
        release(again);
        assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
        tells(modes[i](nested, SOON_MS, &again), ZKR_ELOST,
              "release it 1 times");
        zkr_grant_free(g);
        assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
        assert_int_equal(zkr_grant_depth(g), 0);
        ok(modes[i](nested, SOON_MS, &again));
        assert_ptr_not_equal(again, g);
        zkr_grant_free(g);

        ok(modes[i](nested, SOON_MS, &g));
        assert_ptr_equal(g, again);
        lose(again);
        zkr_grant_free(again); /* takes it back, too */
        assert_int_equal(modes[i](nested, 0, &nil), ZKR_ELOST);
        zkr_grant_free(again);
        ok(modes[i](nested, SOON_MS, &again));
        release(again);
    }
}

/* Each mode is counted by itself, and a claim without a thread is not. */
TEST(modes_and_claims_without_a_thread_are_apart)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *writer = write_lock(nested);
    zkr_grant *reader = read_lock(nested);

    assert_ptr_equal(write_lock(nested), writer);
    assert_ptr_equal(read_lock(nested), reader);
    assert_int_equal(zkr_grant_depth(writer), 2);
    assert_int_equal(zkr_grant_depth(reader), 2);
    ok(zkr_rwlock_acquire_write_async(nested, 0, record_acquire, r, NULL));
    assert_int_equal(recorded(r, 0), ZKR_EBUSY);
    release(writer);
    release(writer);
    /* A write is an upgrade now. */
    assert_int_equal(zkr_rwlock_acquire_write(nested, -1, &nil), ZKR_EDEADLK);
    assert_int_equal(zkr_grant_check(reader), ZKR_OK);
    release(reader);
    assert_int_equal(zkr_rwlock_acquire_write(nested, -1, &nil), ZKR_EDEADLK);
    release(reader);
    assert_int_equal(count_children(dir), 0);
    release(write_lock(nested));

    ok(zkr_rwlock_acquire_write_async(nested, -1, record_acquire, r, NULL));
    writer = recorded_grant(r, 1);
    assert_int_equal(zkr_grant_depth(writer), 1);
    assert_int_equal(zkr_rwlock_acquire_write(nested, 0, &reader), ZKR_EBUSY);
    release(writer);
}

/* -- tokens and numbers --------------------------------------------------- */

TEST(tokens_tell_old_writers_and_readers_apart)
{
    int64_t highest = 0, highest_write = 0;

    for (int i = 0; i < 4; i++) {
        zkr_grant *writing = write_lock(i % 2 == 0 ? lock : rival);
        zkr_grant *readers[2];

        assert_true(zkr_grant_token(writing) > highest);
        highest = highest_write = zkr_grant_token(writing);
        release(writing);
        if (i == 1) /* the numbers start anew; the tokens do not */
            assert_int_equal(admin_delete(admin, dir), ZOK);
        for (int k = 0; k < 2; k++) {
            readers[k] = read_lock(k == 0 ? lock : rival);
            assert_true(zkr_grant_token(readers[k]) > highest_write);
            if (zkr_grant_token(readers[k]) > highest)
                highest = zkr_grant_token(readers[k]);
        }
        release(readers[0]);
        release(readers[1]);
    }
}

/* Of Curator, from 5.5.0 on also for a downgrade, and of kazoo. */
TEST(a_contender_with_our_number_is_ahead_of_us)
{
    static const char *const names[] = {
        "_c_ffffffff-7d6f-4686-ab55-f4bd6230b745-__READ__",
        "_c_00000000-7d6f-4686-ab55-f4bd6230b745-__READ__",
        "_c_ffffffff-7d6f-4686-ab55-f4bd6230b745-__WRIT__",
        "_c_00000000-7d6f-4686-ab55-f4bd6230b745-__WRIT__",
        "ffffffffffffffffffffffffffffffff__rlock__",
        "ffffffffffffffffffffffffffffffff__lock__",
        "__READ__",
        "__WRIT__",
        "_c_16176773-7d6f-4686-ab55-f4bd6230b745-lock-",
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        bool shared = strstr(names[i], "READ") != NULL ||
                      strstr(names[i], "rlock") != NULL;

        for (size_t k = 0; k < 2; k++) {
            zkr_grant *g = read_lock(visitor);
            long long number = sequence_of(g) + 2; /* of our next one */
            const char *node = textf("%s/%s%010lld", dir, names[i], number);

            release(g);
            assert_int_equal(admin_create(admin, node, NULL), ZOK);
            struct waiter w = WAITER(queue_by, modes[k], lock, dir);
            /* not compared: a call has an address in each file */
            if (!shared || k == 1)
                still_waits(&w);
            else
                AWAIT(waiter_is_done(&w));
            assert_int_equal(admin_delete(admin, node), ZOK);
            (void)granted(&w);
            assert_int_equal(sequence_of(w.grant), number);
            release(w.grant);
        }
    }
}

int main(void)
{
    return run_with_server(NULL, rw_run_in_both_roots);
}
