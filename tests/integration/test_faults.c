/* The mutex while servers, replies and sessions fail: every request may have
 * been carried out or not, and the lock must neither be lost nor left behind.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zookeeper/proto.h>

#include "proxy.h"
#include "session.h"

#ifndef ZOO_CREATE2_OP
#define ZOO_CREATE2_OP 15
#endif

static struct proxy *proxy;
static zkr_session *s; /* through the proxy */
static zkr_mutex *m;
static char path[64];

static int setup(void **state)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;

    (void)state;
    if (proxy_start(server_hosts(the_server), &proxy) != 0)
        return -1;
    opts.session_timeout_ms = SESSION_MS;
    opts.reply_timeout_ms = 300;
    ok(zkr_session_open(proxy_hosts(proxy), &opts, &s));
    (void)snprintf(path, sizeof(path), "%s", new_path());
    m = new_mutex(s, path);
    release(acquire(m)); /* the directory exists from here on */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    proxy_heal(proxy);
    proxy_release(proxy);
    zkr_mutex_free(m);
    (void)zkr_session_close(s);
    proxy_stop(proxy);
    return 0;
}

static void expire_session(void)
{
    expire(s);
}

/* -- how many requests ---------------------------------------------------- */

static void
an_acquire_is_one_flight_of_two_and_a_release_one_request(void **state)
{
    zkr_grant *g;

    (void)state;
    proxy_set_latency(proxy, 20);
    proxy_reset_counts(proxy);
    g = acquire(m);
    assert_int_equal(proxy_requests(proxy, PROXY_ANY), 2);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 1);
    assert_int_equal(proxy_max_in_flight(proxy), 2);
    assert_int_equal(proxy_flights(proxy), 1);
    proxy_reset_counts(proxy);
    ok(zkr_grant_release(g));
    zkr_grant_free(g);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), 1);
    /* Held for 50 ms or more, it has also begun to watch its own node. */
    assert_in_range(proxy_requests(proxy, PROXY_ANY), 1, 2);
}

/* -- replies that do not come --------------------------------------------- */

/* The classic: the node exists, and we do not know. */
static void a_lost_create_reply_makes_no_second_node(void **state)
{
    zkr_grant *g;

    (void)state;
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    g = acquire(m);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
    assert_int_equal(proxy_requests(proxy, ZOO_SYNC_OP), 1);
    release(g);
    assert_int_equal(count_children(path), 0);
}

static void a_lost_create_request_is_sent_again(void **state)
{
    zkr_grant *g;

    (void)state;
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REQUEST);
    g = acquire(m);
    assert_int_equal(count_children(path), 1);
    release(g);
    assert_int_equal(count_children(path), 0);
}

/* Curator loses the node here (its two nested retry loops). */
static void a_create_that_is_lost_twice_is_found_all_the_same(void **state)
{
    zkr_grant *g;

    (void)state;
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REQUEST);
    proxy_rule(proxy, ZOO_CREATE2_OP, 2, PROXY_DROP_REPLY);
    g = acquire(m);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
    release(g);
    assert_int_equal(count_children(path), 0);
}

static void a_search_that_is_interrupted_goes_on(void **state)
{
    zkr_grant *g;

    (void)state;
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    proxy_rule(proxy, ZOO_SYNC_OP, 1, PROXY_DROP_REQUEST);
    proxy_rule(proxy, ZOO_SYNC_OP, 2, PROXY_DROP_REPLY);
    g = acquire(m);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
    release(g);
}

static void a_lost_list_is_asked_for_again(void **state)
{
    zkr_grant *g;

    (void)state;
    proxy_rule(proxy, ZOO_GETCHILDREN_OP, 1, PROXY_DROP_REPLY);
    g = acquire(m);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
    release(g);
}

/* Given up while nobody knows whether the node exists: it must not stay. */
static void
a_wait_that_ends_before_the_create_is_known_leaves_nothing(void **state)
{
    zkr_grant *g = NULL;

    (void)state;
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REPLY);
    assert_int_equal(zkr_mutex_acquire(m, 100, &g), ZKR_ETIMEDOUT);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    assert_int_equal(count_children(path), 1);
    proxy_cut(proxy); /* the reply is lost for good */
    proxy_heal(proxy);
    wait_children(path, 0);
    release(acquire(m));
}

