/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run after its command has ended, or when it cannot act
 * itself: processes left behind, the killer, and the release. */

#include "start_run.h"

/* The kernel keeps 15 bytes of a name. */
#define GUARD_NAME "zk-lockctl guar"

FIXTURE(take_path, NULL)

/* -- the guard ------------------------------------------------------------ */

/* A process that the command has started, in the group of the command or in
 * none of it, and without a parent there. */
static const char child[] = "sleep 1000 & echo pid $! .; wait";
static const char daemon_[] =
    "(setsid sleep 1000 & echo pid $! .); exec sleep 1000";

/* Who gets which signal; the timeout of the session where it must end. */
static const struct {
    const char *name;
    const char *starts;
    enum { TOOL, GROUP, GUARD } whom;
    int sig;
    const char *timeout;
    int code;
    const char *said;
    int nodes; /* the lock is free when the session has timed out */
} ends[] = {
    { "a killed tool", child, TOOL, SIGKILL, "20s", 128 + SIGKILL, "", 1 },
    /* regression: a guard in the group of the tool died with it */
    { "a killed group", child, GROUP, SIGKILL, "20s", 128 + SIGKILL, "", 1 },
    /* regression: the guard killed the group only, and the daemon worked on
     * beside the next holder */
    { "a killed tool, a daemon", daemon_, TOOL, SIGKILL, "20s", 128 + SIGKILL,
      "", 1 },
    { "a stopped tool, a daemon", daemon_, TOOL, SIGSTOP, "4s", 79, "LOST", 0 },
    /* then the tool does its work */
    { "a killed guard, a daemon", daemon_, GUARD, SIGKILL, "20s", 128 + SIGKILL,
      "the guard of the command was killed", 0 },
};

TEST_ROWS(all_that_the_command_has_started_ends, ends, end)
{
    START_FOR(&cli, end->timeout, server_hosts(the_server), path, "-c",
              end->starts);
    cli_wait_said(&cli, " .\n");
    pid_t started = cli_said_pid(&cli, "pid ");
    wait_process_state(started, 'S');
    pid_t command =
        wait_child_of(cli.pid, end->starts == child ? "sh" : "sleep");
    assert_int_equal(getpgid(cli.pid), cli.pid);
    ok(kill(end->whom == GROUP   ? -cli.pid
            : end->whom == GUARD ? wait_child_of(cli.pid, GUARD_NAME)
                                 : cli.pid,
            end->sig));
    if (end->sig == SIGSTOP) {
        wait_process_gone(started);
        ok(kill(cli.pid, SIGCONT));
    }
    assert_end(&cli, end->code, end->said);
    if (end->whom == GUARD)
        assert_int_equal(process_state(started), 0);
    wait_process_gone(started);
    wait_process_gone(command);
    if (end->sig == SIGKILL) /* the other session may have ended */
        assert_int_equal(count_children(path), end->nodes);
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
    assert_has(cli_said(&cli),
               "may stay taken for the session timeout, 10000 ms");
    wait_children(path, 0);
}

/* The lease had run out when the command ended by itself: its guard, stopped,
 * did not kill it in time. An answer of the servers to the release proves
 * nothing then: a release is also confirmed when the session was over long
 * before. */
static void end_without_a_lease(const char *hosts, struct proxy *proxy)
{
    START_READY_FOR(&cli, "4s", hosts, "--timeout", "300ms", new_path());
    pid_t command = wait_child_of(cli.pid, "cli-command");
    pid_t guard = wait_child_of(cli.pid, GUARD_NAME);
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
    assert_end(&cli, 79, "LOCK LOST: it was not provably ours");
}

/* Regression: the exit code was 0 when the release was confirmed. */
TEST(a_lock_not_proven_at_the_end_is_lost)
{
    AUTO(proxy) proxy = new_proxy();

    end_without_a_lease(server_hosts(the_server), NULL);
    end_without_a_lease(proxy_hosts(proxy), proxy);
}

/* The node stays until the session ends; the command has done its work. */
TEST(a_refused_release_is_said)
{
    START(&cli, path, "-c", "echo ready; read -r line; exit 7");
    cli_wait_said(&cli, "ready\n");
    look_permit(path, ZOO_PERM_READ);
    assert_end(&cli, 7, "zk-lockctl: ", path);
    assert_lacks(cli_said(&cli), "LOST");
}
