/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the proxy, between the plain ZooKeeper client and a real server. */
#include <errno.h>

#include <sys/socket.h>
#include <unistd.h>

#include "net.h"
#include "proxy.h"
#include "selftest.h"
#include "wire.h"

enum {
    SESSION_MS = 30000,
    QUIET_MS = 200, /* for what must not happen */
    LATENCY_MS = 100,
    BIG_SIZE = 2000000,
    RAW_CLIENTS = 64,
};

/* Each test has a proxy and a client of its own. */
static struct proxy *proxy;
static zhandle_t *zh;            /* through it, or NULL */
static int64_t session;          /* its first one */
static struct recorder *events;  /* session states */
static struct recorder *replies; /* codes, in order; value: which request */

static int set_up_proxy(void)
{
    events = recorder_new();
    replies = recorder_new();
    return proxy_start(server_hosts(server), &proxy);
}

static void close_client(void)
{
    if (zh != NULL)
        zookeeper_close(zh);
    zh = NULL;
}

static int tear_down(void)
{
    proxy_let_all_pass(proxy);
    close_client();
    proxy_stop(proxy);
    recorder_free(events);
    recorder_free(replies);
    return admin_delete_tree(admin, "/t");
}

/* A test without a client, or which opens it. */
#define PROXY_TEST(test) TEST_WITH(test, set_up_proxy, tear_down)

/* The client */

static void assert_recorded(struct recorder *r, size_t i, int code,
                            int64_t value)
{
    int its_code;
    int64_t its_value;

    assert_true(recorder_wait(r, i + 1, SOON_MS));
    assert_true(recorder_get(r, i, &its_code, &its_value));
    assert_int_equal(its_value, value);
    assert_int_equal(its_code, code);
}

static void await_connection(void)
{
    assert_true(COMES(zoo_state(zh) == ZOO_CONNECTED_STATE, SOON_MS));
}

/* With a parent node for what the test creates. */
static void open_client(int session_ms)
{
    ok(admin_create(admin, "/t", NULL));
    zh = new_client(proxy_hosts(proxy), session_ms, events);
    await_connection();
    session = zoo_client_id(zh)->client_id;
}

static int set_up(void)
{
    ok(set_up_proxy());
    open_client(SESSION_MS);
    return 0;
}

FIXTURE(set_up, tear_down)

/* `number` is that of the request. */
static void on_string(int rc, const char *value, const void *number)
{
    recorder_add(replies, rc, (intptr_t)number);
}

static void on_strings(int rc, const struct String_vector *strings,
                       const void *number)
{
    recorder_add(replies, rc, (intptr_t)number);
}

static void send_create_flags(const char *path, intptr_t number, int flags)
{
    ok(zoo_acreate(zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, flags, on_string,
                   (void *)number));
}

static void send_create(const char *path, intptr_t number)
{
    send_create_flags(path, number, 0);
}

static void send_list(const char *path, intptr_t number)
{
    ok(zoo_aget_children(zh, path, 0, on_strings, (void *)number));
}

/* Reply number `i` was to this request, with this code. */
static void assert_reply(size_t i, int number, int rc)
{
    assert_recorded(replies, i, rc, number);
}

static void assert_no_reply(size_t count)
{
    assert_false(recorder_wait(replies, count + 1, QUIET_MS));
}

static void assert_exists(const char *path)
{
    ok(admin_exists(admin, path, NULL));
}

static void assert_missing(const char *path)
{
    assert_int_equal(admin_exists(admin, path, NULL), ZNONODE);
}

static void assert_rule_done(void)
{
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    assert_true(proxy_rule_done(proxy));
}

/* The client was cut off, and comes back with the session it had. */
static void assert_reconnects(void)
{
    assert_true(recorder_wait(events, 3, SOON_MS));
    assert_recorded(events, 1, ZOO_CONNECTING_STATE, 0);
    await_connection();
    assert_int_equal(zoo_client_id(zh)->client_id, session);
}

/* Forwarding and counting */

static void assert_counts(long requests, long flights, int in_flight)
{
    assert_int_equal(proxy_requests(proxy, PROXY_ANY), requests);
    assert_int_equal(proxy_flights(proxy), flights);
    assert_int_equal(proxy_max_in_flight(proxy), in_flight);
}

