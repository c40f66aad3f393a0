/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run with servers that do not answer, while it connects
 * and while it waits. */

#include "start_run.h"

FIXTURE(take_path, NULL)

/* The credentials may come through a pipe, which is read once. Also one that
 * does not wait for the lock waits for a server that is silent. */
TEST(a_second_attempt_has_its_credentials)
{
    AUTO(proxy) proxy = new_proxy();

    proxy_freeze(proxy);
    START_SH(&cli,
             "printf 'digest:bob:secret' | %s run -n --auth-file /dev/stdin "
             "--servers %s %s echo done",
             LOCKCTL, proxy_hosts(proxy), new_path());
    cli_wait_said(&cli, "trying for another");
    proxy_heal(proxy);
    assert_end(&cli, 0, "done\n");
}

static struct cli waiter;

/* Starts a holder, and a waiter behind it that connects through a proxy. */
static struct proxy *start_waiter(const char *timeout, const char *wait)
{
    struct proxy *proxy = new_proxy();

    START_READY(&cli, path);
    START_FOR(&waiter, timeout, proxy_hosts(proxy), "-w", wait, path, "true");
    wait_children(path, 2);
    return proxy;
}

/* The connection takes so long that less than a second is left to wait for the
 * lock, so the holder is not named yet; on a busy machine nothing is left. */
TEST(connecting_is_a_part_of_the_wait)
{
    AUTO(proxy) proxy = new_proxy();

    START_READY(&cli, path);
    proxy_freeze(proxy);
    START_FOR(&waiter, "40s", proxy_hosts(proxy), "-w", "3s", path, "true");
    cli_wait_said(&waiter, "trying for another");
    sleep_ms(1200);
    proxy_heal(proxy);
    int code = cli_end(&waiter);
    assert_true(code == 75 || code == 69);
    assert_lacks(cli_said(&waiter), "waiting: ");
    ok(cli_end(&cli));
}

/* Regression: it said nothing when they went before it had begun to wait. */
TEST(a_waiter_says_that_servers_have_gone_at_once)
{
    AUTO(proxy) proxy = NULL;

    preload("slow-timer");
    proxy = start_waiter("40s", "1h");
    (void)unsetenv("LD_PRELOAD");
    for (int i = 1; i <= 2; i++) {
        proxy_cut(proxy);
        cli_wait_said_often(&waiter, "the servers do not answer; waiting", i);
        proxy_heal(proxy);
        cli_wait_said_often(&waiter, "the servers answer; still waiting", i);
    }
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(cli_end(&waiter), 0);
}

/* Regression: it said "not granted before the deadline". */
TEST(a_deadline_without_servers_says_so)
{
    AUTO(proxy) proxy = start_waiter("40s", "4s");

    proxy_freeze(proxy); /* which a client notices late */
    assert_end(&waiter, 75, "not acquired: the servers do not answer");
    assert_int_equal(cli_end(&cli), 0);
}

TEST(a_waiter_says_that_its_session_was_ended)
{
    AUTO(proxy) proxy = start_waiter("2s", "1h");

    for (int i = 1; i <= 2; i++) {
        proxy_cut(proxy);
        cli_wait_said_often(&waiter, "the servers do not answer; waiting", i);
        sleep_ms(2 * T_MS); /* the servers end the session meanwhile */
        proxy_heal(proxy);
        cli_wait_said_often(&waiter,
                            "have ended the session; waiting at the end", i);
        cli_wait_said_often(&waiter, "the servers answer; still waiting", i);
    }
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(cli_end(&waiter), 0);
}
