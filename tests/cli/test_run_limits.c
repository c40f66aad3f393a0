/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run: --max-hold, --keep-daemons, and the label. */

#include "start_run.h"

FIXTURE(take_path, NULL)

/* --- --max-hold --- */

TEST(a_command_is_told_to_end_in_time)
{
    assert_run(81, "--max-hold is over; TERM to the command", "--max-hold",
               "1s", path, "-c",
               "trap 'exit 3' TERM; while :; do sleep .01; done");
    assert_lacks(cli_said(&cli), "LOST");
    assert_int_equal(count_children(path), 0);
}

TEST(one_that_does_not_end_is_killed_before_the_time)
{
    const char *file = cli_file("stamps");
    long long first;
    long long last;

    (void)unlink(file);
    assert_run(81, "--max-hold is over; KILL to the command", "--max-hold",
               "1s", path, COMMAND, "stamp", file, "0");
    read_stamps(file, &first, &last);
    assert_in_range((last - first) / 1000000, 1, 1000);
    assert_int_equal(count_children(path), 0);
}

/* The guard does it. The lease still runs: it is not the cause. */
TEST(also_while_run_is_stopped)
{
    pid_t command;

    START_FOR(&cli, "60s", server_hosts(the_server), "--kill-grace", "100ms",
              "--max-hold", "1s", new_path(), COMMAND, "deaf");
    cli_wait_said(&cli, "\n");
    command = wait_child_of(cli.pid, "cli-command");
    assert_int_equal(kill(cli.pid, SIGSTOP), 0);
    wait_process_gone(command);
    assert_int_equal(kill(cli.pid, SIGCONT), 0);
    assert_int_equal(cli_end(&cli), 81);
}

/* Who was stopped right after the start had not yet said until when the command
 * may live: it lived on without the lock. */
TEST(also_when_it_is_stopped_at_once)
{
    pid_t command;

    START_FOR(&cli, "60s", server_hosts(the_server), "--kill-grace", "100ms",
              "--max-hold", "1s", new_path(), "-c",
              "echo $$; tool=$(awk '/^PPid/ { print $2 }' /proc/$PPID/status); "
              "kill -STOP $tool; exec sleep 1000");
    cli_wait_said(&cli, "\n");
    command = cli_said_pid(&cli, "");
    wait_process_gone(command);
    assert_int_equal(kill(cli.pid, SIGCONT), 0);
    assert_int_equal(cli_end(&cli), 81);
}

TEST(a_loss_before_is_a_loss)
{
    START_READY(&cli, "--max-hold", "1h", path);
    delete_nth_child(path, 0);
    wait_process_state(cli.pid, 'Z');
    assert_int_equal(cli_end(&cli), 79);
}

TEST(a_command_that_ends_in_time_has_its_own_code)
{
    assert_int_equal(RUN("--max-hold", "1h", path, "-c", "exit 7"), 7);
    assert_string_equal(cli_said(&cli), "");
    assert_int_equal(RUN("--max-hold", "0", path, "true"), 64);
    assert_int_equal(RUN("--max-hold", "soon", path, "true"), 64);
    assert_run(64, "the last 650 ms are for the command to end", "--max-hold",
               "600ms", path, "true");
}

/* --- --keep-daemons --- */

TEST(a_daemon_may_stay)
{
    pid_t pid;

    assert_int_equal(RUN("--keep-daemons", path, COMMAND, "leave"), 0);
    pid = cli_said_pid(&cli, "");
    wait_process_state(pid, 'S');
    assert_int_equal(count_children(path), 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
}

/* Both ways to end: KILL at once, and TERM, to which the daemon is deaf. */
TEST(not_when_it_was_ended_for_the_lock)
{
    pid_t pid;

    START(&cli, "--keep-daemons", path, "-c",
          COMMAND " leave; exec sleep 1000");
    cli_wait_said(&cli, "\n");
    pid = cli_said_pid(&cli, "");
    delete_nth_child(path, 0);
    assert_int_equal(cli_end(&cli), 79);
    wait_process_gone(pid);
    assert_int_equal(RUN("--keep-daemons", "--max-hold", "1s", path, "-c",
                         COMMAND " leave; trap 'exit 0' TERM; "
                                 "while :; do sleep .01; done"),
                     81);
    pid = cli_said_pid(&cli, "");
    wait_process_gone(pid);
}

/* --- the label --- */

static void end_with_label(const char *label)
{
    cli_wait_said(&cli, "ready\n");
    assert_has(data_of_first(path), line("\"label\":\"%s\"", label));
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
    assert_int_equal(RUN(path, "true", text, text), 0);
    assert_said(&cli, "others are shown the command, cut to 128 bytes: \"true "
                      "xxxx");
    assert_said(&cli, "xxx...\"; --why shows them another text\n");
    assert_int_equal(RUN("-q", path, "true", text), 0);
    assert_string_equal(cli_said(&cli), "");
    assert_int_equal(RUN("--why", "x", path, "true", text), 0);
    assert_string_equal(cli_said(&cli), "");
}
