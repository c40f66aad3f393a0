/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the proxy, between the plain ZooKeeper client and a real server. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zookeeper/proto.h>
#include <zookeeper/zookeeper.h>

#include "admin.h"
#include "net.h"
#include "proxy.h"
#include "recorder.h"
#include "server.h"
#include "test.h"
#include "wait.h"

enum {
    SESSION_MS = 30000,
    WAIT_MS = 60000, /* for what must happen */
    QUIET_MS = 200,  /* for what must not */
    LATENCY_MS = 100,
    BIG_SIZE = 2000000,
    RAW_CLIENTS = 64,
};

/* One server for all tests, with a direct line to it; each test has a proxy
 * and a client of its own. */
struct fixture {
    struct server *server;
    struct admin *direct;
    struct proxy *proxy;
    zhandle_t *zh;            /* through the proxy, in the tests that open it */
    struct recorder *events;  /* session states */
    struct recorder *replies; /* codes, in order; value: which request */
};

static struct fixture all;

static int start_all(void)
{
    static const char *const java[] = { "-Djute.maxbuffer=3000000", NULL };
    const struct server_opts opts = { .java_opts = java };
    struct fixture *f = &all;

    if (server_start(&opts, &f->server) != SERVER_OK)
        return -1;
    return admin_open(server_hosts(f->server), &f->direct);
}

static int stop_all(void)
{
    struct fixture *f = &all;

    admin_close(f->direct);
    server_stop(f->server);
    return 0;
}

static int set_up(void)
{
    struct fixture *f = &all;

    f->events = recorder_new();
    f->replies = recorder_new();
    return proxy_start(server_hosts(f->server), &f->proxy);
}

static void close_client(struct fixture *f)
{
    if (f->zh != NULL)
        zookeeper_close(f->zh);
    f->zh = NULL;
}

static int tear_down(void)
{
    struct fixture *f = &all;

    proxy_heal(f->proxy);
    proxy_forget_rules(f->proxy);
    proxy_release(f->proxy);
    close_client(f);
    proxy_stop(f->proxy);
    recorder_free(f->events);
    recorder_free(f->replies);
    return admin_delete_tree(f->direct, "/t");
}

FIXTURE(set_up, tear_down)

/* The client */

static void ignore_log(const char *line)
{
    (void)line;
}

static void on_event(zhandle_t *zh, int type, int code, const char *path,
                     void *context)
{
    (void)zh;
    (void)path;
    if (type == ZOO_SESSION_EVENT)
        recorder_add(context, code, 0);
}

static void start_client(struct fixture *f, int session_ms)
{
    f->zh = zookeeper_init2(proxy_hosts(f->proxy), on_event, session_ms, NULL,
                            f->events, ZOO_NO_LOG_CLIENTENV, ignore_log);
    assert_non_null(f->zh);
}

static bool is_connected(void *zh)
{
    return zoo_state(zh) == ZOO_CONNECTED_STATE;
}

static void await_connection(const struct fixture *f)
{
    assert_true(wait_until(is_connected, f->zh, WAIT_MS));
}

/* With a parent node for what the test creates. */
static int64_t open_client(struct fixture *f)
{
    assert_int_equal(admin_create(f->direct, "/t", NULL), ZOK);
    start_client(f, SESSION_MS);
    await_connection(f);
    return zoo_client_id(f->zh)->client_id;
}

struct call {
    struct recorder *replies;
    int number;
};

static void on_string(int rc, const char *value, const void *data)
{
    struct call *call = (struct call *)data;

    (void)value;
    recorder_add(call->replies, rc, call->number);
    free(call);
}

static void on_strings(int rc, const struct String_vector *strings,
                       const void *data)
{
    (void)strings;
    on_string(rc, NULL, data);
}

static struct call *new_call(const struct fixture *f, int number)
{
    struct call *call = malloc(sizeof(*call));

    assert_non_null(call);
    *call = (struct call){ .replies = f->replies, .number = number };
    return call;
}

static void send_create_flags(const struct fixture *f, const char *path,
                              int number, int flags)
{
    assert_int_equal(zoo_acreate(f->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                                 flags, on_string, new_call(f, number)),
                     ZOK);
}

