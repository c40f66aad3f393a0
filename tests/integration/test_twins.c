/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with a create that was carried out twice, so that one claim has two
 * nodes (twins). Servers do that when a leader that was cut off had the first
 * one; here a second client in the same session makes the twin. */
#include "usual.h"

enum { DIGITS = 10 };

static struct proxy *side; /* of its double */

static int setup(void)
{
    ok(proxy_start(server_hosts(the_server), &side));
    (void)usual_setup_two();
    release(acquire(m));
    return 0;
}

static int teardown(void)
{
    (void)usual_teardown();
    proxy_stop(side);
    return 0;
}

FIXTURE(setup, teardown)

static void ignore_line(const char *line)
{
}

/* A node of our claim that is the n-th child gets a twin behind it. The client
 * that makes it disconnects without closing the session, because the session is
 * not its own. */
static void make_twin(size_t n)
{
    clientid_t id = { .client_id = zkr_session_id(s) };
    AUTO(text) name = nth_child(path, n);

    name[strlen(name) - DIGITS] = '\0';
    session_passwd(id.client_id, id.passwd);
    zhandle_t *zh = zookeeper_init2(proxy_hosts(side), NULL, SESSION_MS, &id,
                                    NULL, 0, ignore_line);
    assert_non_null(zh);
    AWAIT(zoo_state(zh) == ZOO_CONNECTED_STATE);
    ok(zoo_create(zh, textf("%s/%s", path, name), "", 0, &ZOO_OPEN_ACL_UNSAFE,
                  ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL, 0));
    proxy_cut(side);
    (void)zookeeper_close(zh);
    proxy_heal(side);
}

/* Leaves the claim without a connection, and with two nodes. */
static void begin_with_a_twin(int64_t timeout_ms, struct recorder *r,
                              size_t ahead)
{
    proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_DROP_REPLY);
    proxy_rule(proxy, ZOO_MULTI_OP, 1, PROXY_HOLD_REQUEST);
    ok(zkr_mutex_acquire_async(m, timeout_ms, record_acquire, r, NULL));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    proxy_cut(proxy);
    assert_int_equal(count_children(path), ahead + 1);
    make_twin(ahead);
    assert_int_equal(count_children(path), ahead + 2);
}

TEST(the_lower_one_holds_and_both_go)
{
    AUTO(recorder) r = recorder_new();

    begin_with_a_twin(SOON_MS, r, 0);
    proxy_heal(proxy);
    zkr_grant *g = recorded_grant(r, 0);
    AUTO(text) first = nth_child(path, 0);
    assert_non_null(strstr(zkr_grant_node(g), first));
    struct waiter w = WAITER(queue, rival);
    /* the first delete is made, and the next one is told of no node */
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_DROP_REPLY);
    AUTO(held) next = hand_to(g, &w);
    wait_children(path, 1);
}

/* A claim that watched its own twin would wait for itself. */
TEST(it_does_not_wait_for_itself)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *before = acquire(rival);

    begin_with_a_twin(SOON_MS, r, 1);
    connect_again(proxy, s);
    settle(s);
    assert_int_equal(recorder_count(r), 0);
    release(before);
    release(recorded_grant(r, 0));
    wait_children(path, 0);
}

TEST(both_go_when_it_is_given_up)
{
    AUTO(recorder) r = recorder_new();

    begin_with_a_twin(500, r, 0);
    assert_int_equal(recorded(r, 0), ZKR_ETIMEDOUT);
    assert_int_equal(count_children(path), 2);
    proxy_heal(proxy);
    wait_children(path, 0);
    assert_int_equal(zkr_session_epoch(s), 1); /* not with the session */
}

/* A node that begins as ours does, with `fill` before the rest of the name. */
static void waits_for_an_imitation(const char *fill)
{
    zkr_grant *before = acquire(rival);
    struct waiter w = WAITER(queue, m);
    AUTO(text) name = nth_child(path, 1);
    const char *marker = strstr(name, "lock-");

    assert_non_null(marker);
    const char *node = textf("%s/%.*s%slock-%0*d", path, (int)(marker - name),
                             name, fill, DIGITS, 0);
    assert_int_equal(admin_create(admin, node, NULL), ZOK);
    proxy_cut(proxy); /* on a new connection the claim lists */
    connect_again(proxy, s);
    release(before);
    settle(s);
    settle(s); /* the event, then the list */
    long searches = proxy_requests(proxy, ZOO_GETCHILDREN2_OP);
    sleep_ms(100);
    assert_false(waiter_is_done(&w));
    assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN2_OP), searches);
    assert_int_equal(admin_delete(admin, node), ZOK);
    release(waiter_grant(&w));
}

/* A client that knows our name could make us search for ever, or give up. */
TEST(a_node_that_only_begins_as_ours_is_waited_for)
{
    char lengthy[101] = "";

    waits_for_an_imitation("x-");
    memset(lengthy, 'x', sizeof(lengthy) - 1);
    waits_for_an_imitation(lengthy);
}
