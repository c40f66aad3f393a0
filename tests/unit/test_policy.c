/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of how often, and until when, a policy repeats requests that a server
 * throttles: the create of a claim, which is an attempt of its own, and single
 * requests. */
#include "unit.h"

#include "client.h"

enum { PATIENCE_S = 60 }; /* ends a test that hangs */

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
    client_reset();
    s = open_session_with(
        OPTS(session, .flags = ZKR_SESSION_NO_LEASE, .retry = retry));
    m = new_mutex(s);
}

/* Two more than one is three. */
TEST(so_many_repetitions_and_no_more)
{
    AUTO(participants) list = NULL;
    AUTO(reply) reply = NULL;
    AUTO(grant) g = NULL;

    open_with(ZKR_RETRY_N_TIMES_INIT(2, 1));
    client_answers(ZKR__ZK_CREATE, ZKR_ZTHROTTLEDOP);
    gives(ZKR_ZTHROTTLEDOP, zkr_mutex_acquire(m, -1, &g));
    assert_int_equal(client_requests(ZKR__ZK_CREATE), 3);
    assert_int_equal(session_stats(s).retries, 2);
    client_answers(ZKR__ZK_SYNC, ZKR_ZTHROTTLEDOP);
    gives(ZKR_ZTHROTTLEDOP, zkr_participants_list(s, "/lock", NULL, &list));
    assert_int_equal(client_requests(ZKR__ZK_SYNC), 3);
    client_answers(ZKR__ZK_GET, ZKR_ZCONNECTIONLOSS);
    gives(ZKR_ZCONNECTIONLOSS, zkr_session_get(s, "/lock", -1, &reply));
    assert_int_equal(client_requests(ZKR__ZK_GET), 3);
    (void)teardown();
    open_with(ZKR_RETRY_UNTIL_INIT(20, 1));
    client_answers(ZKR__ZK_CREATE, ZKR_ZTHROTTLEDOP);
    gives(ZKR_ZTHROTTLEDOP, zkr_mutex_acquire(m, -1, &g));
}

/* The time is in milliseconds: in others it would have passed. */
TEST(until_then_it_is_repeated)
{
    struct outcome outcome = { .rc = 1 };

    open_with(ZKR_RETRY_UNTIL_INIT(1000 * PATIENCE_S, 1));
    client_answers(ZKR__ZK_CREATE, ZKR_ZTHROTTLEDOP);
    client_answers(ZKR__ZK_CHILDREN, ZKR_ZTHROTTLEDOP);
    ask_for(m, &outcome);
    AWAIT(client_requests(ZKR__ZK_CREATE) >= 300);
    client_answers(ZKR__ZK_CREATE, ZKR_OK);
    AWAIT(client_requests(ZKR__ZK_CHILDREN) >= 300); /* by itself, too */
    client_answers(ZKR__ZK_CHILDREN, ZKR_OK);
    give_back(granted(&outcome));
}

/* Two lists of one claim, each put off twice. */
TEST(each_request_has_repetitions_of_its_own)
{
    struct outcome outcome = { .rc = 1 };

    open_with(ZKR_RETRY_N_TIMES_INIT(2, 1));
    client_shows("lock-0000000001", NULL, false);
    client_answers_times(ZKR__ZK_CHILDREN, ZKR_ZTHROTTLEDOP, 2);
    ask_for(m, &outcome);
    AWAIT(client_requests(ZKR__ZK_GET) != 0);
    client_await_rest();
    client_answers_times(ZKR__ZK_CHILDREN, ZKR_ZTHROTTLEDOP, 2);
    client_shows(NULL, NULL, false);
    client_changes_node("the holder has gone");
    give_back(granted(&outcome));
}

/* The pauses of a check grew with each lost connection, so a grant could be
 * UNSURE for two seconds on a good one (sim --recipe unfair --seed 41900). */
TEST(lost_connections_let_no_pause_grow)
{
    open_with(ZKR_RETRY_EXPONENTIAL_INIT(1, 1000 * PATIENCE_S, 0));
    AUTO(held) g = acquire(m);
    client_answers_times(ZKR__ZK_CHECK, ZKR_ZCONNECTIONLOSS, 25);
    ok(zkr_grant_verify(g, 1000 * PATIENCE_S));
    client_answers_times(ZKR__ZK_CHECK, ZKR_ZOPERATIONTIMEOUT, 25);
    ok(zkr_grant_verify(g, 1000 * PATIENCE_S));
}

