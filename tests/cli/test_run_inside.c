/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run inside zk-lockctl run. */

#include "start_run.h"

FIXTURE(take_path, NULL)

#define INSIDE LOCKCTL, "run", "--servers", server_hosts(the_server)

/* Of what it has said. */
static const char *first_line(void)
{
    const char *said = cli_said(&cli);

    return line("%.*s", (int)strcspn(said, "\n"), said);
}

TEST(it_would_wait_for_itself)
{
    assert_int_equal(RUN(path, INSIDE, path, "echo", "started"), 64);
    assert_said(&cli, "you hold /");
    assert_said(&cli, "would wait for itself");
    assert_lacks(cli_said(&cli), "started");
    assert_int_equal(RUN(path, INSIDE, "-w", "1h", path, "true"), 64);
    assert_int_equal(count_children(path), 0);
}

/* ZKLOCK_SESSION is that of the one in the middle. */
TEST(with_another_lock_in_between_too)
{
    const char *other = line("%s-inside", path);

    assert_run(64, "you hold /", path, INSIDE, other, INSIDE, path, "true");
    assert_int_equal(RUN(path, INSIDE, other, "true"), 0);
}

TEST(a_run_that_does_not_wait_says_why)
{
    assert_run(75, "you hold /", path, INSIDE, "-n", path, "true");
    assert_int_equal(RUN(path, INSIDE, "-n", "-E", "9", path, "true"), 9);
}

/* The same lock by another name. */
TEST(a_chroot_does_not_hide_it)
{
    assert_run(64, "you hold /a already", line("%s/a", path), INSIDE,
               "--servers", line("%s%s", server_hosts(the_server), path), "/a",
               "echo", "started");
}

/* A terminal multiplexer that was started by a command that once had the lock,
 * for example, keeps these variables. */
TEST(an_old_environment_means_nothing)
{
    char sessions[64];

    assert_int_equal(RUN(path, "sh", "-c", "echo $ZKLOCK_SESSIONS"), 0);
    PRINT(sessions, "%s", first_line());
    assert_int_equal(strncmp(sessions, "0x", 2), 0);
    assert_int_equal(setenv("ZKLOCK_SESSIONS", sessions, 1), 0);
    assert_int_equal(RUN(path, "true"), 0);
    assert_int_equal(setenv("ZKLOCK_SESSIONS", "what?", 1), 0);
    assert_int_equal(RUN(path, "true"), 0);
    assert_int_equal(unsetenv("ZKLOCK_SESSIONS"), 0);
}

/* The node of the killed run is there until its session ends, so waiting makes
 * sense. */
TEST(a_run_around_that_was_killed_is_waited_for)
{
    char sessions[64];

    START_FOR(&cli, "4s", server_hosts(the_server), path, "sh", "-c",
              "echo $ZKLOCK_SESSIONS; exec sleep 1000");
    cli_wait_said(&cli, "\n");
    PRINT(sessions, "%s", first_line());
    assert_int_equal(kill(cli.pid, SIGKILL), 0);
    assert_int_equal(cli_end(&cli), 128 + SIGKILL);
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
    const char *inner = line("%s-inside", path);

    START(&cli, "--why=it", path, "sh", "-c", "echo $ZKLOCK_SESSION; \"$@\"",
          "sh", INSIDE, inner, COMMAND, "signals");
    cli_wait_said(&cli, "ready\n");
    assert_has(data_of_first(inner), line("\"within\":\"%s\"", first_line()));
    assert_int_equal(cli_end(&cli), 0);
}