/* A client works through the proxy, and is counted. */
PROXY_TEST(test_forwards)
{
    struct admin *a;
    char text[16];

    ok(admin_open(proxy_hosts(proxy), &a));
    ok(admin_create(a, "/t", "text"));
    ok(admin_get(a, "/t", text, sizeof(text)));
    assert_string_equal(text, "text");
    assert_int_equal(admin_exists(a, "/t/none", NULL), ZNONODE);
    admin_close(a);

    assert_counts(3, 3, 1);
    assert_int_equal(proxy_requests(proxy, PROXY_CONNECT), 1);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE_OP), 1);
    assert_int_equal(proxy_requests(proxy, ZOO_GETDATA_OP), 1);
    assert_int_equal(proxy_requests(proxy, ZOO_EXISTS_OP), 1);
    assert_int_equal(proxy_requests(proxy, PROXY_CLOSE), 1);
    assert_int_equal(proxy_requests(proxy, 12345), 0);
}

/* Nodes of 2 MB pass in both directions. */
PROXY_TEST(test_big_frames)
{
    char *data = malloc(BIG_SIZE + 1);
    char *copy = malloc(BIG_SIZE + 1);
    struct admin *a;

    assert_non_null(data);
    assert_non_null(copy);
    for (int i = 0; i < BIG_SIZE; i++)
        data[i] = (char)('a' + i % 23);
    data[BIG_SIZE] = '\0';
    ok(admin_open(proxy_hosts(proxy), &a));
    ok(admin_create(a, "/t", data));
    ok(admin_get(a, "/t", copy, BIG_SIZE + 1));
    assert_string_equal(copy, data);
    admin_close(a);
    free(data);
    free(copy);
}

/* Two requests sent together are one flight, one after the other two. */
TEST(test_flights)
{
    proxy_set_latency(proxy, LATENCY_MS);
    send_create("/t/a", 1);
    send_list("/t", 2);
    assert_true(recorder_wait(replies, 2, SOON_MS));
    assert_counts(2, 1, 2);

    proxy_reset_counts(proxy);
    send_create("/t/b", 3);
    assert_true(recorder_wait(replies, 3, SOON_MS));
    send_list("/t", 4);
    assert_true(recorder_wait(replies, 4, SOON_MS));
    assert_counts(2, 2, 1);
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE_OP), 1);
    assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN_OP), 1);
}

/* No reply comes sooner than the latency. */
TEST(test_latency)
{
    proxy_set_latency(proxy, LATENCY_MS);
    int64_t start_ms = now_ms();
    send_list("/t", 1);
    assert_reply(0, 1, ZOK);
    assert_in_range(now_ms() - start_ms, LATENCY_MS, SOON_MS);

    proxy_rule_error(proxy, ZOO_GETCHILDREN_OP, 1, ZTHROTTLEDOP);
    start_ms = now_ms();
    send_list("/t", 2);
    assert_reply(1, 2, ZTHROTTLEDOP);
    assert_in_range(now_ms() - start_ms, LATENCY_MS, SOON_MS);
}

/* Some replies come sooner, some later. */
TEST(test_jitter)
{
    int64_t least = SOON_MS;
    int64_t most = 0;

    proxy_set_latency(proxy, LATENCY_MS);
    proxy_set_jitter(proxy, 50);
    for (int i = 0; i < 20; i++) {
        int64_t took = now_ms();

        send_list("/t", i + 1);
        assert_reply(i, i + 1, ZOK);
        took = now_ms() - took;
        assert_true(took >= LATENCY_MS / 2);
        least = took < least ? took : least;
        most = took > most ? took : most;
    }
    assert_true(least < most);
}

/* Rules */

/* The server does what was asked; the client never learns. */
TEST(test_drop_reply)
{
    proxy_rule(proxy, ZOO_CREATE_OP, 1, PROXY_DROP_REPLY);
    assert_false(proxy_rule_done(proxy));
    send_create("/t/a", 1);
    assert_reply(0, 1, ZCONNECTIONLOSS);
    assert_rule_done();
    assert_exists("/t/a");
    assert_reconnects();
}

/* The server never hears of it; what was sent before it is done. */
TEST(test_drop_request)
{
    proxy_set_latency(proxy, LATENCY_MS);
    proxy_rule(proxy, ZOO_CREATE_OP, 2, PROXY_DROP_REQUEST);
    send_create("/t/before", 1);
    send_create("/t/lost", 2);
    assert_reply(0, 1, ZCONNECTIONLOSS);
    assert_reply(1, 2, ZCONNECTIONLOSS);
    assert_rule_done();
    assert_reconnects();
    assert_exists("/t/before");
    assert_missing("/t/lost");
}

