/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the unfair mutex: all holders use one name, and the data tell whose
 * node it is. */
#include "lock/claim.h"
#include "lock/locks.h"
#include "session/session.h"

/* It has names of headers above. Here `m` and `rival` are unfair. */
#include "usual.h"

static char node[80];

static int setup(void)
{
    (void)usual_setup_two_with(OPTS(session, .session_timeout_ms = SESSION_MS,
                                    .reply_timeout_ms = 300));
    (void)snprintf(node, sizeof(node), "%s/holder", path);
    zkr_mutex_free(m);
    zkr_mutex_free(rival);
    m = NEW(unfair_mutex, s, path, NULL);
    rival = NEW(unfair_mutex, theirs, path, NULL);
    release(acquire(m)); /* the directory exists from here on */
    return 0;
}

FIXTURE(setup, usual_teardown)

TEST(one_request_takes_it_and_one_gives_it_back)
{
    proxy_reset_counts(proxy);
    zkr_grant *g = acquire(m);
    assert_int_equal(proxy_requests(proxy, PROXY_ANY), 1);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 1);
    assert_string_equal(zkr_grant_node(g), node);
    release(g);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 1);
    assert_int_equal(count_children(path), 0);
}

TEST(all_who_wait_watch_the_one_node)
{
    enum { N = 4 };
    zkr_session *sessions[N];
    zkr_unfair_mutex *mutexes[N];
    AUTO(recorder) r = recorder_new();
    zkr_grant *g = acquire(rival);

    for (size_t i = 0; i < N; i++) {
        sessions[i] = open_session();
        mutexes[i] = NEW(unfair_mutex, sessions[i], path, NULL);
        ok(zkr_unfair_mutex_acquire_async(mutexes[i], SOON_MS, record_acquire,
                                          r, NULL));
    }
    AWAIT(server_watches(the_server, node, 0) == N + 1); /* the holder too */
    assert_int_equal(count_children(path), 1);
    release(g);
    for (size_t i = 0; i < N; i++) { /* in whatever order, one by one */
        assert_int_equal(recorded(r, i), ZKR_OK);
        assert_int_equal(recorder_count(r), i + 1);
        release(recorded_grant(r, i));
    }
    for (size_t i = 0; i < N; i++) {
        zkr_unfair_mutex_free(mutexes[i]);
        close_session(sessions[i]);
    }
}

/* The owner of the node does not tell two claims of one session apart. */
TEST(a_lost_create_reply_is_settled_by_the_data)
{
    AUTO(unfair_mutex) same_session = NEW(unfair_mutex, s, path, NULL);

    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    zkr_grant *g = acquire(m);
    assert_true(proxy_rule_done(proxy));
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    assert_int_equal(zkr_unfair_mutex_acquire(same_session, GIVE_UP_MS, &nil),
                     ZKR_ETIMEDOUT);
    assert_true(proxy_rule_done(proxy));
    ok(zkr_grant_check(g));
    assert_int_equal(count_children(path), 1);
    release(g);
    release(acquire(same_session));
}

/* A server that lags behind does not show the node that the create has made. */
TEST(a_try_whose_create_is_carried_out_late_has_it)
{
    AUTO(session) another = THROUGH(.session_timeout_ms = SESSION_MS);
    AUTO(unfair_mutex) its = NEW(unfair_mutex, another, path, NULL);

    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    proxy_rule_error(proxy, ZOO_GETDATA_OP, 1, ZKR_ZNONODE);
    release(GRANT(unfair_mutex_acquire, its, 0));
    assert_true(proxy_rule_done(proxy));
}

/* As when a session lives on, though one server has said that it is over. */
TEST(a_node_of_another_session_is_not_ours)
{
    char data[ZKR__OWNER_MAX + 1];

    proxy_freeze(proxy);
    struct waiter w =
        WAITER(start_by, zkr_unfair_mutex_acquire, m, SESSION_MS / 2);
    AWAIT(LOCKED(s, !zkr__list_empty(&zkr__locks_of(s)->claims)));
    (void)LOCKED(s, strcpy(data, ZKR__CONTAINER(zkr__locks_of(s)->claims.next,
                                                struct zkr__claim, link)
                                     ->node->record->data));
    assert_int_equal(admin_create(admin, node, data), ZOK);
    proxy_heal(proxy);
    assert_int_equal(waiter_join(&w), ZKR_ETIMEDOUT);
    assert_int_equal(admin_delete(admin, node), ZOK);
    release(acquire(m));
}

