/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run: the first lease, --keep-daemons, and the label. */

#include "start_run.h"

FIXTURE(take_path, NULL)

/* --- the lease --- */

/* Who was stopped right after the start had not yet said until when the command
 * may live: it lived on without the lock. */
TEST(a_tool_that_is_stopped_at_once_lets_nobody_live_on)
{
    START_FOR(&cli, "4s", server_hosts(the_server), new_path(), "-c",
              "echo $$; tool=$(awk '/^PPid/ { print $2 }' /proc/$PPID/status); "
              "kill -STOP $tool; exec sleep 1000");
    cli_wait_said(&cli, "\n");
    pid_t command = cli_said_pid(&cli, "");
    wait_process_gone(command);
    assert_int_equal(cli_kill(&cli, SIGCONT), 79);
}

/* --- --keep-daemons --- */

TEST(a_daemon_may_stay)
{
    assert_int_equal(RUN("--keep-daemons", path, COMMAND, "leave"), 0);
    pid_t pid = cli_said_pid(&cli, "");
    wait_process_state(pid, 'S');
    assert_int_equal(count_children(path), 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
}

TEST(not_when_it_was_ended_for_the_lock)
{
    for (int asked = 0; asked < 2; asked++) {
        START(&cli, "--keep-daemons", "--on-revoke=term", path, "-c",
              COMMAND " leave; exec sleep 1000");
        cli_wait_said(&cli, "\n");
        pid_t pid = cli_said_pid(&cli, "");
        if (asked)
            (void)look(textf("revoke -w 0 %s", path));
        else
            delete_nth_child(path, 0);
        assert_int_equal(cli_end(&cli), asked ? 80 : 79);
        wait_process_gone(pid);
    }
}

/* --- the label --- */

static void end_with_label(const char *label)
{
    cli_wait_said(&cli, "ready\n");
    assert_has(data_of_first(path), textf("\"label\":\"%s\"", label));
    assert_string_equal(cli_said(&cli), "ready\n");
    assert_int_equal(write(cli.in, "\n", 1), 1);
    assert_int_equal(cli_end(&cli), 0);
}

TEST(the_label_is_the_whole_command)
{
    START(&cli, path, "/bin/sh", "-c", "echo $0; read -r line", "ready",
          "--now");
    end_with_label("/bin/sh -c echo $0; read -r line ready --now");
    /* The shell of -c is ours, and a line end is nothing to warn of. */
    START(&cli, "-c", "echo ready;\nread -r line", path);
    end_with_label("echo ready; read -r line");
}

TEST(a_long_command_is_cut)
{
    char text[300];

    (void)memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    START(&cli, path, "/bin/sh", "-c", "echo $0; read -r line", "ready", text);
    text[128 - strlen("/bin/sh -c echo $0; read -r line ready ...")] = '\0';
    end_with_label(textf("/bin/sh -c echo $0; read -r line ready %s...", text));
}