static void send_create(const struct fixture *f, const char *path, int number)
{
    send_create_flags(f, path, number, 0);
}

static void send_list(const struct fixture *f, const char *path, int number)
{
    assert_int_equal(
        zoo_aget_children(f->zh, path, 0, on_strings, new_call(f, number)),
        ZOK);
}

static void await_replies(const struct fixture *f, size_t count)
{
    assert_true(recorder_wait(f->replies, count, WAIT_MS));
}

/* Reply number `i` was to this request, with this code. */
static void assert_reply(const struct fixture *f, size_t i, int number, int rc)
{
    int64_t got_number;
    int got_rc;

    assert_true(recorder_wait(f->replies, i + 1, WAIT_MS));
    assert_true(recorder_get(f->replies, i, &got_rc, &got_number));
    assert_int_equal(got_number, number);
    assert_int_equal(got_rc, rc);
}

static void assert_no_reply(const struct fixture *f, size_t count)
{
    assert_false(recorder_wait(f->replies, count + 1, QUIET_MS));
}

static void assert_exists(const struct fixture *f, const char *path)
{
    assert_int_equal(admin_exists(f->direct, path, NULL), ZOK);
}

static void assert_missing(const struct fixture *f, const char *path)
{
    assert_int_equal(admin_exists(f->direct, path, NULL), ZNONODE);
}

static void assert_rule_done(const struct fixture *f)
{
    assert_true(proxy_wait_rule(f->proxy, WAIT_MS));
    assert_true(proxy_rule_done(f->proxy));
}

/* The client was cut off, and comes back with the session it had. */
static void assert_reconnects(const struct fixture *f, int64_t session)
{
    int code;

    assert_true(recorder_wait(f->events, 3, WAIT_MS));
    assert_true(recorder_get(f->events, 1, &code, NULL));
    assert_int_equal(code, ZOO_CONNECTING_STATE);
    await_connection(f);
    assert_int_equal(zoo_client_id(f->zh)->client_id, session);
}

/* Forwarding and counting */

static void assert_counts(const struct fixture *f, long requests, long flights,
                          int in_flight)
{
    assert_int_equal(proxy_requests(f->proxy, PROXY_ANY), requests);
    assert_int_equal(proxy_flights(f->proxy), flights);
    assert_int_equal(proxy_max_in_flight(f->proxy), in_flight);
}

/* A client works through the proxy, and is counted. */
TEST(test_forwards)
{
    struct fixture *f = &all;
    struct admin *a;
    char text[16];

    assert_int_equal(admin_open(proxy_hosts(f->proxy), &a), ZOK);
    assert_int_equal(admin_create(a, "/t", "text"), ZOK);
    assert_int_equal(admin_get(a, "/t", text, sizeof(text)), ZOK);
    assert_string_equal(text, "text");
    assert_int_equal(admin_exists(a, "/t/none", NULL), ZNONODE);
    admin_close(a);

    assert_counts(f, 3, 3, 1);
    assert_int_equal(proxy_requests(f->proxy, PROXY_CONNECT), 1);
    assert_int_equal(proxy_requests(f->proxy, ZOO_CREATE_OP), 1);
    assert_int_equal(proxy_requests(f->proxy, ZOO_GETDATA_OP), 1);
    assert_int_equal(proxy_requests(f->proxy, ZOO_EXISTS_OP), 1);
    assert_int_equal(proxy_requests(f->proxy, PROXY_CLOSE), 1);
    assert_int_equal(proxy_requests(f->proxy, 12345), 0);
}

/* Nodes of 2 MB pass in both directions. */
TEST(test_big_frames)
{
    struct fixture *f = &all;
    char *data = malloc(BIG_SIZE + 1);
    char *copy = malloc(BIG_SIZE + 1);
    struct admin *a;

    assert_non_null(data);
    assert_non_null(copy);
    for (int i = 0; i < BIG_SIZE; i++)
        data[i] = (char)('a' + i % 23);
    data[BIG_SIZE] = '\0';
    assert_int_equal(admin_open(proxy_hosts(f->proxy), &a), ZOK);
    assert_int_equal(admin_create(a, "/t", data), ZOK);
    assert_int_equal(admin_get(a, "/t", copy, BIG_SIZE + 1), ZOK);
    assert_string_equal(copy, data);
    admin_close(a);
    free(data);
    free(copy);
}