/* -- one before another ---------------------------------------------------- */

static void note(int rc, const struct zkr_reply *reply, void *user)
{
    static atomic_int count;

    atomic_store((atomic_int *)user, atomic_fetch_add(&count, 1) + 1);
}

/* The first is put off longer than the second; a third waits behind both. */
TEST(writes_that_come_back_go_in_the_order_of_the_calls)
{
    atomic_int nth[3] = { 0, 0, 0 };

    open_with(ZKR_RETRY_EXPONENTIAL_INIT(100, 1000, 0));
    client_await_rest();
    client_stops_at(ZKR__ZK_SET);
    client_answers_times(ZKR__ZK_SET, ZKR_ZTHROTTLEDOP, 2);
    client_answers_times(ZKR__ZK_DELETE, ZKR_ZTHROTTLEDOP, 1);
    ok(zkr_session_set_async(s, "/data", "", 0, -1, -1, note, &nth[0]));
    ok(zkr_session_delete_async(s, "/data", -1, -1, note, &nth[1]));
    client_stops_at(ZKR__ZK_DELETE);
    AWAIT(session_stats(s).retries >= 1);
    AWAIT(client_requests(ZKR__ZK_SET) >= 2);
    client_goes_on();
    AWAIT(session_stats(s).retries >= 3);
    ok(zkr_session_set_async(s, "/data", "", 0, -1, -1, note, &nth[2]));
    for (int i = 0; i < 3; i++) {
        AWAIT(atomic_load(&nth[i]) != 0);
        assert_true(i == 0 || atomic_load(&nth[i - 1]) < atomic_load(&nth[i]));
    }
}

struct breaking {
    pthread_t thread;
    int64_t token;
    int64_t timeout_ms;
    int rc;
};

static const char broken[] = "/lock/lock-0000000009";

static void *break_it(void *arg)
{
    struct breaking *b = arg;

    b->rc = zkr_participants_break(s, broken, b->token, b->timeout_ms);
    return NULL;
}

/* Nobody else asks for one. */
static void let_go_to(enum zkr__zk_type type, int count)
{
    client_stops_at((int)type);
    AWAIT(client_requests(type) >= count);
    client_await_stop();
}

/* Returns when the answer to the delete is lost, and the node is to be looked
 * at for the second time. */
static int begin_to_break(struct breaking *b)
{
    open_with(ZKR_RETRY_N_TIMES_INIT(9, 1));
    ok(zkr_session_create(s, broken, NULL, 0,
                          OPTS(create, .mode = ZKR_CREATE_EPHEMERAL), -1,
                          NULL));
    AUTO(reply) reply = MADE(reply, session_exists, s, broken, -1);
    b->token = reply->stat.czxid;
    int looks = client_requests(ZKR__ZK_EXISTS) + 2;
    client_answers_times(ZKR__ZK_DELETE, ZKR_ZCONNECTIONLOSS, 1);
    client_stops_at(ZKR__ZK_DELETE);
    b->thread = thread_start(break_it, b);
    let_go_to(ZKR__ZK_DELETE, 1);
    let_go_to(ZKR__ZK_EXISTS, looks);
    return looks;
}

TEST(a_break_that_may_be_made_is_unknown_at_its_deadline)
{
    struct breaking b = { .timeout_ms = 300 };

    (void)begin_to_break(&b);
    thread_join(b.thread);
    assert_int_equal(b.rc, ZKR_EUNKNOWN);
    client_goes_on();
}

/* A delete that may be under way counts, also after one that was refused. */
TEST(a_break_remembers_each_delete_whose_answer_is_lost)
{
    struct breaking b = { .timeout_ms = -1 };
    int looks = begin_to_break(&b);

    client_answers_times(ZKR__ZK_DELETE, ZKR_ZTHROTTLEDOP, 1);
    let_go_to(ZKR__ZK_DELETE, 2);
    let_go_to(ZKR__ZK_EXISTS, looks + 1);
    client_changes_node(NULL);
    client_goes_on();
    thread_join(b.thread);
    assert_int_equal(b.rc, ZKR_OK);
}

TEST(a_break_whose_delete_comes_late_is_made)
{
    struct breaking b = { .timeout_ms = -1 };

    (void)begin_to_break(&b);
    client_answers_times(ZKR__ZK_DELETE, ZKR_ZNONODE, 1);
    client_goes_on();
    thread_join(b.thread);
    assert_int_equal(b.rc, ZKR_OK);
}
