/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl metrics: real locks, and no servers. */

#include "look.h"
#include "usual.h"

FIXTURE(usual_setup_two, usual_teardown)

/* Regression: it named one of them. */
TEST(each_faulty_server_is_named_with_its_cause)
{
    proxy_freeze(proxy);
    LOOK(69, "metrics --servers 127.0.0.1:1,%s --timeout 6s",
         proxy_hosts(proxy));
    assert_has(look_err, "; 127.0.0.1:1: refused");
    assert_has(look_err, textf("; %s: silent", proxy_hosts(proxy)));
    assert_lacks(look_out, "{cause=\"REFUSED\"} 0\n");
    assert_lacks(look_out, "{cause=\"SILENT\"} 0\n");
}

static struct cli served;
static double took_s; /* the last look that was served */

static bool page_has(const char *text)
{
    struct cli page;

    START_SH(&page,
             "exec 5<>/dev/tcp/127.0.0.1/%d; echo 'GET /metrics HTTP/1.0\r\n"
             "\r' >&5; cat <&5",
             (int)cli_said_pid(&served, "serving http://127.0.0.1:"));
    assert_int_equal(cli_end(&page), 0);
    const char *took = strstr(cli_said(&page), "\nzklock_scan_seconds ");
    if (took != NULL)
        (void)sscanf(took, "\nzklock_scan_seconds %lf", &took_s);
    return strstr(cli_said(&page), text) != NULL;
}

/* The page told for ever what the last look had seen; or that each look had
 * taken the time since the first. */
TEST(without_a_connection_it_serves_that_they_are_down)
{
    START_CLI(&served, "metrics", "--listen", "127.0.0.1:0", "--servers",
              proxy_hosts(proxy), "/");
    cli_wait_said(&served, "/metrics");
    int64_t began_ms = now_ms();
    for (int round = 0; round < 2; round++) {
        AWAIT(page_has("\nzklock_up 1\n"));
        proxy_cut(proxy);
        AWAIT(page_has("\nzklock_up 0\n"));
        AWAIT(page_has("{cause=\"HUNG_UP\"}") &&
              !page_has("{cause=\"HUNG_UP\"} 0\n"));
        proxy_heal(proxy);
    }
    zkr_grant *g = acquire(rival);
    AWAIT(page_has(textf("{lock=\"%s\",kind=\"mutex\"} 1\n", path)));
    assert_true(took_s * 1000 < (double)(now_ms() - began_ms) / 2);
    release(g);
    assert_int_equal(cli_kill(&served, SIGTERM), 0);
}