/* The next holder may have made a node of the same name meanwhile. */
TEST(a_delete_is_not_repeated_on_the_node_of_the_next_holder)
{
    AUTO(recorder) r = recorder_new();
    AUTO(grant) g = acquire(m);

    proxy_reset_counts(proxy);
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_DROP_REPLY);
    ok(zkr_grant_release_async(g, record_release, r));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    proxy_cut(proxy); /* it looks when the next holder is there */
    zkr_grant *next = acquire(rival);
    proxy_heal(proxy);
    assert_int_equal(recorded(r, 0), ZKR_OK);
    assert_true(proxy_requests(proxy, ZOO_MULTI_OP) >= 1);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 1);
    ok(zkr_grant_check(next));
    assert_int_equal(count_children(path), 1);
    release(next);
    AUTO(grant) refused = acquire(m);
    proxy_rule_error(proxy, ZOO_DELETE_OP, 1, ZNOAUTH);
    assert_int_equal(zkr_grant_release(refused), ZKR_ZNOAUTH);
    assert_int_equal(admin_delete(admin, node), ZOK);
    next = acquire(rival);
    assert_int_equal(zkr_unfair_mutex_acquire(m, 0, &nil), ZKR_EBUSY);
    release(next); /* our next claim has made the refused one first */
}

/* The request replaces the data of the node, by which it was known as ours. */
TEST(a_release_on_request_that_is_lost_still_happens)
{
    AUTO(grant) g = acquire(m);

    ok(zkr_participants_revoke(theirs, node));
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_DROP_REQUEST);
    ok(zkr_grant_release_async(g, NULL, NULL));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    wait_children(path, 0);
    release(acquire(rival));
}

/* The same before the creator knows that it holds the lock. */
TEST(a_node_written_to_before_it_is_found_is_found)
{
    AUTO(recorder) r = recorder_new();

    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    ok(zkr_unfair_mutex_acquire_async(m, SOON_MS, record_acquire, r, NULL));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    proxy_cut(proxy);
    ok(zkr_participants_revoke(theirs, node));
    proxy_heal(proxy);
    AUTO(held) g = recorded_grant(r, 0);
    ok(zkr_grant_check(g));
}

/* Both took the node for their own: the second delete hit the next holder. */
TEST(a_node_that_two_may_have_made_is_deleted_once)
{
    AUTO(recorder) r = recorder_new();

    proxy_reset_counts(proxy);
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REPLY);
    for (int i = 0; i < 2; i++)
        ok(zkr_unfair_mutex_acquire_async(m, SOON_MS, record_acquire, r, NULL));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    AWAIT(proxy_requests(proxy, ZOO_CREATE2_OP) >= 2);
    ok(zkr_lockable_cancel(m));
    assert_true(recorder_wait(r, 2, SOON_MS));
    ok(zkr_participants_revoke(theirs, node));
    proxy_cut(proxy);
    proxy_release(proxy);
    proxy_heal(proxy);
    AWAIT(proxy_requests(proxy, ZOO_GETDATA_OP) >= 2);
    wait_children(path, 0);
    release(acquire(m)); /* behind all that was sent before */
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 2);
}

/* A waiter that may not read the holder's node lists again by a timer, which
 * was armed twice when another claim was faster. */
TEST(a_node_that_may_not_be_read_is_waited_for_again)
{
    AUTO(recorder) r = recorder_new();
    AUTO(session) secretive = OPEN(.acl = "world:anyone:cdw");
    AUTO(unfair_mutex) closed = NEW(unfair_mutex, secretive, path, NULL);
    zkr_grant *g = acquire(closed);
    proxy_reset_counts(proxy);
    proxy_rule(proxy, ZOO_EXISTS_OP, 1, PROXY_HOLD_REQUEST);
    ok(zkr_unfair_mutex_acquire_async(m, SOON_MS, record_acquire, r, NULL));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    release(g);
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REQUEST);
    proxy_release(proxy);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    g = acquire(closed);
    proxy_release(proxy);
    AWAIT(proxy_requests(proxy, ZOO_EXISTS_OP) >= 2);
    release(g);
    release(recorded_grant(r, 0));
}

/* The same name is used again, so its presence proves nothing. */
TEST(a_holder_sees_that_the_node_is_somebody_elses)
{
    AUTO(grant) g = acquire(m);

    assert_int_equal(admin_delete(admin, node), ZOK);
    AUTO(held) next = acquire(rival);
    wait_grant_state(g, ZKR_GRANT_LOST);
    assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
    ok(zkr_grant_check(next));
    assert_int_equal(count_children(path), 1);
    assert_true(zkr_grant_token(next) > 0);
}
