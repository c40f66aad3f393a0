/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl hold in an interactive shell. */

#include "tmux.h"

static const char *path;

/* With the tool in $L, and the lock in $P. */
static int open_terminal(void)
{
    path = new_path();
    tmux_open(200, 30);
    tmux_line("export ZK_SERVERS=%s L='%s' P='%s'; clear",
              server_hosts(the_server), LOCKCTL, path);
    return 0;
}

FIXTURE(open_terminal, tmux_close)

static void hold(void)
{
    tmux_line("eval \"$($L hold $P)\"");
    tmux_wait_code(0);
    assert_int_equal(count_children(path), 1);
}

/* A key that comes before the command has the terminal is for nobody. */
static void press_beside_a_command(const char *key)
{
    tmux_line("sh -c 'echo \"st\"arted; exec sleep 1000'");
    tmux_wait("started");
    tmux_key(key);
}

static void assert_held(void)
{
    tmux_line("$L hold --check");
    tmux_wait_code(0);
    assert_int_equal(count_children(path), 1);
}

TEST(without_eval_it_explains_itself)
{
    tmux_line("$L hold $P");
    tmux_wait("zk-lockctl: the output is for a shell, which holds the lock "
              "then: eval \"$(zk-lockctl hold LOCK || echo exit $?)\"");
    tmux_wait_code(64);
    assert_int_equal(count_children(path), 0);
}

/* A process in the job of the shell would end by the key, or stop. */
TEST(keys_are_not_for_it)
{
    hold();
    press_beside_a_command("C-c");
    tmux_wait_code(130);
    assert_held();
    press_beside_a_command("C-z");
    tmux_wait("Stopped");
    assert_held();
    tmux_line("kill -KILL %%1; $L release");
    tmux_wait_code(0);
    assert_int_equal(count_children(path), 0);
}

TEST(a_shell_that_is_hung_up_holds_no_more)
{
    tmux_line("bash --norc");
    hold();
    tmux_line("kill -HUP $$"); /* as a terminal does that is closed */
    wait_children(path, 0);
}

TEST(the_key_ends_the_wait)
{
    struct cli holder;

    setenv("ZK_SERVERS", server_hosts(the_server), 1);
    START_CLI(&holder, "run", path, COMMAND, "signals");
    cli_wait_said(&holder, "ready\n");
    tmux_line("eval \"$($L hold $P)\"");
    tmux_wait("waiting: ");
    tmux_key("C-c");
    wait_children(path, 1);
    tmux_line("$L hold --check");
    tmux_wait("no lock is held for this shell");
    assert_int_equal(cli_end(&holder), 0);
}

/* An interactive shell does not end by TERM, but its command does. A command
 * that is typed when the loss is said, before TERM, would get it as well. */
TEST(a_loss_is_said)
{
    hold();
    tmux_line("sh -c 'echo \"st\"arted; exec sleep 1000'");
    tmux_wait("started");
    delete_nth_child(path, 0);
    tmux_wait("LOCK LOST: somebody has deleted its node, /");
    tmux_wait("Terminated");
    tmux_line("$L release 2>/dev/null");
    tmux_wait_code(79);
}