/* Two requests sent together are one flight, one after the other two. */
TEST(test_flights)
{
    struct fixture *f = &all;

    (void)open_client(f);
    proxy_set_latency(f->proxy, LATENCY_MS);
    send_create(f, "/t/a", 1);
    send_list(f, "/t", 2);
    await_replies(f, 2);
    assert_counts(f, 2, 1, 2);

    proxy_reset_counts(f->proxy);
    send_create(f, "/t/b", 3);
    await_replies(f, 3);
    send_list(f, "/t", 4);
    await_replies(f, 4);
    assert_counts(f, 2, 2, 1);
    assert_int_equal(proxy_requests(f->proxy, ZOO_CREATE_OP), 1);
    assert_int_equal(proxy_requests(f->proxy, ZOO_GETCHILDREN_OP), 1);
}

/* No reply comes sooner than the latency. */
TEST(test_latency)
{
    struct fixture *f = &all;
    int64_t start_ms;

    (void)open_client(f);
    proxy_set_latency(f->proxy, LATENCY_MS);
    start_ms = now_ms();
    send_list(f, "/t", 1);
    assert_reply(f, 0, 1, ZOK);
    assert_in_range(now_ms() - start_ms, LATENCY_MS, WAIT_MS);

    proxy_rule_error(f->proxy, ZOO_GETCHILDREN_OP, 1, ZTHROTTLEDOP);
    start_ms = now_ms();
    send_list(f, "/t", 2);
    assert_reply(f, 1, 2, ZTHROTTLEDOP);
    assert_in_range(now_ms() - start_ms, LATENCY_MS, WAIT_MS);
}

