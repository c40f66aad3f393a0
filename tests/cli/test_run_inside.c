/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run inside zk-lockctl run. */

#include "start_run.h"

FIXTURE(take_path, NULL)

#define INSIDE LOCKCTL, "run", "--servers", server_hosts(the_server)

/* Of what it has said. */
static const char *first_line(void)
{
    const char *said = cli_said(&cli);

    return textf("%.*s", (int)strcspn(said, "\n"), said);
}

/* The node of the killed run is there until its session ends, so waiting makes
 * sense. */
TEST(a_run_around_that_was_killed_is_waited_for)
{
    START_FOR(&cli, "4s", server_hosts(the_server), path, "sh", "-c",
              "echo $ZKLOCK_SESSIONS; exec sleep 1000");
    cli_wait_said(&cli, "\n");
    const char *sessions = first_line();
    assert_int_equal(cli_kill(&cli, SIGKILL), 128 + SIGKILL);
    assert_int_equal(count_children(path), 1);
    assert_int_equal(setenv("ZKLOCK_SESSIONS", sessions, 1), 0);
    assert_run(0, "started\n", path, "echo", "started");
    assert_int_equal(unsetenv("ZKLOCK_SESSIONS"), 0);
}

/* Two nested runs may wait for each other's outer lock. Each run has a session
 * of its own; only this record tells that the inner run belongs to the outer
 * one. */
TEST(the_node_inside_names_the_session_around)
{
    const char *inner = textf("%s-inside", path);

    START(&cli, "--why=it", path, "sh", "-c", "echo $ZKLOCK_SESSION; \"$@\"",
          "sh", INSIDE, inner, COMMAND, "signals");
    cli_wait_said(&cli, "ready\n");
    assert_has(data_of_first(inner), textf("\"within\":\"%s\"", first_line()));
    assert_int_equal(cli_end(&cli), 0);
}
