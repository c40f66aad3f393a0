/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run after its command has ended, or when it cannot act
 * itself: processes left behind, the killer, and the release. */
#include <sys/wait.h>

#include "start_run.h"

FIXTURE(take_path, NULL)

/* -- what the command has left behind ------------------------------------- */

/* A parser of /proc/PID/stat that takes the first parenthesis for the end of
 * the name overlooks these, and the lock is free while they live. */
TEST(no_name_hides_a_process_that_is_left)
{
    static const char *const names[] = { "\n) Z 1 (", " " };

    for (size_t i = 0; i < COUNT(names); i++) {
        START(&cli, "--kill-grace", "50ms", new_path(), COMMAND, "leave",
              names[i]);
        assert_int_equal(cli_end(&cli), 0);
        assert_int_equal(kill(cli_said_pid(&cli, ""), 0), -1);
    }
}

/* The process gets TERM and CONT, and has the time of --kill-grace. */
TEST(leftover_processes_may_clean_up)
{
    const char *file = cli_file("cleaned-up");

    START_FOR(&cli, "60s", server_hosts(the_server), "--kill-grace", "10s",
              new_path(), COMMAND, "leave-stopped", file);
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(access(file, F_OK), 0);
}

/* -- the guard ------------------------------------------------------------ */

/* A signal to the process group of the tool does not reach its guard: else a
 * grandchild would live on without the lock. */
TEST(a_killed_group_takes_all_along)
{
    pid_t grandchild;

    START(&cli, new_path(), "-c", "sleep 1000 & echo pid $!; wait");
    cli_wait_said(&cli, "\n");
    grandchild = cli_said_pid(&cli, "pid ");
    wait_process_state(grandchild, 'S');
    assert_int_equal(getpgid(cli.pid), cli.pid);
    assert_int_equal(kill(-cli.pid, SIGKILL), 0);
    assert_int_equal(cli_end(&cli), 128 + SIGKILL);
    wait_process_gone(grandchild);
}

/* A process that has left the group of the command, and has no parent there. */
static pid_t start_daemon(const char *timeout)
{
    pid_t daemon;

    START_FOR(&cli, timeout, server_hosts(the_server), path, "-c",
              "(setsid sleep 1000 & echo pid $! .); exec sleep 1000");
    cli_wait_said(&cli, " .\n");
    daemon = cli_said_pid(&cli, "pid ");
    wait_process_state(daemon, 'S');
    return daemon;
}

/* Regression: the guard killed the group only, and the daemon worked on beside
 * the next holder. The lock is free when the session has timed out. */
TEST(a_killed_tool_takes_daemons_along)
{
    pid_t daemon = start_daemon("20s");

    assert_int_equal(kill(cli.pid, SIGKILL), 0);
    assert_int_equal(cli_end(&cli), 128 + SIGKILL);
    wait_process_gone(daemon);
}

TEST(a_stopped_tool_takes_daemons_along)
{
    pid_t daemon = start_daemon("4s");

    assert_int_equal(kill(cli.pid, SIGSTOP), 0);
    wait_process_gone(daemon);
    assert_int_equal(kill(cli.pid, SIGCONT), 0);
    assert_int_equal(cli_end(&cli), 79);
}

/* Then the tool does its work. */
TEST(a_killed_guard_takes_daemons_along)
{
    pid_t daemon = start_daemon("20s");

    assert_ok(kill(wait_child_of(cli.pid, "zk-lockctl guar"), SIGKILL));
    assert_int_equal(cli_end(&cli), 128 + SIGKILL);
    assert_said(&cli, "the guard of the command was killed");
    assert_int_equal(process_state(daemon), 0);
    assert_int_equal(count_children(path), 0);
}

/* The guard is the parent of the command. */
TEST(a_stopped_guard_is_continued)
{
    START(&cli, new_path(), "-c",
          "trap 'exit 7' TERM; kill -STOP $PPID; echo stopped; "
          "while :; do sleep 0.1; done");
    cli_wait_said(&cli, "stopped\n");
    assert_int_equal(kill(cli.pid, SIGTERM), 0);
    assert_int_equal(cli_end(&cli), 7);
}

/* -- giving it back ------------------------------------------------------- */

/* The lock was ours to the end of the command, so it is no failure of the
 * command that the servers do not answer the release. The node goes later. */
TEST(a_release_without_an_answer_is_no_loss)
{
    AUTO(proxy) proxy = new_proxy();

    START_FOR(&cli, "10s", proxy_hosts(proxy), "--timeout", "300ms", path, "-c",
              "echo ready; read -r line; exit 7");
    cli_wait_said(&cli, "ready\n");
    proxy_freeze(proxy);
    assert_int_equal(cli_end(&cli), 7);
    assert_lacks(cli_said(&cli), "LOST");
    assert_said(&cli, "may stay taken for the session timeout, 10000 ms");
    wait_children(path, 0);
}

/* The lease had run out when the command ended by itself: its guard, stopped,
 * did not kill it in time. An answer of the servers to the release proves
 * nothing then: a release is also confirmed when the session was over long
 * before. */
static void end_without_a_lease(const char *hosts, struct proxy *proxy)
{
    pid_t command;
    pid_t guard;

    START_READY_FOR(&cli, "4s", hosts, "--timeout", "300ms", new_path());
    command = wait_child_of(cli.pid, "cli-command");
    guard = wait_child_of(cli.pid, "zk-lockctl guar");
    assert_int_equal(kill(cli.pid, SIGSTOP), 0);
    wait_process_state(cli.pid, 'T');
    assert_int_equal(kill(guard, SIGSTOP), 0);
    if (proxy != NULL)
        proxy_freeze(proxy);
    sleep_ms(4000); /* the longest lease */
    (void)close(cli.in);
    cli.in = -1;
    wait_process_state(command, 'Z');
    assert_int_equal(kill(guard, SIGCONT), 0);
    wait_process_state(guard, 'Z'); /* it has told the end of the command */
    assert_int_equal(kill(cli.pid, SIGCONT), 0);
    assert_int_equal(cli_end(&cli), 79);
    assert_said(&cli, "LOCK LOST: it was not provably ours");
}

/* Regression: the exit code was 0 when the release was confirmed. */
TEST(a_lock_not_proven_at_the_end_is_lost)
{
    AUTO(proxy) proxy = new_proxy();

    end_without_a_lease(server_hosts(the_server), NULL);
    end_without_a_lease(proxy_hosts(proxy), proxy);
}

/* The lease was proven, but somebody has deleted the node. */
TEST(a_lock_found_lost_at_the_release_is_lost)
{
    preload(LOST_RELEASE);
    START(&cli, new_path(), "true");
    (void)unsetenv("LD_PRELOAD");
    assert_int_equal(cli_end(&cli), 79);
    assert_said(&cli, "LOCK LOST: it was not provably ours");
}

/* The node stays until the session ends; the command has done its work. */
TEST(a_refused_release_is_said)
{
    START(&cli, path, "-c", "echo ready; read -r line; exit 7");
    cli_wait_said(&cli, "ready\n");
    look_permit(path, ZOO_PERM_READ);
    assert_int_equal(cli_end(&cli), 7);
    assert_said(&cli, "zk-lockctl: ");
    assert_said(&cli, path);
    assert_lacks(cli_said(&cli), "LOST");
}
