/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with a session that was reported as over, but that the ensemble has
 * kept: its nodes are deleted through the next session.
 *
 * A leader that the others have left reports this. Here the proxy does, and
 * drops the client's request to close the session. */
#include "usual.h"

#define TIMEOUT_MS 6000

static int setup(void)
{
    (void)usual_setup_two_with(OPTS(session, .session_timeout_ms = TIMEOUT_MS));
    release(acquire(m)); /* the directory exists from here on */
    return 0;
}

FIXTURE(setup, usual_teardown)

/* The next request of that type is answered with "session expired". */
static void say_that_it_is_over(int32_t type)
{
    proxy_rule(proxy, PROXY_CLOSE, 1, PROXY_DROP_REQUEST);
    proxy_rule_error(proxy, type, 1, ZSESSIONEXPIRED);
}

static void await_next_session(uint64_t before)
{
    await_epoch(s, before + 1);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
}

static const struct {
    const char *name;
    size_t count;
} waiting[] = { { "one", 1 }, { "two", 2 } };

/* Regression: its node stayed for as long as the ensemble kept the session, and
 * all contenders behind it waited: 9.8 s in a trial with T = 6 s. The first of
 * several that is found tells that the session lives: the others go, too. */
TEST_ROWS(all_nodes_of_a_session_go, waiting, row)
{
    AUTO(held) g = acquire(rival);
    struct waiter w[2];

    for (size_t i = 0; i < row->count; i++)
        waiter_queue(&w[i], m);
    for (int i = 0; i < 2; i++) {
        uint64_t epoch = zkr_session_epoch(s);

        proxy_reset_counts(proxy);
        say_that_it_is_over(PROXY_ANY);
        await_next_session(epoch);
        AWAIT(proxy_requests(proxy, ZOO_DELETE_OP) >= (long)row->count);
        wait_children(path, 1 + row->count); /* the rival, and they anew */
    }
    ok(zkr_lockable_cancel(m));
    for (size_t i = 0; i < row->count; i++)
        assert_int_equal(waiter_join(&w[i]), ZKR_ECANCELED);
}

/* The delete gets the same answer: the session after that has to delete. */
TEST(two_sessions_in_a_row_leave_nothing)
{
    zkr_grant *g = acquire(rival);
    uint64_t epoch = zkr_session_epoch(s);
    struct waiter w = WAITER(queue, m);

    proxy_reset_counts(proxy);
    proxy_rule(proxy, PROXY_CLOSE, 1, PROXY_DROP_REQUEST);
    say_that_it_is_over(ZOO_DELETE_OP);
    proxy_rule_error(proxy, PROXY_ANY, 1, ZSESSIONEXPIRED);
    await_next_session(epoch + 1);
    AWAIT(proxy_requests(proxy, ZOO_DELETE_OP) >= 3);
    wait_children(path, 2);
    release_to(g, &w);
}

/* The lease runs longer: nobody else may be granted the lock before its end,
 * though the holder knows that the lock is lost, and another node goes. The
 * second lock stays: its node is that of a delegate. */
TEST(a_holder_is_given_what_was_promised)
{
    for (int i = 0; i < 2; i++) {
        AUTO(mutex) its =
            NEW(mutex, s, path, OPTS(lockable, .retain_ms = i * 60000));
        uint64_t epoch = zkr_session_epoch(s);
        AUTO(grant) g = acquire(its);
        struct waiter w = WAITER(queue, rival);
        struct waiter behind = WAITER(queue, m);

        proxy_reset_counts(proxy);
        int64_t promised = zkr_grant_valid_until(g);
        say_that_it_is_over(ZOO_MULTI_OP);
        await_next_session(epoch);
        wait_grant_state(g, ZKR_GRANT_LOST);
        assert_int_equal(waiter_join(&w), ZKR_OK);
        assert_true(boot_ms() >= promised);
        assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 2);
        release_to(w.grant, &behind);
    }
}

TEST(a_lock_given_back_goes_in_any_case)
{
    for (int i = 0; i < 2; i++) {
        uint64_t epoch = zkr_session_epoch(s);
        zkr_grant *g = acquire(m);

        proxy_reset_counts(proxy);
        say_that_it_is_over(ZOO_DELETE_OP);
        ok(zkr_grant_release(g));
        zkr_grant_free(g);
        await_next_session(epoch);
        AUTO(held) next = acquire(rival);
        assert_true(proxy_requests(proxy, ZOO_DELETE_OP) >= 2);
    }
}

/* The node looked for first has gone before; that of the waiter is there. */
TEST(a_lock_given_back_tells_nothing_of_its_session)
{
    AUTO(mutex) other = new_mutex(s, new_path());
    zkr_grant *held = acquire(rival);
    struct waiter w = WAITER(queue, m);

    for (int i = 0; i < 2; i++) {
        uint64_t epoch = zkr_session_epoch(s);
        AUTO(grant) g = acquire(other);

        proxy_reset_counts(proxy);
        proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_DROP_REPLY);
        say_that_it_is_over(ZOO_DELETE_OP);
        ok(zkr_grant_release(g));
        await_next_session(epoch);
        AWAIT(proxy_requests(proxy, ZOO_DELETE_OP) >= 4);
        wait_children(path, 2);
    }
    release_to(held, &w);
}

/* It is looked for by the name that the claim had then. */
TEST(a_node_whose_create_was_not_answered_goes)
{
    AUTO(recorder) r = recorder_new();
    uint64_t epoch = zkr_session_epoch(s);

    proxy_reset_counts(proxy);
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    say_that_it_is_over(ZOO_GETCHILDREN2_OP);
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    await_next_session(epoch);
    AUTO(held) g = recorded_grant(r, 0);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 2);
}
