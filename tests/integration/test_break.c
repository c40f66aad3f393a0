/* Tests of a break: it deletes exactly the given node, never a newer one. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zookeeper/proto.h>

#include "proxy.h"

static zkr_session *s;
static zkr_mutex *m;
static char path[64];

static int setup(void **state)
{
    (void)state;
    s = open_session();
    (void)snprintf(path, sizeof(path), "%s", new_path());
    m = new_mutex(s, path);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    zkr_mutex_free(m);
    (void)zkr_session_close(s);
    (void)admin_delete_tree(admin, path);
    return 0;
}

static const char *in_dir(const char *name)
{
    static char full[256];

    (void)snprintf(full, sizeof(full), "%s/%s", path, name);
    return full;
}

static int64_t czxid(const char *node)
{
    struct Stat stat;

    assert_int_equal(admin_exists(admin, node, &stat), ZOK);
    return stat.czxid;
}

static int64_t make(const char *name)
{
    assert_int_equal(admin_create(admin, in_dir(name), NULL), ZOK);
    return czxid(in_dir(name));
}

static void a_broken_holder_is_lost_and_the_next_holds(void **state)
{
    zkr_session *other = open_session();
    zkr_mutex *next = new_mutex(other, path);
    zkr_grant *g = acquire(m);
    struct waiter w;

    (void)state;
    waiter_start(&w, next, SOON_MS);
    wait_children(path, 2);
    ok(zkr_participants_break(s, zkr_grant_node(g), zkr_grant_token(g), 0));
    assert_int_equal(waiter_join(&w), ZKR_OK);
    wait_grant_state(g, ZKR_GRANT_LOST);
    assert_int_equal(zkr_grant_check(w.grant), ZKR_OK);
    zkr_grant_free(g);
    release(w.grant);
    zkr_mutex_free(next);
    close_session(other);
}

static void another_token_breaks_nothing(void **state)
{
    zkr_grant *g = acquire(m);
    int64_t token = zkr_grant_token(g);

    (void)state;
    assert_int_equal(zkr_participants_break(s, zkr_grant_node(g), token + 1, 0),
                     ZKR_ENOTHELD);
    assert_int_equal(zkr_participants_break(s, zkr_grant_node(g), token - 1, 0),
                     ZKR_ENOTHELD);
    assert_non_null(strstr(zkr_error_detail(), zkr_grant_node(g)));
    wait_verified(g);
    release(g);
}

/* The name is the same, the holder is another. */
static void the_next_holder_of_an_unfair_mutex_is_not_meant(void **state)
{
    zkr_unfair_mutex *unfair = NULL;
    zkr_grant *g = NULL;
    int64_t token;

    (void)state;
    ok(zkr_unfair_mutex_new(s, path, NULL, &unfair));
    ok(zkr_unfair_mutex_acquire(unfair, SOON_MS, &g));
    token = zkr_grant_token(g);
    release(g);
    assert_int_equal(zkr_participants_break(s, in_dir("holder"), token, 0),
                     ZNONODE);
    ok(zkr_unfair_mutex_acquire(unfair, SOON_MS, &g));
    assert_int_equal(zkr_participants_break(s, in_dir("holder"), token, 0),
                     ZKR_ENOTHELD);
    wait_verified(g);
    ok(zkr_participants_break(s, in_dir("holder"), zkr_grant_token(g), 0));
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
    zkr_unfair_mutex_free(unfair);
}

static void only_contenders_are_broken(void **state)
{
    static const char *const bad[] = {
        "",
        "/",
        "lock-0000000000",
        "/a",
        "/a/notes",
        "/a/lock-",
        "/a//lock-0",
        "/a/lock-0/",
        "/a/../lock-0000000000",
        "/a/lock-\0330",
        "/a/latch-0000000001",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(zkr_participants_break(s, bad[i], 1, 0), ZKR_EPATH);
    assert_int_equal(zkr_participants_break(s, NULL, 1, 0), ZKR_EINVAL);
    assert_int_equal(zkr_participants_break(s, "/a/lock-0", 0, 0), ZKR_EINVAL);
    assert_int_equal(zkr_participants_break(NULL, "/a/lock-0", 1, 0),
                     ZKR_EINVAL);
}

static void forbid(const char *full, int32_t perms)
{
    struct ACL acl = { perms, { "world", "anyone" } };
    struct ACL_vector acls = { 1, &acl };

    assert_int_equal(admin_set_acl(admin, full, &acls), ZOK);
}

static void what_the_server_refuses_is_told(void **state)
{
    int64_t token;

    (void)state;
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    token = make("lock-0000000000");
    forbid(path, ZOO_PERM_ALL & ~ZOO_PERM_DELETE);
    assert_int_equal(
        zkr_participants_break(s, in_dir("lock-0000000000"), token, 0),
        ZNOAUTH);
    forbid(path, ZOO_PERM_ALL);
    (void)make("lock-0000000000/child");
    assert_int_equal(
        zkr_participants_break(s, in_dir("lock-0000000000"), token, 0),
        ZNOTEMPTY);
}

/* --- when something fails meanwhile --- */

static struct proxy *proxy;
static zkr_session *ps; /* through the proxy */

static int proxy_setup(void **state)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;

    if (proxy_start(server_hosts(the_server), &proxy) != 0)
        return -1;
    (void)setup(state);
    opts.session_timeout_ms = 2 * SESSION_MS;
    ok(zkr_session_open(proxy_hosts(proxy), &opts, &ps));
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    return 0;
}

static int proxy_teardown(void **state)
{
    proxy_heal(proxy);
    proxy_release(proxy);
    (void)zkr_session_close(ps);
    ps = NULL;
    proxy_stop(proxy);
    return teardown(state);
}