/* Some replies come sooner, some later. */
TEST(test_jitter)
{
    struct fixture *f = &all;
    int64_t least = WAIT_MS;
    int64_t most = 0;

    (void)open_client(f);
    proxy_set_latency(f->proxy, LATENCY_MS);
    proxy_set_jitter(f->proxy, 50);
    for (int i = 0; i < 20; i++) {
        int64_t took = now_ms();

        send_list(f, "/t", i + 1);
        assert_reply(f, i, i + 1, ZOK);
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
    struct fixture *f = &all;
    int64_t session = open_client(f);

    proxy_rule(f->proxy, ZOO_CREATE_OP, 1, PROXY_DROP_REPLY);
    assert_false(proxy_rule_done(f->proxy));
    send_create(f, "/t/a", 1);
    assert_reply(f, 0, 1, ZCONNECTIONLOSS);
    assert_rule_done(f);
    assert_exists(f, "/t/a");
    assert_reconnects(f, session);
}

/* The server never hears of it; what was sent before it is done. */
TEST(test_drop_request)
{
    struct fixture *f = &all;
    int64_t session = open_client(f);

    proxy_set_latency(f->proxy, LATENCY_MS);
    proxy_rule(f->proxy, ZOO_CREATE_OP, 2, PROXY_DROP_REQUEST);
    send_create(f, "/t/before", 1);
    send_create(f, "/t/lost", 2);
    assert_reply(f, 0, 1, ZCONNECTIONLOSS);
    assert_reply(f, 1, 2, ZCONNECTIONLOSS);
    assert_rule_done(f);
    assert_reconnects(f, session);
    assert_exists(f, "/t/before");
    assert_missing(f, "/t/lost");
}

/* The first of three is answered, the second is held. */
static void hold_second(struct fixture *f, enum proxy_action action,
                        const char *listed)
{
    (void)open_client(f);
    proxy_rule(f->proxy, ZOO_CREATE_OP, 2, action);
    send_create(f, "/t/a", 1);
    send_create(f, "/t/b", 2);
    send_list(f, listed, 3);
    assert_rule_done(f);
    assert_reply(f, 0, 1, ZOK);
    assert_no_reply(f, 1);
}

static void release_two(struct fixture *f)
{
    proxy_release(f->proxy);
    assert_reply(f, 1, 2, ZOK);
    assert_reply(f, 2, 3, ZOK);
}

/* A held reply holds those behind it, and none before. */
TEST(test_hold_reply)
{
    struct fixture *f = &all;

    hold_second(f, PROXY_HOLD_REPLY, "/t");
    assert_exists(f, "/t/b");

    release_two(f);
}

/* A held request holds those behind it, and none before. */
TEST(test_hold_request)
{
    struct fixture *f = &all;

    hold_second(f, PROXY_HOLD_REQUEST, "/t/b");
    assert_missing(f, "/t/b");
    assert_int_equal(proxy_requests(f->proxy, PROXY_ANY), 3);

    release_two(f);
}

static bool has_late_node(void *direct)
{
    return admin_exists(direct, "/t/late", NULL) == ZOK;
}

static void hang_up_while_held(struct fixture *f)
{
    (void)open_client(f);
    proxy_rule(f->proxy, ZOO_CREATE_OP, 1, PROXY_HOLD_REQUEST);
    send_create(f, "/t/late", 1);
    assert_rule_done(f);
    close_client(f);
}

/* A held request reaches the server even after its client has hung up. */
TEST(test_late_request)
{
    struct fixture *f = &all;

    hang_up_while_held(f);
    sleep_ms(QUIET_MS);
    assert_missing(f, "/t/late");

    proxy_release(f->proxy);
    assert_true(wait_until(has_late_node, f->direct, WAIT_MS));
}

/* The answer made up here comes in its turn; the server does not see it. */
TEST(test_error_reply)
{
    struct fixture *f = &all;

    (void)open_client(f);
    proxy_set_latency(f->proxy, LATENCY_MS);
    proxy_rule_error(f->proxy, ZOO_CREATE_OP, 2, ZTHROTTLEDOP);
    send_create(f, "/t/a", 1);
    send_create(f, "/t/b", 2);
    send_create(f, "/t/c", 3);
    assert_reply(f, 0, 1, ZOK);
    assert_reply(f, 1, 2, ZTHROTTLEDOP);
    assert_reply(f, 2, 3, ZOK);
    assert_rule_done(f);
    assert_missing(f, "/t/b");
    assert_exists(f, "/t/c");
    assert_counts(f, 3, 1, 3);
}

/* It waits behind a reply that is held, and goes with it. */
TEST(test_error_behind_held)
{
    struct fixture *f = &all;

    (void)open_client(f);
    proxy_rule(f->proxy, ZOO_CREATE_OP, 1, PROXY_HOLD_REPLY);
    proxy_rule_error(f->proxy, ZOO_GETCHILDREN_OP, 1, ZTHROTTLEDOP);
    send_create(f, "/t/a", 1);
    send_list(f, "/t", 2);
    assert_no_reply(f, 0);
    assert_false(proxy_rule_done(f->proxy));

    proxy_release(f->proxy);
    assert_reply(f, 0, 1, ZOK);
    assert_reply(f, 1, 2, ZTHROTTLEDOP);
    assert_rule_done(f);
}

/* A rule waits for its type; two rules for one request take two. */
TEST(test_rules_count)
{
    struct fixture *f = &all;

    (void)open_client(f);
    proxy_rule_error(f->proxy, ZOO_CREATE_OP, 2, ZTHROTTLEDOP);
    proxy_rule_error(f->proxy, PROXY_ANY, 3, ZAPIERROR);
    send_list(f, "/t", 1);
    send_create(f, "/t/a", 2);
    send_create(f, "/t/b", 3);
    assert_reply(f, 0, 1, ZOK);
    assert_reply(f, 1, 2, ZOK);
    assert_reply(f, 2, 3, ZTHROTTLEDOP);
    assert_false(proxy_rule_done(f->proxy));
    send_list(f, "/t", 4);
    assert_reply(f, 3, 4, ZAPIERROR);
    assert_rule_done(f);
}

/* A rule may just look; one that is forgotten does nothing. */
TEST(test_pass_and_forget)
{
    struct fixture *f = &all;

    (void)open_client(f);
    proxy_rule(f->proxy, ZOO_CREATE_OP, 1, PROXY_PASS);
    assert_false(proxy_wait_rule(f->proxy, QUIET_MS));
    send_create(f, "/t/a", 1);
    assert_rule_done(f);
    assert_reply(f, 0, 1, ZOK);

    proxy_rule(f->proxy, ZOO_CREATE_OP, 1, PROXY_DROP_REQUEST);
    proxy_forget_rules(f->proxy);
    assert_true(proxy_rule_done(f->proxy));
    send_create(f, "/t/b", 2);
    assert_reply(f, 1, 2, ZOK);
}

/* A rule whose reply can no longer come is never done, but can be forgotten. */
TEST(test_rule_in_vain)
{
    struct fixture *f = &all;

    (void)open_client(f);
    server_pause(f->server);
    proxy_rule(f->proxy, ZOO_CREATE_OP, 1, PROXY_DROP_REPLY);
    send_create(f, "/t/a", 1);
    assert_false(proxy_wait_rule(f->proxy, QUIET_MS));
    proxy_cut(f->proxy);
    server_resume(f->server);
    assert_reply(f, 0, 1, ZCONNECTIONLOSS);
    assert_false(proxy_wait_rule(f->proxy, QUIET_MS));
    proxy_forget_rules(f->proxy);
    assert_true(proxy_rule_done(f->proxy));
}

/* A session whose birth the client missed, and one whose end it missed. */
TEST(test_connect_and_close)
{
    struct fixture *f = &all;

    proxy_rule(f->proxy, PROXY_CONNECT, 1, PROXY_DROP_REPLY);
    (void)open_client(f);
    assert_rule_done(f);
    assert_int_equal(proxy_requests(f->proxy, PROXY_CONNECT), 2);

    proxy_rule(f->proxy, PROXY_CLOSE, 1, PROXY_DROP_REPLY);
    send_create_flags(f, "/t/mine", 1, ZOO_EPHEMERAL);
    assert_reply(f, 0, 1, ZOK);
    close_client(f);
    assert_rule_done(f);
    assert_missing(f, "/t/mine");
}

/* Each connection is a new answer. */
TEST(test_read_only)
{
    struct fixture *f = &all;
    int code = 0;

    proxy_rule(f->proxy, PROXY_CONNECT, 1, PROXY_READ_ONLY);
    start_client(f, SESSION_MS);
    assert_true(recorder_wait(f->events, 1, WAIT_MS));
    assert_true(recorder_get(f->events, 0, &code, NULL));
    assert_int_equal(code, ZOO_READONLY_STATE);
    assert_rule_done(f);
    proxy_cut(f->proxy);
    proxy_heal(f->proxy);
    await_connection(f);
}

/* Partitions */

/* Cut off, a client fails at once and cannot return until healed. */
TEST(test_cut)
{
    struct fixture *f = &all;
    int64_t session = open_client(f);

    proxy_set_latency(f->proxy, LATENCY_MS);
    send_create(f, "/t/a", 1);
    proxy_cut(f->proxy);
    assert_reply(f, 0, 1, ZCONNECTIONLOSS);
    sleep_ms(QUIET_MS);
    assert_false(is_connected(f->zh));
    assert_int_equal(recorder_count(f->events), 2);

    proxy_heal(f->proxy);
    assert_reconnects(f, session);
}

/* Frozen, nothing moves; healed, it is delivered. */
TEST(test_freeze)
{
    struct fixture *f = &all;

    (void)open_client(f);
    proxy_freeze(f->proxy);
    send_create(f, "/t/a", 1);
    assert_no_reply(f, 0);
    assert_missing(f, "/t/a");
    assert_true(is_connected(f->zh));

    proxy_heal(f->proxy);
    assert_reply(f, 0, 1, ZOK);
    assert_exists(f, "/t/a");
    assert_int_equal(recorder_count(f->events), 1);
}

static bool is_mine_gone(void *direct)
{
    return admin_exists(direct, "/t/mine", NULL) == ZNONODE;
}

static bool has_expired(void *events)
{
    size_t count = recorder_count(events);
    int code;

    return count > 0 && recorder_get(events, count - 1, &code, NULL) &&
           code == ZOO_EXPIRED_SESSION_STATE;
}

/* Frozen for long, a session expires; the client gets through as far as TCP
 * and hears of it when healed. */
TEST(test_freeze_expires)
{
    struct fixture *f = &all;

    assert_int_equal(admin_create(f->direct, "/t", NULL), ZOK);
    start_client(f, 1000);
    await_connection(f);
    send_create_flags(f, "/t/mine", 1, ZOO_EPHEMERAL);
    assert_reply(f, 0, 1, ZOK);
    proxy_freeze(f->proxy);
    assert_true(wait_until(is_mine_gone, f->direct, WAIT_MS));
    assert_false(has_expired(f->events));

    proxy_heal(f->proxy);
    assert_true(wait_until(has_expired, f->events, WAIT_MS));
}

/* While the server is away, clients are turned away; then they are back.
 *
 * None may connect while it starts: now and then it forgets such a client,
 * which then waits in vain for 2/3 of its session timeout. */
TEST(test_server_restart)
{
    struct fixture *f = &all;
    int64_t session = open_client(f);

    admin_close(f->direct);
    f->direct = NULL;
    server_kill9(f->server);
    assert_true(recorder_wait(f->events, 2, WAIT_MS));
    sleep_ms(QUIET_MS);
    assert_int_equal(recorder_count(f->events), 2);

    proxy_cut(f->proxy);
    assert_int_equal(server_restart(f->server), SERVER_OK);
    assert_int_equal(admin_open(server_hosts(f->server), &f->direct), ZOK);
    proxy_heal(f->proxy);
    assert_reconnects(f, session);
}

/* Raw bytes */

/* A ConnectRequest for a new session of 10 s, with its length. */
static const unsigned char connect_frame[] = {
    0, 0, 0,  45,             /* length */
    0, 0, 0,  0,              /* protocolVersion */
    0, 0, 0,  0,  0, 0, 0, 0, /* lastZxidSeen */
    0, 0, 39, 16,             /* timeOut */
    0, 0, 0,  0,  0, 0, 0, 0, /* sessionId */
    0, 0, 0,  16,             /* length of the password */
    0, 0, 0,  0,  0, 0, 0, 0, /* password */
    0, 0, 0,  0,  0, 0, 0, 0, /* and its second half */
    0,                        /* readOnly */
};

static const unsigned char close_frame[] = {
    0, 0, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5,
};

enum { CONNECT_REPLY = 4 + 37, CLOSE_REPLY = 4 + 16 };

/* Many clients at once, whose frames come in crumbs and then in one lump. */
TEST(test_many_partial_frames)
{
    struct fixture *f = &all;
    unsigned char reply[128];
    int fds[RAW_CLIENTS];

    for (int i = 0; i < RAW_CLIENTS; i++) {
        fds[i] = net_connect(proxy_hosts(f->proxy), WAIT_MS);
        assert_in_range(fds[i], 0, 1000);
    }
    for (size_t at = 0; at < sizeof(connect_frame); at++) {
        for (int i = 0; i < RAW_CLIENTS; i++)
            assert_true(net_send(fds[i], connect_frame + at, 1));
    }
    for (int i = 0; i < RAW_CLIENTS; i++)
        assert_true(net_send(fds[i], close_frame, sizeof(close_frame)));
    for (int i = 0; i < RAW_CLIENTS; i++) {
        assert_int_equal(net_receive(fds[i], reply, sizeof(reply)),
                         CONNECT_REPLY + CLOSE_REPLY);
        close(fds[i]);
    }
    assert_int_equal(proxy_requests(f->proxy, PROXY_CONNECT), RAW_CLIENTS);
    assert_int_equal(proxy_requests(f->proxy, PROXY_CLOSE), RAW_CLIENTS);
}

static void assert_hangs_up(const struct fixture *f, const unsigned char *bytes,
                            size_t size)
{
    unsigned char reply[8];
    int fd = net_connect(proxy_hosts(f->proxy), WAIT_MS);

    assert_true(net_send(fd, bytes, size));
    assert_int_equal(net_receive(fd, reply, sizeof(reply)), 0);
    close(fd);
}

/* Bytes that are no frame end their connection, and no other. */
TEST(test_garbage)
{
    static const unsigned char huge[] = { 0x7f, 0xff, 0xff, 0xff };
    static const unsigned char tiny[] = { 0, 0, 0, 1, 0 };
    struct fixture *f = &all;

    (void)open_client(f);
    assert_hangs_up(f, huge, sizeof(huge));
    assert_hangs_up(f, tiny, sizeof(tiny));
    send_list(f, "/t", 1);
    assert_reply(f, 0, 1, ZOK);
}

/* Processor time, to find a thread that turns round and round. */
static int64_t cpu_ms(void)
{
    struct timespec used;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static void assert_idle(void)
{
    int64_t start_ms = cpu_ms();

    sleep_ms(5 * QUIET_MS);
    assert_in_range(cpu_ms() - start_ms, 0, QUIET_MS);
}

/* Waiting costs nothing, even with ends that hung up while all is held. */
TEST(test_idles)
{
    struct fixture *f = &all;

    hang_up_while_held(f);
    assert_idle();

    proxy_release(f->proxy);
    assert_true(wait_until(has_late_node, f->direct, WAIT_MS));
    proxy_freeze(f->proxy);
    assert_idle();
}

/* Life */

/* Addresses that are none are refused; several servers are used in turn. */
TEST(test_hosts)
{
    static const char *const bad[] = { "",    "127.0.0.1",      "127.0.0.1:",
                                       "a:1", "127.0.0.1:0",    "127.0.0.1:1x",
                                       ",",   "127.0.0.1:65536" };
    struct fixture *f = &all;
    struct proxy *p;
    struct admin *a;
    char two[64];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(proxy_start(bad[i], &p), -EINVAL);
    snprintf(two, sizeof(two), "127.0.0.1:1,%s", server_hosts(f->server));
    assert_int_equal(proxy_start(two, &p), 0);
    assert_int_equal(admin_open(proxy_hosts(p), &a), ZOK);
    admin_close(a);
    proxy_stop(p);
}

struct counts {
    int threads;
    int fds;
};

static struct counts take_counts(void)
{
    /* A thread that was joined may stay in /proc for a moment. */
    sleep_ms(QUIET_MS);
    return (struct counts){ count_threads(), count_fds() };
}

/* Connect, freeze and stop: the client sees a reset. */
static void use_proxy_once(const char *server)
{
    struct proxy *p;
    char byte;
    int fd;

    assert_int_equal(proxy_start(server, &p), 0);
    fd = net_connect(proxy_hosts(p), WAIT_MS);
    assert_true(net_send(fd, connect_frame, sizeof(connect_frame)));
    assert_int_equal(recv(fd, &byte, 1, 0), 1);
    proxy_freeze(p);
    proxy_stop(p);
    while (recv(fd, &byte, 1, 0) > 0)
        continue;
    assert_int_equal(errno, ECONNRESET);
    close(fd);
}

/* A stopped proxy leaves no connection, no thread, no descriptor. */
TEST(test_stop_leaves_nothing)
{
    struct fixture *f = &all;
    struct counts before;
    struct counts after;

    /* ZooKeeper's client opens /dev/urandom whenever it likes. */
    admin_close(f->direct);
    f->direct = NULL;
    before = take_counts();
    use_proxy_once(server_hosts(f->server));
    after = take_counts();
    assert_int_equal(after.threads, before.threads);
    assert_int_equal(after.fds, before.fds);
    proxy_stop(NULL);
    assert_int_equal(admin_open(server_hosts(f->server), &f->direct), ZOK);
}

int main(void)
{

    if (!server_installed()) {
        fprintf(stderr, "skipped: java or zookeeper.jar is missing\n");
        return 77;
    }
    return test_run_between(start_all, stop_all);
}