static void a_wait_that_ends_without_a_connection_leaves_nothing(void **state)
{
    zkr_grant *g = NULL;
    int64_t start;

    (void)state;
    proxy_cut(proxy);
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    start = now_ms();
    assert_int_equal(zkr_mutex_acquire(m, 200, &g), ZKR_ETIMEDOUT);
    assert_in_range(now_ms() - start, 200, 2000);
    assert_non_null(strstr(zkr_error_detail(), "connection"));
    assert_int_equal(zkr_mutex_acquire(m, 0, &g), ZCONNECTIONLOSS);
    proxy_heal(proxy);
    release(acquire(m));
    assert_int_equal(count_children(path), 0);
}

static void a_lost_delete_reply_is_a_release(void **state)
{
    zkr_grant *g = acquire(m);
    int rc;

    (void)state;
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_DROP_REPLY);
    rc = zkr_grant_release(g);
    assert_true(rc == ZKR_OK || rc == ZKR_EPENDING);
    zkr_grant_free(g);
    wait_children(path, 0);
}

/* Curator forgets the node when the delete fails, and queues behind itself. */
static void a_release_without_a_connection_is_made_up_for(void **state)
{
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    int64_t start;
    int code = -1;

    (void)state;
    proxy_cut(proxy);
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    start = now_ms();
    assert_int_equal(zkr_grant_release(g), ZKR_EPENDING);
    assert_in_range(now_ms() - start, 300, 2000);
    assert_int_equal(zkr_grant_release(g), ZKR_ENOTHELD);
    zkr_grant_free(g);
    proxy_heal(proxy);
    wait_children(path, 0);

    g = acquire(m);
    proxy_cut(proxy);
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    ok(zkr_grant_release_async(g, record_release, r));
    zkr_grant_free(g);
    proxy_heal(proxy);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_OK);
    assert_int_equal(count_children(path), 0);
    recorder_free(r);
}

/* -127 means that it was not carried out: no search, just another attempt. */
static void a_throttled_create_is_repeated_without_a_search(void **state)
{
    zkr_grant *g;

    (void)state;
    proxy_rule_error(proxy, ZOO_CREATE2_OP, 1, -127);
    proxy_rule_error(proxy, ZOO_GETCHILDREN_OP, 2, -127);
    g = acquire(m);
    assert_int_equal(proxy_requests(proxy, ZOO_SYNC_OP), 0);
    assert_int_equal(count_children(path), 1);
    proxy_rule_error(proxy, ZOO_DELETE_OP, 1, -127);
    release(g);
    assert_int_equal(count_children(path), 0);
}

static void an_error_without_a_cure_is_reported_as_it_came(void **state)
{
    zkr_grant *g = NULL;

    (void)state;
    proxy_rule_error(proxy, ZOO_CREATE2_OP, 1, -125); /* quota */
    assert_int_equal(zkr_mutex_acquire(m, -1, &g), -125);
    assert_non_null(strstr(zkr_error_detail(), path));
    assert_non_null(strstr(zkr_error_detail(), "-125"));
    proxy_rule_error(proxy, ZOO_GETCHILDREN_OP, 1, ZNOAUTH);
    assert_int_equal(zkr_mutex_acquire(m, 0, &g), ZNOAUTH);
    wait_children(path, 0);
}

static void the_policy_none_sends_a_create_only_once(void **state)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    struct zkr_retry none = ZKR_RETRY_NONE_INIT;
    zkr_session *impatient = NULL;
    zkr_mutex *mutex;
    zkr_grant *g = NULL;

    (void)state;
    opts.session_timeout_ms = SESSION_MS;
    opts.retry = none;
    ok(zkr_session_open(proxy_hosts(proxy), &opts, &impatient));
    mutex = new_mutex(impatient, path);
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REQUEST);
    assert_int_equal(zkr_mutex_acquire(mutex, -1, &g), ZCONNECTIONLOSS);
    wait_children(path, 0);
    /* To look whether it was carried out is not another attempt. */
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    ok(zkr_mutex_acquire(mutex, -1, &g));
    release(g);
    zkr_mutex_free(mutex);
    close_session(impatient);
}

/* -- watches -------------------------------------------------------------- */