static void lost_requests_and_answers_are_made_good(void **state)
{
    static const int32_t types[] = { ZOO_SYNC_OP, ZOO_EXISTS_OP,
                                     ZOO_DELETE_OP };
    static const enum proxy_action actions[] = { PROXY_DROP_REPLY,
                                                 PROXY_DROP_REQUEST };

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        int64_t token = make("lock-0000000000");

        proxy_rule(proxy, types[i / 2], 1, actions[i % 2]);
        ok(zkr_participants_break(ps, in_dir("lock-0000000000"), token,
                                  SOON_MS));
        assert_true(proxy_rule_done(proxy));
        assert_int_equal(admin_exists(admin, in_dir("lock-0000000000"), NULL),
                         ZNONODE);
    }
}

struct breaker {
    pthread_t thread;
    int64_t token;
    int rc;
    atomic_bool done;
};

static void *breaker_main(void *arg)
{
    struct breaker *b = arg;
    char node[256];

    (void)snprintf(node, sizeof(node), "%s/holder", path);
    b->rc = zkr_participants_break(ps, node, b->token, SOON_MS);
    atomic_store(&b->done, true);
    return NULL;
}

static bool breaker_is_done(void *b)
{
    return atomic_load(&((struct breaker *)b)->done);
}

static int breaker_join(struct breaker *b)
{
    if (!wait_until(breaker_is_done, b, SOON_MS))
        fail_msg("a breaking thread hangs");
    assert_int_equal(pthread_join(b->thread, NULL), 0);
    return b->rc;
}

/* The answer to the delete is lost, and another contender is granted before the
 * server can be asked again. */
static void who_comes_after_is_left_alone(void **state)
{
    struct breaker b = { .rc = 0 };
    zkr_unfair_mutex *unfair = NULL;
    zkr_grant *g = NULL;
    zkr_grant *next = NULL;

    (void)state;
    ok(zkr_unfair_mutex_new(s, path, NULL, &unfair));
    ok(zkr_unfair_mutex_acquire(unfair, SOON_MS, &g));
    b.token = zkr_grant_token(g);
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_HOLD_REPLY);
    assert_int_equal(pthread_create(&b.thread, NULL, breaker_main, &b), 0);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    proxy_cut(proxy);
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
    ok(zkr_unfair_mutex_acquire(unfair, SOON_MS, &next));
    proxy_heal(proxy);
    assert_int_equal(breaker_join(&b), ZKR_OK);
    wait_verified(next);
    release(next);
    zkr_unfair_mutex_free(unfair);
}

/* A delete that waits in a session that ends is not sent in the next one
 * without a look. */
static void a_new_session_looks_again(void **state)
{
    struct breaker b = { .rc = 0 };
    zkr_unfair_mutex *unfair = NULL;
    zkr_grant *g = NULL;

    (void)state;
    ok(zkr_unfair_mutex_new(s, path, NULL, &unfair));
    ok(zkr_unfair_mutex_acquire(unfair, SOON_MS, &g));
    b.token = zkr_grant_token(g);
    proxy_rule(proxy, ZOO_DELETE_OP, 1, PROXY_HOLD_REQUEST);
    assert_int_equal(pthread_create(&b.thread, NULL, breaker_main, &b), 0);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    proxy_reset_counts(proxy);
    expire(ps);
    proxy_release(proxy);
    assert_int_equal(breaker_join(&b), ZKR_OK);
    assert_true(proxy_requests(proxy, ZOO_EXISTS_OP) >= 1);
    wait_grant_state(g, ZKR_GRANT_LOST);
    zkr_grant_free(g);
    zkr_unfair_mutex_free(unfair);
}

static void a_break_without_an_answer_ends_in_time(void **state)
{
    int64_t token = make("lock-0000000001");
    struct stopwatch *w = stopwatch_start();
    int rc;

    (void)state;
    server_pause(the_server);
    rc = zkr_participants_break(ps, in_dir("lock-0000000001"), token, 300);
    server_resume(the_server);
    assert_int_equal(rc, ZOPERATIONTIMEOUT);
    assert_true(zkr_error_is_unsure(rc));
    assert_true(stopwatch_says(w, 300, 300 + 1000));
}

static void what_was_not_sent_is_not_sent_later(void **state)
{
    int64_t token = make("lock-0000000001");

    (void)state;
    proxy_cut(proxy);
    wait_session_state(ps, ZKR_SESSION_SUSPENDED);
    assert_int_equal(
        zkr_participants_break(ps, in_dir("lock-0000000001"), token, 300),
        ZOPERATIONTIMEOUT);
    proxy_heal(proxy);
    wait_session_state(ps, ZKR_SESSION_RECONNECTED);
    settle(ps);
    assert_int_equal(czxid(in_dir("lock-0000000001")), token);
}

static int run_group(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define PROXIED(name)                                                          \
    cmocka_unit_test_setup_teardown(name, proxy_setup, proxy_teardown)
    static const struct CMUnitTest tests[] = {
        TEST(a_broken_holder_is_lost_and_the_next_holds),
        TEST(another_token_breaks_nothing),
        TEST(the_next_holder_of_an_unfair_mutex_is_not_meant),
        TEST(only_contenders_are_broken),
        TEST(what_the_server_refuses_is_told),
        PROXIED(lost_requests_and_answers_are_made_good),
        PROXIED(who_comes_after_is_left_alone),
        PROXIED(a_new_session_looks_again),
        PROXIED(a_break_without_an_answer_ends_in_time),
        PROXIED(what_was_not_sent_is_not_sent_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