/* The first of three is answered, the second is held. */
static void hold_second(enum proxy_action action, const char *listed)
{
    proxy_rule(proxy, ZOO_CREATE_OP, 2, action);
    send_create("/t/a", 1);
    send_create("/t/b", 2);
    send_list(listed, 3);
    assert_rule_done();
    assert_reply(0, 1, ZOK);
    assert_no_reply(1);
}

static void release_two(void)
{
    proxy_release(proxy);
    assert_reply(1, 2, ZOK);
    assert_reply(2, 3, ZOK);
}

/* A held reply holds those behind it, and none before. */
TEST(test_hold_reply)
{
    hold_second(PROXY_HOLD_REPLY, "/t");
    assert_exists("/t/b");

    release_two();
}

/* A held request holds those behind it, and none before. */
TEST(test_hold_request)
{
    hold_second(PROXY_HOLD_REQUEST, "/t/b");
    assert_missing("/t/b");
    assert_int_equal(proxy_requests(proxy, PROXY_ANY), 3);

    release_two();
}

/* The answer made up here comes in its turn; the server does not see it. */
TEST(test_error_reply)
{
    proxy_set_latency(proxy, LATENCY_MS);
    proxy_rule_error(proxy, ZOO_CREATE_OP, 2, ZTHROTTLEDOP);
    send_create("/t/a", 1);
    send_create("/t/b", 2);
    send_create("/t/c", 3);
    assert_reply(0, 1, ZOK);
    assert_reply(1, 2, ZTHROTTLEDOP);
    assert_reply(2, 3, ZOK);
    assert_rule_done();
    assert_missing("/t/b");
    assert_exists("/t/c");
    assert_counts(3, 1, 3);
}

/* It waits behind a reply that is held, and goes with it. */
TEST(test_error_behind_held)
{
    proxy_rule(proxy, ZOO_CREATE_OP, 1, PROXY_HOLD_REPLY);
    proxy_rule_error(proxy, ZOO_GETCHILDREN_OP, 1, ZTHROTTLEDOP);
    send_create("/t/a", 1);
    send_list("/t", 2);
    assert_no_reply(0);
    assert_false(proxy_rule_done(proxy));

    proxy_release(proxy);
    assert_reply(0, 1, ZOK);
    assert_reply(1, 2, ZTHROTTLEDOP);
    assert_rule_done();
}

/* A rule waits for its type; two rules for one request take two. */
TEST(test_rules_count)
{
    proxy_rule_error(proxy, ZOO_CREATE_OP, 2, ZTHROTTLEDOP);
    proxy_rule_error(proxy, PROXY_ANY, 3, ZAPIERROR);
    send_list("/t", 1);
    send_create("/t/a", 2);
    send_create("/t/b", 3);
    assert_reply(0, 1, ZOK);
    assert_reply(1, 2, ZOK);
    assert_reply(2, 3, ZTHROTTLEDOP);
    assert_false(proxy_rule_done(proxy));
    send_list("/t", 4);
    assert_reply(3, 4, ZAPIERROR);
    assert_rule_done();
}

/* A rule may just look; one that is forgotten does nothing. */
TEST(test_pass_and_forget)
{
    proxy_rule(proxy, ZOO_CREATE_OP, 1, PROXY_PASS);
    assert_false(proxy_wait_rule(proxy, QUIET_MS));
    send_create("/t/a", 1);
    assert_rule_done();
    assert_reply(0, 1, ZOK);

    proxy_rule(proxy, ZOO_CREATE_OP, 1, PROXY_DROP_REQUEST);
    proxy_forget_rules(proxy);
    assert_true(proxy_rule_done(proxy));
    send_create("/t/b", 2);
    assert_reply(1, 2, ZOK);
}

/* A rule whose reply can no longer come is never done, but can be forgotten. */
TEST(test_rule_in_vain)
{
    server_pause(server);
    proxy_rule(proxy, ZOO_CREATE_OP, 1, PROXY_DROP_REPLY);
    send_create("/t/a", 1);
    assert_false(proxy_wait_rule(proxy, QUIET_MS));
    proxy_cut(proxy);
    server_resume(server);
    assert_reply(0, 1, ZCONNECTIONLOSS);
    assert_false(proxy_wait_rule(proxy, QUIET_MS));
    proxy_forget_rules(proxy);
    assert_true(proxy_rule_done(proxy));
}