/* The recipe shipped with ZooKeeper takes this for a failure. */
static void
a_predecessor_that_goes_before_it_is_watched_is_no_failure(void **state)
{
    zkr_session *other = open_session();
    zkr_mutex *holder = new_mutex(other, path);
    zkr_grant *g = acquire(holder);
    struct waiter w;

    (void)state;
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    waiter_start(&w, m, -1);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    release(g);
    proxy_release(proxy);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    assert_non_null(strstr(zkr_grant_node(w.grant), "0000000002"));
    release(w.grant);
    zkr_mutex_free(holder);
    close_session(other);
}

static void a_lost_watch_reply_loses_no_wake_up(void **state)
{
    zkr_session *other = open_session();
    zkr_mutex *holder = new_mutex(other, path);
    zkr_grant *g = acquire(holder);
    struct waiter w;

    (void)state;
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_DROP_REPLY);
    waiter_start(&w, m, -1);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    release(w.grant);
    zkr_mutex_free(holder);
    close_session(other);
}

static void data_changed_on_the_predecessor_wakes_nobody_up(void **state)
{
    zkr_session *other = open_session();
    zkr_mutex *holder = new_mutex(other, path);
    zkr_grant *g = acquire(holder);
    struct waiter w;

    (void)state;
    waiter_start(&w, m, -1);
    wait_children(path, 2);
    for (int i = 0; i < 5; i++)
        assert_int_equal(admin_set(admin, zkr_grant_node(g), "x"), ZOK);
    sleep_ms(50);
    assert_false(waiter_is_done(&w));
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    release(w.grant);
    zkr_mutex_free(holder);
    close_session(other);
}

/* -- a connection that comes and goes ------------------------------------- */

static void a_disconnect_costs_neither_the_lock_nor_the_place(void **state)
{
    zkr_session *other = open_session();
    zkr_mutex *rival = new_mutex(other, path);
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    int64_t token = zkr_grant_token(g);
    struct waiter w;
    struct waiter last;
    char *place;
    char *same_place;

    (void)state;
    ok(zkr_grant_listen(g, record_grant, r));
    waiter_start(&w, m, -1);
    wait_children(path, 2);
    waiter_start(&last, rival, -1);
    wait_children(path, 3);
    place = nth_child(path, 1);
    proxy_cut(proxy);
    wait_grant_state(g, ZKR_GRANT_SUSPENDED);
    proxy_heal(proxy);
    wait_grant_state(g, ZKR_GRANT_HELD);
    assert_true(zkr_grant_token(g) == token);
    assert_int_equal(proxy_requests(proxy, ZOO_MULTI_OP), 1);
    same_place = nth_child(path, 1);
    assert_string_equal(place, same_place);
    free(place);
    free(same_place);
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    assert_false(waiter_is_done(&last));
    release(w.grant);
    assert_int_equal(waiter_join(&last), ZKR_OK);
    release(last.grant);
    assert_int_equal(recorder_count(r), 3); /* SUSPENDED, HELD, RELEASED */
    recorder_free(r);
    zkr_mutex_free(rival);
    close_session(other);
}

/* RECONNECTED proves nothing: somebody may have deleted the node meanwhile. */
static void a_reconnect_alone_does_not_make_it_held_again(void **state)
{
    zkr_grant *g = acquire(m);

    (void)state;
    proxy_cut(proxy);
    wait_grant_state(g, ZKR_GRANT_SUSPENDED);
    delete_nth_child(path, 0);
    proxy_heal(proxy);
    wait_grant_state(g, ZKR_GRANT_LOST);
    assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
    zkr_grant_free(g);
}

static bool has_looked(void *unused)
{
    (void)unused;
    return proxy_requests(proxy, ZOO_GETDATA_OP) == 1;
}

/* The event alone says that the node is gone. The holder used to look first,
 * and to say "held" until that was answered, while somebody else held the lock.
 */
static void a_holder_believes_the_event_that_its_node_is_deleted(void **state)
{
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    int code = 0;

    (void)state;
    ok(zkr_grant_listen(g, record_grant, r));
    assert_true(wait_until(has_looked, NULL, SOON_MS));
    proxy_rule(proxy, ZOO_GETDATA_OP, 1, PROXY_HOLD_REQUEST);
    delete_nth_child(path, 0);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_GRANT_LOST); /* and not SUSPENDED first */
    ok(zkr_grant_listen(g, NULL, NULL));
    zkr_grant_free(g);
    recorder_free(r);
}

