/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the mutex while servers, replies and sessions fail, beyond the
 * contract: which requests are sent, and what the asynchronous calls report. */
#include "lock/claim.h"
#include "lock/locks.h"
#include "session/session.h"

/* It has names that headers above have, too. */
#include "usual.h"

/* A delete may take longer than the reply timeout, on a busy machine: a release
 * would say so, and a free does not. */
static int setup(void)
{
    (void)usual_setup_two_with(OPTS(session, .session_timeout_ms = SESSION_MS,
                                    .reply_timeout_ms = 300));
    zkr_grant_free(acquire(m)); /* the directory exists from here on */
    wait_children(path, 0);
    return 0;
}

FIXTURE(setup, usual_teardown)

/* -- how many requests ---------------------------------------------------- */

TEST(an_acquire_is_one_flight_of_two_and_then_one_request)
{
    AUTO(mutex) unused = new_mutex(s, new_path()); /* not by the session */

    ok(admin_create(admin, zkr_lockable_path(unused), NULL));
    proxy_set_latency(proxy, 20);
    proxy_reset_counts(proxy);
    zkr_grant *g = acquire(unused);
    assert_int_equal(proxy_requests(proxy, PROXY_ANY), 2);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 1);
    assert_int_equal(proxy_max_in_flight(proxy), 2);
    assert_int_equal(proxy_flights(proxy), 1);
    proxy_reset_counts(proxy);
    ok(zkr_grant_release(g));
    zkr_grant_free(g);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 1);
    /* When the lock is held for 50 ms, the holder watches its node, too. */
    assert_in_range(proxy_requests(proxy, PROXY_ANY), 1, 2);
    release(acquire(unused)); /* the directory is watched by now */
    for (int i = 0; i < 3; i++) {
        proxy_reset_counts(proxy);
        /* Nobody else was there, so the number of the node tells enough. */
        AUTO(held) again = acquire(unused);
        assert_int_equal(proxy_requests(proxy, PROXY_ANY), 1);
        assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 1);
    }
}

/* -- replies that do not come --------------------------------------------- */

/* -118 says nothing about the request, only that the connection is old. */
TEST(a_create_is_searched_for_until_it_is_known)
{
    proxy_rule_error(proxy, ZOO_CREATE2_OP, 1, ZSESSIONMOVED);
    zkr_grant *first = acquire(m);
    assert_in_range(proxy_requests(proxy, ZOO_MULTI_OP), 1, 2);
    assert_int_equal(count_children(path), 1);
    release(first);
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    proxy_rule(proxy, ZOO_MULTI_OP, 1, PROXY_DROP_REQUEST);
    proxy_rule(proxy, ZOO_MULTI_OP, 2, PROXY_DROP_REPLY);
    AUTO(held) g = acquire(m);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
}

/* -- a node of ours that turns up late ------------------------------------ */

/* Under the lock of the session; NULL: it has none. */
static struct zkr__claim *first_claim(zkr_session *of)
{
    struct zkr__list *claims = &zkr__locks_of(of)->claims;

    return zkr__list_empty(claims)
               ? NULL
               : ZKR__CONTAINER(claims->next, struct zkr__claim, link);
}

static void on_late_create(struct zkr__op *op,
                           const struct zkr__zk_reply *reply)
{
}

/* The claim's create, which a search has not found, is carried out now. */
static void create_late(struct zkr_session *of, struct zkr__op *op)
{
    zkr__session_lock(of);
    zkr__op_init(op, of, NULL);
    op->request.mode = ZKR_CREATE_EPHEMERAL_SEQUENTIAL;
    op->request.data = "";
    zkr__op_start_locked(op, ZKR__ZK_CREATE,
                         first_claim(of)->node->request_path, ZKR__RETRY_NEVER,
                         on_late_create);
    zkr__session_unlock(of);
}

/* No server of one ensemble does that, as far as we know; but a claim that
 * waited for the first of its two nodes would wait for itself. */