/* A session whose birth the client missed, and one whose end it missed. */
PROXY_TEST(test_connect_and_close)
{
    proxy_rule(proxy, PROXY_CONNECT, 1, PROXY_DROP_REPLY);
    open_client(SESSION_MS);
    assert_rule_done();
    assert_int_equal(proxy_requests(proxy, PROXY_CONNECT), 2);

    proxy_rule(proxy, PROXY_CLOSE, 1, PROXY_DROP_REPLY);
    send_create_flags("/t/mine", 1, ZOO_EPHEMERAL);
    assert_reply(0, 1, ZOK);
    close_client();
    assert_rule_done();
    assert_missing("/t/mine");
}

/* Each connection is a new answer. */
PROXY_TEST(test_read_only)
{
    proxy_rule(proxy, PROXY_CONNECT, 1, PROXY_READ_ONLY);
    zh = new_client(proxy_hosts(proxy), SESSION_MS, events);
    assert_recorded(events, 0, ZOO_READONLY_STATE, 0);
    assert_rule_done();
    proxy_cut(proxy);
    proxy_heal(proxy);
    await_connection();
}

/* Partitions */

/* Cut off, a client fails at once and cannot return until healed. */
TEST(test_cut)
{
    proxy_set_latency(proxy, LATENCY_MS);
    send_create("/t/a", 1);
    proxy_cut(proxy);
    assert_reply(0, 1, ZCONNECTIONLOSS);
    sleep_ms(QUIET_MS);
    assert_int_not_equal(zoo_state(zh), ZOO_CONNECTED_STATE);
    assert_int_equal(recorder_count(events), 2);

    proxy_heal(proxy);
    assert_reconnects();
}

/* Frozen, nothing moves; healed, it is delivered. */
TEST(test_freeze)
{
    proxy_freeze(proxy);
    send_create("/t/a", 1);
    assert_no_reply(0);
    assert_missing("/t/a");
    assert_int_equal(zoo_state(zh), ZOO_CONNECTED_STATE);

    proxy_heal(proxy);
    assert_reply(0, 1, ZOK);
    assert_exists("/t/a");
    assert_int_equal(recorder_count(events), 1);
}

static bool has_expired(void)
{
    int code;

    return recorder_get(events, recorder_count(events) - 1, &code, NULL) &&
           code == ZOO_EXPIRED_SESSION_STATE;
}

/* Frozen for long, a session expires; the client gets through as far as TCP
 * and hears of it when healed. */
PROXY_TEST(test_freeze_expires)
{
    open_client(1000);
    send_create_flags("/t/mine", 1, ZOO_EPHEMERAL);
    assert_reply(0, 1, ZOK);
    proxy_freeze(proxy);
    assert_true(
        COMES(admin_exists(admin, "/t/mine", NULL) == ZNONODE, SOON_MS));
    assert_false(has_expired());

    proxy_heal(proxy);
    assert_true(COMES(has_expired(), SOON_MS));
}

/* While the server is away, clients are turned away; then they are back.
 *
 * None may connect while it starts: now and then it forgets such a client,
 * which then waits in vain for 2/3 of its session timeout. */
TEST(test_server_restart)
{
    admin_close(admin);
    admin = NULL;
    server_kill9(server);
    assert_true(recorder_wait(events, 2, SOON_MS));
    sleep_ms(QUIET_MS);
    assert_int_equal(recorder_count(events), 2);

    proxy_cut(proxy);
    ok(server_restart(server));
    ok(admin_open(server_hosts(server), &admin));
    proxy_heal(proxy);
    assert_reconnects();
}

/* Raw bytes */

enum { CONNECT_REPLY = 4 + 37, CLOSE_REPLY = 4 + 16 };

