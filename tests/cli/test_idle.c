/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what watch, top and wait ask of the servers, on 2,000 locks: each
 * when it starts, nothing while nothing changes, and little for a change. */

#include "tmux.h"

enum { LOCKS = 2000, IDLE_MS = 3000 };

/* One for each directory and one for each holder. */
enum { ONE_LOOK = LOCKS + LOCKS / 2 };

static struct proxy *proxy;
static zkr_session *session;

/* All locks exist, and every second one is held. */
static int setup_group(void)
{
    session = open_session();
    (void)admin_create(admin, "/many", NULL);
    for (int i = 0; i < LOCKS; i++) {
        assert_int_equal(admin_create(admin, textf("/many/l%d", i), NULL), 0);
        if (i % 2 == 0)
            ok(admin_create(admin, textf("/many/l%d/lock-0000000000", i), "x"));
    }
    return proxy_start(server_hosts(the_server), &proxy);
}

static int teardown_group(void)
{
    proxy_stop(proxy);
    (void)admin_delete_tree(admin, "/many");
    return zkr_session_close(session);
}

GROUP(setup_group, teardown_group)

/* While nothing happens it asks nothing; and little when something has. */
static void assert_asks_nothing(void)
{
    proxy_reset_counts(proxy);
    sleep_ms(IDLE_MS);
    assert_int_equal(quiet_requests(proxy), 0);
}

static void assert_asks_little(void)
{
    AWAIT(quiet_requests(proxy) >= 1);
    quiet_wait(proxy, IDLE_MS);
    assert_in_range(quiet_requests(proxy), 1, 4);
}

/* One look at all of them at first; then none. */
static void assert_idle(void)
{
    AWAIT(quiet_requests(proxy) >= ONE_LOOK);
    quiet_wait(proxy, IDLE_MS);
    assert_in_range(quiet_requests(proxy), ONE_LOOK, ONE_LOOK + 20);
    for (int round = 0; round < 2; round++) {
        AUTO(mutex) m = new_mutex(session, "/many/l1");

        assert_asks_nothing();
        release(acquire(m));
        assert_asks_little();
    }
}

TEST(watch_of_a_quiet_cluster_asks_nothing)
{
    struct cli c;

    proxy_reset_counts(proxy);
    START_CLI(&c, "watch", "--servers", proxy_hosts(proxy));
    assert_idle();
    assert_int_equal(cli_kill(&c, SIGTERM), 0);
    assert_has(cli_said(&c), " /many/l1 ");
    assert_lacks(cli_said(&c), " /many/l0 ");
}

TEST(the_screen_of_a_quiet_cluster_asks_nothing)
{
    tmux_open(100, 24);
    proxy_reset_counts(proxy);
    tmux_line("%s top --servers %s", LOCKCTL, proxy_hosts(proxy));
    tmux_wait("/many/l0");
    assert_idle();
    tmux_key("q");
    tmux_wait_gone("/many/l0");
    (void)tmux_close();
}

/* One list that tells of the change, one look at the lock and who holds it. */
TEST(wait_for_a_quiet_lock_asks_nothing)
{
    struct cli c;

    proxy_reset_counts(proxy);
    START_CLI(&c, "wait", "--servers", proxy_hosts(proxy), "--free",
              "/many/l0");
    AWAIT(quiet_requests(proxy) >= 4);
    quiet_wait(proxy, IDLE_MS);
    assert_in_range(quiet_requests(proxy), 4, 9);
    for (int round = 0; round < 2; round++) {
        assert_asks_nothing();
        ok(admin_create(admin, "/many/l0/lock-0000000001", "x"));
        assert_int_equal(admin_delete(admin, "/many/l0/lock-0000000001"), ZOK);
        assert_asks_little();
    }
    assert_int_equal(admin_delete(admin, "/many/l0/lock-0000000000"), ZOK);
    assert_int_equal(cli_end(&c), 0);
}

/* The first look is shown once, and each change once. */
TEST(a_lock_that_is_followed_asks_nothing)
{
    struct cli c;

    START_CLI(&c, "show", "--follow", "--no-4lw", "-o", "jsonl", "--servers",
              proxy_hosts(proxy), "/many/l2");
    cli_wait_said(&c, "lock-0000000000");
    sleep_ms(IDLE_MS);
    assert_int_equal(text_count(cli_said(&c), "\n"), 1);
    assert_asks_nothing();
    ok(admin_create(admin, "/many/l2/lock-0000000001", "x"));
    cli_wait_said(&c, "lock-0000000001");
    assert_asks_little();
    assert_int_equal(text_count(cli_said(&c), "\n"), 2);
    assert_int_equal(admin_delete(admin, "/many/l2/lock-0000000001"), ZOK);
    assert_int_equal(cli_kill(&c, SIGKILL), 128 + SIGKILL);
}