TEST(a_node_that_turns_up_after_the_search_is_ours_too)
{
    struct zkr__op late;
    AUTO(session) slow = THROUGH(.session_timeout_ms = SESSION_MS,
                                 .retry = ZKR_RETRY_FOREVER_INIT(1000));
    AUTO(mutex) mutex = new_mutex(slow, path);
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REQUEST);
    struct waiter w = WAITER(start, mutex, SOON_MS / 2);
    AWAIT(LOCKED(slow, first_claim(slow) != NULL &&
                           zkr__timer_is_armed(&first_claim(slow)->later)));
    create_late(slow, &late);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    wait_children(path, 2);
    AUTO(text) lowest = nth_child(path, 0);
    assert_has(zkr_grant_node(w.grant), lowest);
    release(w.grant);
    assert_int_equal(count_children(path), 0);
}

/* A single server answers -12, which is in no header of the client, to a
 * request that comes when the session has just ended. The code was once
 * reported unchanged: by an acquire that should have gone on, and by a release
 * that was done. */
TEST(a_session_that_the_server_does_not_know_is_over)
{
    uint64_t epoch = zkr_session_epoch(s);

    proxy_rule_error(proxy, ZOO_CREATE2_OP, 1, -12);
    zkr_grant *g = acquire(m);
    assert_int_equal(zkr_session_epoch(s), epoch + 1);
    proxy_rule_error(proxy, ZOO_DELETE_OP, 1, -12);
    release(g);
    wait_children(path, 0);
}

TEST(without_containers_parents_are_persistent)
{
    AUTO(mutex) mutex = new_mutex(s, new_path());

    proxy_rule_error(proxy, ZOO_CREATE_CONTAINER_OP, 1, ZUNIMPLEMENTED);
    release(acquire(mutex));
    assert_true(proxy_rule_done(proxy));
    /* A container has another. */
    assert_int_equal(stat_of(zkr_lockable_path(mutex)).ephemeralOwner, 0);
}

TEST(a_directory_that_is_ephemeral_is_no_lock)
{
    AUTO(mutex) mutex = new_mutex(s, new_path());
    char name[64];

    ok(admin_create_flags(admin, zkr_lockable_path(mutex), NULL, ZOO_EPHEMERAL,
                          name, sizeof(name)));
    tells(zkr_mutex_acquire(mutex, -1, &nil), ZNOCHILDRENFOREPHEMERALS, name);
    assert_int_equal(admin_delete(admin, name), ZOK);
}

TEST(the_policy_none_sends_a_create_only_once)
{
    AUTO(session) impatient =
        THROUGH(.session_timeout_ms = SESSION_MS, .retry = ZKR_RETRY_NONE_INIT);
    AUTO(mutex) mutex = new_mutex(impatient, path);
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REQUEST);
    assert_int_equal(zkr_mutex_acquire(mutex, -1, &nil), ZCONNECTIONLOSS);
    wait_children(path, 0);
    /* A search for the node is not another attempt. */
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    release(acquire(mutex));
}

/* Each attempt counts, also the second and the third. */
TEST(an_acquire_is_tried_as_often_as_its_policy_says)
{
    AUTO(session) busy =
        THROUGH(.retry = {
                    .kind = ZKR_RETRY_FIXED, .base_ms = 1, .max_retries = 2 });
    AUTO(mutex) mutex = new_mutex(busy, path);
    for (int time = 0; time < TWICE; time++) {
        proxy_reset_counts(proxy);
        for (int nth = 1; nth <= 3; nth++)
            proxy_rule_error(proxy, ZOO_CREATE2_OP, nth, ZTHROTTLEDOP);
        assert_int_equal(zkr_mutex_acquire(mutex, -1, &nil), ZTHROTTLEDOP);
        assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 3);
    }
    release(acquire(mutex));
}

/* -- watches -------------------------------------------------------------- */

TEST(data_changed_on_the_predecessor_wakes_nobody_up)
{
    zkr_grant *g = acquire(rival);
    struct waiter w = WAITER(queue, m);

    for (int i = 0; i < 5; i++)
        assert_int_equal(admin_set(admin, zkr_grant_node(g), "x"), ZOK);
    sleep_ms(50);
    assert_false(waiter_is_done(&w));
    release_to(g, &w);
}

