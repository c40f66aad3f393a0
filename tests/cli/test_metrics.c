/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl metrics: real locks, and no servers. */
#include "look.h"

TEST(a_queue_is_measured)
{
    const char *path = new_path();
    zkr_session *session = open_session();
    zkr_session *other = open_session();
    zkr_mutex *first = new_mutex(session, path);
    zkr_mutex *second = new_mutex(other, path);
    zkr_grant *g = acquire(first);
    struct waiter w;

    waiter_start(&w, second, SOON_MS);
    wait_children(path, 2);
    LOOK(0, "metrics --quiet %s", path);
    assert_has(look_out, "zklock_up 1\n");
    assert_has(look_out, "zklock_scan_complete 1\n");
    assert_has(look_out, line("{lock=\"%s\",kind=\"mutex\"} 1\n", path));
    assert_has(look_out, line("zklock_waiters{lock=\"%s\"} 1\n", path));
    release(g);
    assert_int_equal(waiter_join(&w), ZKR_OK);
    LOOK(0, "metrics --quiet /");
    assert_has(look_out, line("zklock_waiters{lock=\"%s\"} 0\n", path));
    release(w.grant);
    zkr_mutex_free(first);
    zkr_mutex_free(second);
    close_session(other);
    close_session(session);
}

/* Servers remove a container that nobody uses. Regression: zklock_up was 0, and
 * the exit code 65. */
TEST(an_idle_application_is_no_failure)
{
    LOOK(0, "metrics --quiet %s", new_path());
    assert_has(look_out, "zklock_up 1\n");
    assert_has(look_out, "zklock_scan_complete 1\n");
}

TEST(without_servers_it_says_that_they_are_down)
{
    LOOK(69, "metrics --servers 127.0.0.1:1 --timeout 2s");
    assert_has(look_out, "zklock_up 0\n");
    assert_lacks(look_out, "zklock_scan");
}
