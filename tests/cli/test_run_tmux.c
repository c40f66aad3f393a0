/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run as a job of a shell, in a terminal. */

#include <fcntl.h>

#include "start_run.h"
#include "tmux.h"

/* Types a line for the shell: run, the lock, and the given words. */
static void type_run(const char *command)
{
    char line[1024];

    PRINT(line, "'%s' run '%s' %s", LOCKCTL, new_path(), command);
    tmux_type(line);
    tmux_key("Enter");
}

static void type_line(const char *line)
{
    tmux_type(line);
    tmux_key("Enter");
}

/* The terminal shows what is typed, too; that must not count. */
static void wait_code(int code)
{
    char text[64];

    type_line("echo the co''de is $?.");
    PRINT(text, "the code is %d.", code);
    tmux_wait(text);
}

static int open_terminal(void)
{
    char line[256];

    tmux_open(200, 30); /* the paths are long, and must not wrap */
    /* top(1) wants a terminal that it knows. */
    PRINT(line, "clear; export ZK_SERVERS=%s TERM=screen; cd '%s'",
          server_hosts(the_server), cli_file("."));
    type_line(line);
    return 0;
}

static int close_terminal(void)
{
    tmux_close();
    return 0;
}

FIXTURE(open_terminal, close_terminal)

/* Regression: when the command stopped itself, its group kept the terminal, and
 * no key had an effect any more. */
TEST(a_command_that_stops_itself_stops_as_a_job)
{
    type_run("bash -c 'kill -STOP $$; echo go''ing on'");
    tmux_wait("Stopped");
    type_line("fg");
    tmux_wait("going on");
    wait_code(0);
}

TEST(a_job_that_is_stopped_can_be_ended)
{
    type_run("bash -c 'kill -STOP $$; echo go''ing on'");
    tmux_wait("Stopped");
    type_line("set -b; clear; kill %1");
    tmux_wait("Exit 143");
}

/* It can be stopped a second time, too. */
TEST(a_job_may_stop_again_and_again)
{
    type_run("bash -c 'kill -STOP $$; echo se''cond; kill -STOP $$; "
             "echo go''ing on'");
    tmux_wait("Stopped");
    type_line("clear; fg");
    tmux_wait("second");
    tmux_wait("Stopped");
    type_line("fg");
    tmux_wait("going on");
    wait_code(0);
}

TEST(the_key_stops_it_and_the_other_key_ends_it)
{
    /* The key is for it when it has the terminal, and runs, again. */
    type_run("bash -c 'trap \"echo ba''ck\" CONT; echo rea''lly; "
             "while :; do sleep .1; done'");
    tmux_wait("really");
    tmux_key("C-z");
    tmux_wait("Stopped");
    type_line("clear; fg");
    tmux_wait("back");
    tmux_key("C-c");
    wait_code(130);
}

/* top(1) asks for the terminal even when its output is a file. Regression: a
 * command with its output in a file did not get the terminal; top then caught
 * TTOU, to clean up the screen, and stopped itself, for ever. */
TEST(top_may_write_to_a_file)
{
    type_run("top -n 2 -d 1 >out; echo the e''nd");
    tmux_wait("the end");
    assert_lacks(tmux_screen(), "failed");
    assert_lacks(tmux_screen(), "Stopped");
}

TEST(top_may_write_to_a_pipe)
{
    type_run("top -n 2 -d 1 | head -3 >out; echo the e''nd; wc -l out");
    tmux_wait("the end");
    tmux_wait("3 out");
    assert_lacks(tmux_screen(), "failed");
    assert_lacks(tmux_screen(), "Stopped");
}

/* top(1) restores the screen first, and then stops itself with SIGSTOP. */
TEST(top_can_be_stopped_by_the_key)
{
    type_run("top -d 1");
    tmux_wait("load average");
    tmux_key("C-z");
    tmux_wait("Stopped");
    type_line("clear; fg");
    tmux_wait_gone("Stopped");
    tmux_wait("load average");
    tmux_type("q");
    tmux_wait(TMUX_PROMPT); /* it throws away what was typed before */
    wait_code(0);
}

/* The command has the terminal at first, but does not read it. */
TEST(a_pager_behind_it_gets_the_terminal)
{
    type_run("bash -c 'seq -f \"number %g\" 100; "
             "until [ -e go ]; do sleep .05; done' | less");
    tmux_wait("number 10");
    tmux_key("Space");
    tmux_wait("number 50");
    tmux_type("q");
    assert_int_equal(close(creat(cli_file("go"), 0600)), 0);
    wait_code(0);
}

/* Regression: a loop in a script went on with its next round. `input` is the
 * input of run; each round prints `word` and its number. */
static void end_script(const char *word, const char *input)
{
    char line[512];
    char text[64];

    PRINT(line,
          "bash -c 'for i in 1 2 3; do %s run %s bash -c "
          "\"echo %s=\\$0; exec sleep 1000\" $i %s; done'",
          LOCKCTL, new_path(), word, input);
    type_line(line);
    PRINT(text, "%s=1", word);
    tmux_wait(text);
    tmux_key("C-c");
    wait_code(130);
    PRINT(text, "%s=2", word);
    assert_lacks(tmux_screen(), text);
}

TEST(the_key_ends_a_script_too)
{
    end_script("one", "");
    type_line("clear");
    end_script("two", "</dev/null"); /* the terminal stays with the script */
}

TEST(the_key_ends_a_script_that_waits)
{
    const char *path = new_path();
    char line[512];

    PRINT(line,
          "clear; %s run %s bash -c 'for i in 1 2 3; do "
          "ZKLOCK_SESSIONS= %s run %s true; done; echo the e''nd'",
          LOCKCTL, path, LOCKCTL, path);
    type_line(line);
    tmux_wait("waiting: ");
    tmux_key("C-c");
    wait_code(130);
    assert_lacks(tmux_screen(), "the end");
}

/* The key goes to the command, which has the terminal; and to us in the pause
 * between two commands. */
TEST(a_key_ends_a_command_that_would_be_restarted)
{
    char line[1024];

    PRINT(line,
          "'%s' lead --restart '%s' sh -c 'echo lea''ding; exec sleep "
          "1000'",
          LOCKCTL, new_path());
    type_line(line);
    tmux_wait("leading");
    tmux_key("C-c");
    wait_code(130);
    PRINT(line, "clear; '%s' lead --restart '%s' false", LOCKCTL, new_path());
    type_line(line);
    tmux_wait("once more in 4s"); /* time for the key */
    tmux_key("C-c");
    wait_code(130);
}

int main(void)
{
    return tmux_run(test_run_all);
}

TEST(a_waiter_is_told_of_another_holder)
{
    const char *path = new_path();
    struct cli second;
    char line[512];

    START_READY(&cli, "--why", "the first", path);
    START(&second, "--why", "the second", path, COMMAND, "signals");
    wait_children(path, 2);
    PRINT(line, "'%s' run -w 1m '%s' echo do''ne", LOCKCTL, path);
    type_line(line);
    tmux_wait("\"the first\"");
    assert_int_equal(cli_end(&cli), 0);
    tmux_wait("\"the second\"");
    assert_int_equal(cli_end(&second), 0);
    tmux_wait("done");
}