/* It used to be told to a listener of the moment only. */
static void a_revocation_request_waits_for_its_listener(void **state)
{
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    int code = 0;

    (void)state;
    assert_int_equal(admin_set(admin, zkr_grant_node(g), "__REVOKE__"), ZOK);
    assert_true(wait_until(has_looked, NULL, SOON_MS)); /* by itself */
    ok(zkr_grant_listen(g, record_grant, r));
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, 100);
    ok(zkr_grant_listen(g, NULL, NULL));
    release(g);
    recorder_free(r);
}

static size_t count_watches(void)
{
    size_t count = 0;

    zkr__mtx_lock(&s->lock);
    for (struct zkr__list *l = s->watches.next; l != &s->watches; l = l->next)
        count++;
    zkr__mtx_unlock(&s->lock);
    return count;
}

static bool has_few_watches(void *unused)
{
    (void)unused;
    return count_watches() <= 2;
}

/* Each of them used to leave a context behind when the holder, in the same
 * session, watched the same node. */
static void waits_given_up_leave_no_watch_in_the_client(void **state)
{
    zkr_grant *g = acquire(m);
    zkr_grant *none = NULL;

    (void)state;
    assert_true(wait_until(has_looked, NULL, SOON_MS));
    for (int i = 0; i < 50; i++)
        assert_int_equal(zkr_mutex_acquire(m, 5, &none), ZKR_ETIMEDOUT);
    assert_true(wait_until(has_few_watches, NULL, SOON_MS));
    delete_nth_child(path, 0); /* the holder's own watch is still there */
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
}

/* The predecessor leaves while we are cut off: SetWatches tells us later. */
static void a_wake_up_missed_while_away_is_delivered_later(void **state)
{
    zkr_session *other = open_session();
    zkr_mutex *holder = new_mutex(other, path);
    zkr_grant *g = acquire(holder);
    struct waiter w;

    (void)state;
    waiter_start(&w, m, -1);
    wait_children(path, 2);
    proxy_cut(proxy);
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    release(g);
    proxy_heal(proxy);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    release(w.grant);
    zkr_mutex_free(holder);
    close_session(other);
}

static void closing_without_a_connection_says_what_stays(void **state)
{
    zkr_session *lonely = NULL;
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    zkr_mutex *mutex;
    zkr_grant *g;

    (void)state;
    opts.session_timeout_ms = SESSION_MS;
    ok(zkr_session_open(proxy_hosts(proxy), &opts, &lonely));
    mutex = new_mutex(lonely, path);
    g = acquire(mutex);
    proxy_cut(proxy);
    wait_session_state(lonely, ZKR_SESSION_SUSPENDED);
    assert_int_equal(zkr_session_close(lonely), ZKR_EPENDING);
    assert_int_equal(count_children(path), 1);
    zkr_grant_free(g);
    zkr_mutex_free(mutex);
    wait_children(path, 0); /* after the session timeout */
}

/* The client says ZOK also when it has waited for the server in vain. */
static void closing_with_a_silent_server_does_not_claim_success(void **state)
{
    zkr_session *lonely = NULL;
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    struct recorder *r = recorder_new();
    zkr_mutex *mutex;
    zkr_grant *g;
    int code = 1;

    (void)state;
    opts.session_timeout_ms = 2 * SESSION_MS;
    ok(zkr_session_open(proxy_hosts(proxy), &opts, &lonely));
    mutex = new_mutex(lonely, path);
    g = acquire(mutex);
    proxy_freeze(proxy);
    ok(zkr_grant_release_async(g, record_release, r));
    assert_int_equal(zkr_session_close(lonely), ZKR_EPENDING);
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_EPENDING);
    zkr_grant_free(g);
    zkr_mutex_free(mutex);
    recorder_free(r);
    proxy_heal(proxy);
    wait_children(path, 0);
}

/* -- servers -------------------------------------------------------------- */

/* SIGSTOP makes the client report ZOPERATIONTIMEOUT, not CONNECTIONLOSS, which
 * half of the recipes do not retry. */
static void a_server_that_stops_and_goes_on_makes_no_second_node(void **state)
{
    struct recorder *r = recorder_new();
    int code = -1;

    (void)state;
    server_pause(the_server);
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    wait_session_state(s, ZKR_SESSION_SUSPENDED);
    server_resume(the_server);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_OK);
    wait_children(path, 1);
    release(recorded_grant(r, 0));
    wait_children(path, 0);
    recorder_free(r);
}

