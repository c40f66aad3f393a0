/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what overtakes the requests that a program has posted in masses. */
#include "usual.h"

/* More than are ever under way at once. */
#define MANY 6000
static char data[64];
static atomic_int answered;
static atomic_int wrong;

static int setup(void)
{
    (void)usual_setup();
    (void)snprintf(data, sizeof(data), "%s", new_path());
    assert_int_equal(admin_create(admin, data, "old"), ZOK);
    release(acquire(m));
    atomic_store(&answered, 0);
    atomic_store(&wrong, 0);
    return 0;
}

FIXTURE(setup, usual_teardown)

static void on_answer(int error, const struct zkr_reply *reply, void *user)
{
    const int32_t *version = user;

    if (error != ZKR_OK || (version != NULL && reply->stat.version != *version))
        (void)atomic_fetch_add(&wrong, 1);
    (void)atomic_fetch_add(&answered, 1);
}

static void await_answers(int count)
{
    assert_true(COMES(atomic_load(&answered) == count, 3 * SOON_MS));
    assert_int_equal(atomic_load(&wrong), 0);
}

static void post_reads(void)
{
    for (int i = 0; i < MANY; i++)
        ok(zkr_session_exists_async(s, data, -1, on_answer, NULL));
}

/* No answer comes any more. */
static void post_reads_that_wait(void)
{
    proxy_rule(proxy, ZOO_EXISTS_OP, 1, PROXY_HOLD_REPLY);
    post_reads();
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    proxy_reset_counts(proxy);
}

/* Regression: all stood in one queue with the program's requests. A lock that
 * was held fell into doubt, and a release came to nothing, for as long as the
 * program had posted more than the servers answered. */
TEST(checks_acquires_and_releases_overtake_reads)
{
    AUTO(mutex) other = new_mutex(s, new_path());
    AUTO(mutex) next = new_mutex(s, new_path());
    AUTO(held) held = acquire(m);
    zkr_grant *g = acquire(other);

    post_reads_that_wait();
    zkr_grant_free(g);
    AWAIT(proxy_requests(proxy, ZOO_DELETE_OP) > 0);
    struct waiter w = WAITER(start, next, SOON_MS);
    AWAIT(proxy_requests(proxy, ZOO_CREATE2_OP) > 0);
    AWAIT(proxy_requests(proxy, ZOO_MULTI_OP) > 0); /* the heartbeat */
    assert_int_equal(atomic_load(&answered), 0);
    proxy_release(proxy);
    AUTO(held) granted = waiter_grant(&w);
    await_answers(MANY);
}

TEST(a_release_waits_for_the_writes_before_it_and_for_none_behind_it)
{
    AUTO(mutex) next = new_mutex(s, new_path());
    zkr_grant *g = acquire(m);

    post_reads_that_wait();
    ok(zkr_session_set_async(s, data, "new", 3, -1, -1, on_answer, NULL));
    zkr_grant_free(g);
    ok(zkr_session_set_async(s, path, "new", 3, -1, -1, on_answer, NULL));
    struct waiter w = WAITER(start, next, SOON_MS);
    /* this one does not wait */
    AWAIT(proxy_requests(proxy, ZOO_CREATE2_OP) > 0);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 0);
    assert_int_equal(proxy_requests(proxy, ZOO_SETDATA_OP), 0);
    proxy_release(proxy);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    await_answers(MANY + 2);
    wait_children(path, 0);
    assert_true(stat_of(data).mzxid < stat_of(path).pzxid);
    release(w.grant);

    g = acquire(m);
    post_reads_that_wait();
    zkr_grant_free(g);
    ok(zkr_session_set_async(s, data, "new", 3, -1, -1, on_answer, NULL));
    AWAIT(proxy_requests(proxy, ZOO_DELETE_OP) > 0);
    assert_int_equal(proxy_requests(proxy, ZOO_SETDATA_OP), 0);
    proxy_release(proxy);
    await_answers(2 * MANY + 3);
}

/* Regression: after a cut the question whether the lock is still held came
 * behind all that the program had posted. */
TEST(after_a_cut_the_lock_is_held_before_a_read_is_answered)
{
    AUTO(held) g = acquire(m);

    disconnect(proxy, s);
    post_reads();
    proxy_rule(proxy, ZOO_EXISTS_OP, 1, PROXY_HOLD_REQUEST);
    proxy_heal(proxy);
    wait_grant_state(g, ZKR_GRANT_HELD);
    assert_int_equal(atomic_load(&answered), 0);
    proxy_release(proxy);
    await_answers(MANY);
}

/* Nothing else would send the one behind it. */
TEST(a_write_given_up_lets_the_next_go)
{
    AUTO(recorder) r = recorder_new();
    int32_t version = 1;
    /* It sends nothing by itself, and what is put off stays so. */
    AUTO(session)
    slow = THROUGH(.flags = ZKR_SESSION_NO_LEASE,
                   .retry = ZKR_RETRY_N_TIMES_INIT(9, 600000));

    proxy_rule_error(proxy, ZOO_SETDATA_OP, 1, ZTHROTTLEDOP);
    ok(zkr_session_set_async(slow, data, "new", 3, -1, 500, record_reply, r));
    AWAIT(session_stats(slow).retries == 1);
    ok(zkr_session_set_async(slow, data, "new", 3, -1, -1, on_answer,
                             &version));
    assert_true(recorder_wait(r, 1, SOON_MS));
    await_answers(1);
}

/* Each read shows the write before it, and not the one behind it. */
TEST(reads_and_writes_go_in_the_order_of_the_calls)
{
    static int32_t versions[MANY / 4];

    disconnect(proxy, s);
    for (int i = 0; i < MANY / 4; i++) {
        versions[i] = i + 1;
        ok(zkr_session_set_async(s, data, "new", 3, i, -1, on_answer,
                                 &versions[i]));
        ok(zkr_session_exists_async(s, data, -1, on_answer, &versions[i]));
    }
    proxy_heal(proxy);
    await_answers(MANY / 2);
}