/* Many clients at once, whose frames come in crumbs and then in one lump. */
PROXY_TEST(test_many_partial_frames)
{
    struct packet connect = { .size = 0 };
    struct packet end = { .size = 0 };
    unsigned char reply[128];
    int fds[RAW_CLIENTS];

    put_connect(&connect, 10000, 0, NULL);
    put_close(&end);
    for (int i = 0; i < RAW_CLIENTS; i++) {
        fds[i] = net_connect(proxy_hosts(proxy), SOON_MS);
        assert_in_range(fds[i], 0, 1000);
    }
    for (size_t at = 0; at < connect.size; at++) {
        for (int i = 0; i < RAW_CLIENTS; i++)
            assert_true(net_send(fds[i], connect.bytes + at, 1));
    }
    for (int i = 0; i < RAW_CLIENTS; i++)
        assert_true(net_send(fds[i], end.bytes, end.size));
    for (int i = 0; i < RAW_CLIENTS; i++) {
        assert_int_equal(net_receive(fds[i], reply, sizeof(reply)),
                         CONNECT_REPLY + CLOSE_REPLY);
        close(fds[i]);
    }
    assert_int_equal(proxy_requests(proxy, PROXY_CONNECT), RAW_CLIENTS);
    assert_int_equal(proxy_requests(proxy, PROXY_CLOSE), RAW_CLIENTS);
}

static void assert_hangs_up(const unsigned char *bytes, size_t size)
{
    unsigned char reply[8];
    int fd = net_connect(proxy_hosts(proxy), SOON_MS);

    assert_true(net_send(fd, bytes, size));
    assert_int_equal(net_receive(fd, reply, sizeof(reply)), 0);
    close(fd);
}

/* Bytes that are no frame end their connection, and no other. */
TEST(test_garbage)
{
    static const unsigned char huge[] = { 0x7f, 0xff, 0xff, 0xff };
    static const unsigned char tiny[] = { 0, 0, 0, 1, 0 };
    assert_hangs_up(huge, sizeof(huge));
    assert_hangs_up(tiny, sizeof(tiny));
    send_list("/t", 1);
    assert_reply(0, 1, ZOK);
}

/* It asks for processor time, to find a thread that turns round and round. */
static void assert_idle(void)
{
    int64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    sleep_ms(5 * QUIET_MS);
    assert_in_range(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns, 0,
                    QUIET_MS * 1000000);
}

/* Waiting costs nothing, even with ends that hung up while all is held; and a
 * held request reaches the server even after its client has hung up. */
TEST(test_idles_until_late_request)
{
    proxy_rule(proxy, ZOO_CREATE_OP, 1, PROXY_HOLD_REQUEST);
    send_create("/t/late", 1);
    assert_rule_done();
    close_client();
    assert_idle();
    assert_missing("/t/late");

    proxy_release(proxy);
    assert_true(COMES(admin_exists(admin, "/t/late", NULL) == ZOK, SOON_MS));
    proxy_freeze(proxy);
    assert_idle();
}

/* Life */

/* Addresses that are none are refused; several servers are used in turn. */
PROXY_TEST(test_hosts)
{
    static const char *const bad[] = { "",    "127.0.0.1",      "127.0.0.1:",
                                       "a:1", "127.0.0.1:0",    "127.0.0.1:1x",
                                       ",",   "127.0.0.1:65536" };
    struct proxy *p;
    struct admin *a;

    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(proxy_start(bad[i], &p), -EINVAL);
    ok(proxy_start(textf("127.0.0.1:1,%s", server_hosts(server)), &p));
    ok(admin_open(proxy_hosts(p), &a));
    admin_close(a);
    proxy_stop(p);
}

/* A stopped proxy leaves no connection, no thread, no descriptor. */
PROXY_TEST(test_stop_leaves_nothing)
{
    struct packet connect = { .size = 0 };
    struct proxy *p;
    char byte;

    /* ZooKeeper's client opens /dev/urandom whenever it likes. */
    admin_close(admin);
    admin = NULL;
    sleep_ms(QUIET_MS); /* a thread that was joined may stay in /proc */
    int threads = count_threads();
    int fds = count_fds();
    put_connect(&connect, 10000, 0, NULL);
    ok(proxy_start(server_hosts(server), &p));
    int fd = net_connect(proxy_hosts(p), SOON_MS);
    assert_true(net_send(fd, connect.bytes, connect.size));
    assert_int_equal(recv(fd, &byte, 1, 0), 1);
    proxy_freeze(p);
    proxy_stop(p);
    while (recv(fd, &byte, 1, 0) > 0)
        continue;
    assert_int_equal(errno, ECONNRESET); /* the client sees a reset */
    close(fd);
    sleep_ms(QUIET_MS);
    assert_int_equal(count_threads(), threads);
    assert_int_equal(count_fds(), fds);
    proxy_stop(NULL);
    ok(admin_open(server_hosts(server), &admin));
}