static void deadlines_hold_while_the_server_is_frozen(void **state)
{
    zkr_grant *g = acquire(m);
    zkr_grant *none = NULL;
    int64_t start;

    (void)state;
    server_pause(the_server);
    start = now_ms();
    assert_int_equal(zkr_mutex_acquire(m, 200, &none), ZKR_ETIMEDOUT);
    assert_in_range(now_ms() - start, 200, 1200);
    start = now_ms();
    assert_int_equal(zkr_grant_release(g), ZKR_EPENDING);
    assert_in_range(now_ms() - start, 300, 1300);
    server_resume(the_server);
    zkr_grant_free(g);
    wait_children(path, 0);
}

/* Curator testWaitingProcessKilledServer, and the official WriteLockTest */
static void a_server_killed_and_restarted_costs_nobody_the_lock(void **state)
{
    zkr_grant *g = acquire(m);
    struct waiter w;

    (void)state;
    waiter_start(&w, m, -1);
    wait_children(path, 2);
    server_kill9(the_server);
    wait_grant_state(g, ZKR_GRANT_SUSPENDED);
    restart_server();
    wait_grant_state(g, ZKR_GRANT_HELD);
    assert_false(waiter_is_done(&w));
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    release(w.grant);
}

/* -- sessions that end ---------------------------------------------------- */

static void a_holder_whose_session_ends_is_told_once(void **state)
{
    zkr_session *other = open_session();
    zkr_mutex *rival = new_mutex(other, path);
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    struct waiter w;
    int lost = 0;

    (void)state;
    ok(zkr_grant_listen(g, record_grant, r));
    waiter_start(&w, rival, -1);
    wait_children(path, 2);
    expire_session();
    assert_int_equal(waiter_join(&w), ZKR_OK);
    wait_grant_state(g, ZKR_GRANT_LOST);
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
    assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
    assert_int_equal(zkr_grant_check(w.grant), ZKR_OK); /* not deleted by us */
    ok(zkr_grant_listen(g, NULL, NULL));
    for (size_t i = 0; i < recorder_count(r); i++) {
        int code = 0;

        assert_true(recorder_get(r, i, &code, NULL));
        lost += code == ZKR_GRANT_LOST;
    }
    assert_int_equal(lost, 1);
    zkr_grant_free(g);
    release(w.grant);
    recorder_free(r);
    zkr_mutex_free(rival);
    close_session(other);
}

/* kazoo test_lock_reconnect; Curator testKilledSession */
static void a_waiter_whose_session_ends_enters_again_at_the_tail(void **state)
{
    zkr_session *other = open_session();
    zkr_mutex *rival = new_mutex(other, path);
    zkr_grant *g = acquire(rival);
    struct waiter first;
    struct waiter second;

    (void)state;
    waiter_start(&first, m, SOON_MS);
    wait_children(path, 2);
    waiter_start(&second, rival, -1);
    wait_children(path, 3);
    expire_session();
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
    wait_children(path, 3);
    release(g);
    assert_int_equal(waiter_join(&second), ZKR_OK);
    assert_false(waiter_is_done(&first));
    release(second.grant);
    assert_int_equal(waiter_join(&first), ZKR_OK);
    assert_int_equal(zkr_grant_check(first.grant), ZKR_OK);
    release(first.grant);
    zkr_mutex_free(rival);
    close_session(other);
}

static void a_waiter_may_ask_to_fail_when_its_session_ends(void **state)
{
    struct zkr_mutex_opts opts = ZKR_MUTEX_OPTS_INIT;
    zkr_session *other = open_session();
    zkr_mutex *rival = new_mutex(other, path);
    zkr_grant *g = acquire(rival);
    zkr_mutex *strict;
    struct waiter w;

    (void)state;
    opts.flags = ZKR_MUTEX_FAIL_ON_SESSION_LOSS;
    ok(zkr_mutex_new(s, path, &opts, &strict));
    waiter_start(&w, strict, -1);
    wait_children(path, 2);
    expire_session();
    assert_int_equal(waiter_join(&w), ZKR_ELOST);
    assert_int_equal(count_children(path), 1);
    release(g);
    zkr_mutex_free(strict);
    zkr_mutex_free(rival);
    close_session(other);
}

