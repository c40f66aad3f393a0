/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how often, and until when, a policy repeats requests that a server
 * throttles: the create of a claim, which is an attempt of its own, and single
 * requests. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include <zkrecipes/zkrecipes.h>

#include "client.h"

/* Ends a test that hangs. */
enum { PATIENCE_S = 60 };

static zkr_session *s;
static zkr_mutex *m;

static int teardown(void)
{
    zkr_mutex_free(m);
    return zkr_session_close(s);
}

FIXTURE(NULL, teardown)

static void open_with(struct zkr_retry retry)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;

    client_reset();
    opts.flags = ZKR_SESSION_NO_LEASE;
    opts.retry = retry;
    assert_int_equal(zkr_session_open("127.0.0.1:2181", &opts, &s), ZKR_OK);
    assert_int_equal(zkr_mutex_new(s, "/lock", NULL, &m), ZKR_OK);
}

static int list(void)
{
    struct zkr_participants *list = NULL;
    int rc = zkr_participants_list(s, "/lock", NULL, &list);

    zkr_participants_free(list);
    return rc;
}

/* Two more than one is three. */
TEST(so_many_repetitions_and_no_more)
{
    struct zkr_reply *reply = NULL;
    zkr_grant *g = NULL;

    open_with(ZKR_RETRY_N_TIMES_INIT(2, 1));
    client_answers(ZKR__ZK_CREATE, ZKR_ZTHROTTLEDOP);
    assert_int_equal(zkr_mutex_acquire(m, -1, &g), ZKR_ZTHROTTLEDOP);
    assert_int_equal(client_requests(ZKR__ZK_CREATE), 3);
    client_answers(ZKR__ZK_SYNC, ZKR_ZTHROTTLEDOP);
    assert_int_equal(list(), ZKR_ZTHROTTLEDOP);
    assert_int_equal(client_requests(ZKR__ZK_SYNC), 3);
    client_answers(ZKR__ZK_GET, ZKR_ZCONNECTIONLOSS);
    assert_int_equal(zkr_session_get(s, "/lock", -1, &reply),
                     ZKR_ZCONNECTIONLOSS);
    assert_int_equal(client_requests(ZKR__ZK_GET), 3);
}

static void on_outcome(int rc, zkr_grant *grant, void *user)
{
    zkr_grant_free(grant);
    atomic_store((atomic_int *)user, rc);
}

static void pass_a_moment(void)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void await_outcome(const atomic_int *outcome)
{
    while (atomic_load(outcome) == 1)
        pass_a_moment();
    assert_int_equal(atomic_load(outcome), ZKR_OK);
}

/* The time is in milliseconds: in nanoseconds it would have passed at once. */
TEST(until_then_it_is_repeated)
{
    atomic_int outcome = 1;

    open_with(ZKR_RETRY_UNTIL_INIT(1000 * PATIENCE_S, 1));
    client_answers(ZKR__ZK_CREATE, ZKR_ZTHROTTLEDOP);
    client_answers(ZKR__ZK_CHILDREN, ZKR_ZTHROTTLEDOP);
    assert_int_equal(zkr_mutex_acquire_async(m, -1, on_outcome, &outcome, NULL),
                     ZKR_OK);
    while (client_requests(ZKR__ZK_CREATE) < 4)
        pass_a_moment();
    client_answers(ZKR__ZK_CREATE, ZKR_OK);
    while (client_requests(ZKR__ZK_CHILDREN) < 10) /* by itself, too */
        pass_a_moment();
    client_answers(ZKR__ZK_CHILDREN, ZKR_OK);
    await_outcome(&outcome);
}

/* Two lists of one claim, each put off twice. */
TEST(each_request_has_repetitions_of_its_own)
{
    static const char *const holder[] = { "lock-0000000001", NULL };
    static const char *const nobody[] = { NULL, NULL };
    atomic_int outcome = 1;

    open_with(ZKR_RETRY_N_TIMES_INIT(2, 1));
    client_shows(holder, false);
    client_answers_times(ZKR__ZK_CHILDREN, ZKR_ZTHROTTLEDOP, 2);
    assert_int_equal(zkr_mutex_acquire_async(m, -1, on_outcome, &outcome, NULL),
                     ZKR_OK);
    while (client_requests(ZKR__ZK_GET) == 0)
        pass_a_moment();
    client_await_rest();
    client_answers_times(ZKR__ZK_CHILDREN, ZKR_ZTHROTTLEDOP, 2);
    client_shows(nobody, false);
    client_changes_node("the holder has gone");
    await_outcome(&outcome);
}