/* -- a connection that comes and goes ------------------------------------- */

/* The event alone means that the node is gone. The holder once read the node
 * first, and was HELD until the answer came, while another held the lock. */
TEST(a_holder_believes_the_event_that_its_node_is_deleted)
{
    AUTO(recorder) r = recorder_new();
    AUTO(grant) g = acquire(m);

    ok(zkr_grant_listen(g, record_grant, r));
    AWAIT(proxy_requests(proxy, ZOO_GETDATA_OP) == 1);
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    delete_nth_child(path, 0);
    assert_int_equal(recorded(r, 0), ZKR_GRANT_LOST); /* not SUSPENDED first */
    ok(zkr_grant_listen(g, NULL, NULL));
}

/* Regression: only a listener that was registered at that moment was told. */
TEST(a_revocation_request_waits_for_its_listener)
{
    AUTO(recorder) r = recorder_new();
    AUTO(held) g = acquire(m);

    assert_int_equal(admin_set(admin, zkr_grant_node(g), "__REVOKE__"), ZOK);
    AWAIT(proxy_requests(proxy, ZOO_GETDATA_OP) == 1); /* by itself */
    ok(zkr_grant_listen(g, record_grant, r));
    assert_int_equal(recorded(r, 0), 100);
    ok(zkr_grant_listen(g, NULL, NULL));
}

static size_t count_watches(void)
{
    size_t count = 0;

    zkr__session_lock(s);
    for (struct zkr__list *l = s->watches.next; l != &s->watches; l = l->next)
        count++;
    zkr__session_unlock(s);
    return count;
}

/* Regression: each of them left a context behind when the holder, in the same
 * session, watched the same node. */
TEST(waits_given_up_leave_no_watch_in_the_client)
{
    AUTO(grant) g = acquire(m);

    AWAIT(proxy_requests(proxy, ZOO_GETDATA_OP) == 1);
    for (int i = 0; i < 50; i++)
        assert_int_equal(zkr_mutex_acquire(m, 5, &nil), ZKR_ETIMEDOUT);
    AWAIT(count_watches() <= 2);
    delete_nth_child(path, 0); /* the holder's own watch is still there */
    wait_grant_state(g, ZKR_GRANT_LOST);
}

/* The client returns ZOK also when it has waited for the server in vain. */
TEST(closing_with_a_silent_server_does_not_claim_success)
{
    AUTO(recorder) r = recorder_new();
    zkr_session *lonely = THROUGH(.session_timeout_ms = 2 * BRIEF_SESSION_MS);
    AUTO(mutex) mutex = new_mutex(lonely, path);
    AUTO(grant) g = acquire(mutex);
    proxy_freeze(proxy);
    ok(zkr_grant_release_async(g, record_release, r));
    assert_int_equal(zkr_session_close(lonely), ZKR_EPENDING);
    assert_int_equal(recorder_count(r), 1);
    assert_int_equal(recorded(r, 0), ZKR_EPENDING);
    proxy_heal(proxy);
    wait_children(path, 0);
}

/* -- servers -------------------------------------------------------------- */

/* SIGSTOP makes the client report ZOPERATIONTIMEOUT, not CONNECTIONLOSS, which
 * half of the recipes do not retry. */
TEST(a_server_that_stops_and_goes_on_makes_no_second_node)
{
    AUTO(recorder) r = recorder_new();

    server_pause(the_server);
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    server_resume(the_server);
    assert_int_equal(recorded(r, 0), ZKR_OK);
    wait_children(path, 1);
    release(recorded_grant(r, 0));
    wait_children(path, 0);
}

TEST(a_wait_for_silent_servers_says_since_when)
{
    server_pause(the_server);
    tells(zkr_mutex_acquire(m, 300, &nil), ZKR_ETIMEDOUT,
          "waiting for the servers; the last answer was of server ");
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    tells(zkr_mutex_acquire(m, 50, &nil), ZKR_ETIMEDOUT,
          "without a connection; the last answer came ");
    server_resume(the_server);
    release(acquire(m));
}