/* CURATOR-498, -604: the node of the session before was taken for ours. */
static void a_session_that_ends_while_creating_leaves_one_node(void **state)
{
    struct waiter w;

    (void)state;
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REPLY);
    waiter_start(&w, m, SOON_MS);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    expire_session();
    proxy_cut(proxy);
    proxy_heal(proxy);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    assert_int_equal(zkr_session_epoch(s), 2);
    assert_int_equal(count_children(path), 1);
    assert_int_equal(zkr_grant_check(w.grant), ZKR_OK);
    release(w.grant);
    assert_int_equal(count_children(path), 0);
}

static void a_session_that_ends_while_releasing_has_released(void **state)
{
    zkr_grant *g = acquire(m);
    struct recorder *r = recorder_new();
    int code = -1;

    (void)state;
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_HOLD_REQUEST);
    ok(zkr_grant_release_async(g, record_release, r));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    expire_session();
    proxy_cut(proxy);
    proxy_heal(proxy);
    assert_true(recorder_wait(r, 1, SOON_MS));
    assert_true(recorder_get(r, 0, &code, NULL));
    assert_int_equal(code, ZKR_OK);
    assert_int_equal(count_children(path), 0);
    zkr_grant_free(g);
    recorder_free(r);
}

static void a_try_whose_session_ends_fails(void **state)
{
    struct waiter w;

    (void)state;
    proxy_rule(proxy, ZOO_GETCHILDREN_OP, 1, PROXY_HOLD_REQUEST);
    waiter_start(&w, m, 0);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    expire_session();
    proxy_cut(proxy);
    proxy_heal(proxy);
    /* The reply timeout may have come first. */
    waiter_join(&w);
    assert_true(w.rc == ZKR_ELOST || w.rc == ZOPERATIONTIMEOUT);
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
    release(acquire(m));
}

static int run_group(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    static const struct CMUnitTest tests[] = {
        TEST(an_acquire_is_one_flight_of_two_and_a_release_one_request),
        TEST(a_lost_create_reply_makes_no_second_node),
        TEST(a_lost_create_request_is_sent_again),
        TEST(a_create_that_is_lost_twice_is_found_all_the_same),
        TEST(a_search_that_is_interrupted_goes_on),
        TEST(a_lost_list_is_asked_for_again),
        TEST(a_wait_that_ends_before_the_create_is_known_leaves_nothing),
        TEST(a_wait_that_ends_without_a_connection_leaves_nothing),
        TEST(a_lost_delete_reply_is_a_release),
        TEST(a_release_without_a_connection_is_made_up_for),
        TEST(a_throttled_create_is_repeated_without_a_search),
        TEST(an_error_without_a_cure_is_reported_as_it_came),
        TEST(the_policy_none_sends_a_create_only_once),
        TEST(a_predecessor_that_goes_before_it_is_watched_is_no_failure),
        TEST(a_lost_watch_reply_loses_no_wake_up),
        TEST(data_changed_on_the_predecessor_wakes_nobody_up),
        TEST(a_disconnect_costs_neither_the_lock_nor_the_place),
        TEST(a_reconnect_alone_does_not_make_it_held_again),
        TEST(a_holder_believes_the_event_that_its_node_is_deleted),
        TEST(a_revocation_request_waits_for_its_listener),
        TEST(waits_given_up_leave_no_watch_in_the_client),
        TEST(a_wake_up_missed_while_away_is_delivered_later),
        TEST(closing_without_a_connection_says_what_stays),
        TEST(closing_with_a_silent_server_does_not_claim_success),
        TEST(a_server_that_stops_and_goes_on_makes_no_second_node),
        TEST(deadlines_hold_while_the_server_is_frozen),
        TEST(a_server_killed_and_restarted_costs_nobody_the_lock),
        TEST(a_holder_whose_session_ends_is_told_once),
        TEST(a_waiter_whose_session_ends_enters_again_at_the_tail),
        TEST(a_waiter_may_ask_to_fail_when_its_session_ends),
        TEST(a_session_that_ends_while_creating_leaves_one_node),
        TEST(a_session_that_ends_while_releasing_has_released),
        TEST(a_try_whose_session_ends_fails),
    };

    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