/* -- one before another -----------------------------------------------------
 */

static void note(int rc, const struct zkr_reply *reply, void *user)
{
    static atomic_int count;

    (void)rc;
    (void)reply;
    atomic_store((atomic_int *)user, atomic_fetch_add(&count, 1) + 1);
}

static void await_retries(uint64_t count)
{
    struct zkr_counters counters = ZKR_COUNTERS_INIT;

    while (counters.retries < count) {
        pass_a_moment();
        assert_int_equal(zkr_session_stats(s, &counters), ZKR_OK);
    }
}

/* The first is put off for longer than the second; a third waits behind both.
 */
TEST(writes_that_come_back_go_in_the_order_of_the_calls)
{
    atomic_int nth[3] = { 0, 0, 0 };

    open_with(ZKR_RETRY_EXPONENTIAL_INIT(100, 1000, 0));
    client_await_rest();
    client_stops_at(ZKR__ZK_SET);
    client_answers_times(ZKR__ZK_SET, ZKR_ZTHROTTLEDOP, 2);
    client_answers_times(ZKR__ZK_DELETE, ZKR_ZTHROTTLEDOP, 1);
    assert_int_equal(
        zkr_session_set_async(s, "/data", "", 0, -1, -1, note, &nth[0]),
        ZKR_OK);
    assert_int_equal(
        zkr_session_delete_async(s, "/data", -1, -1, note, &nth[1]), ZKR_OK);
    client_stops_at(ZKR__ZK_DELETE);
    await_retries(1);
    while (client_requests(ZKR__ZK_SET) < 2)
        pass_a_moment();
    client_goes_on();
    await_retries(3);
    assert_int_equal(
        zkr_session_set_async(s, "/data", "", 0, -1, -1, note, &nth[2]),
        ZKR_OK);
    for (int i = 0; i < 3; i++) {
        while (atomic_load(&nth[i]) == 0)
            pass_a_moment();
        assert_true(i == 0 || atomic_load(&nth[i - 1]) < atomic_load(&nth[i]));
    }
}

struct breaking {
    pthread_t thread;
    int64_t token;
    int rc;
};

static const char broken[] = "/lock/lock-0000000009";

static void *break_it(void *arg)
{
    struct breaking *b = arg;

    b->rc = zkr_participants_break(s, broken, b->token, -1);
    return NULL;
}

/* Nobody else asks for one. */
static void let_go_to(enum zkr__zk_type type, int count)
{
    client_stops_at((int)type);
    while (client_requests(type) < count)
        pass_a_moment();
    client_await_stop();
}

/* A delete that may be under way counts, also after one that was refused. */
TEST(a_break_remembers_each_delete_whose_answer_is_lost)
{
    struct zkr_create_opts opts = ZKR_CREATE_OPTS_INIT;
    struct zkr_reply *reply = NULL;
    struct breaking b;
    int looks;

    open_with(ZKR_RETRY_N_TIMES_INIT(9, 1));
    opts.mode = ZKR_CREATE_EPHEMERAL;
    assert_int_equal(zkr_session_create(s, broken, NULL, 0, &opts, -1, &reply),
                     ZKR_OK);
    zkr_reply_free(reply);
    assert_int_equal(zkr_session_exists(s, broken, -1, &reply), ZKR_OK);
    b.token = reply->stat.czxid;
    zkr_reply_free(reply);
    looks = client_requests(ZKR__ZK_EXISTS) + 1; /* with the first of it */
    client_answers_times(ZKR__ZK_DELETE, ZKR_ZCONNECTIONLOSS, 1);
    client_stops_at(ZKR__ZK_DELETE);
    assert_int_equal(pthread_create(&b.thread, NULL, break_it, &b), 0);
    let_go_to(ZKR__ZK_DELETE, 1);
    let_go_to(ZKR__ZK_EXISTS, looks + 1);
    client_answers_times(ZKR__ZK_DELETE, ZKR_ZTHROTTLEDOP, 1);
    let_go_to(ZKR__ZK_DELETE, 2);
    let_go_to(ZKR__ZK_EXISTS, looks + 2);
    client_changes_node(NULL);
    client_goes_on();
    assert_int_equal(pthread_join(b.thread, NULL), 0);
    assert_int_equal(b.rc, ZKR_OK);
}
