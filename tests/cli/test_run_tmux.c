/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run as a job of a shell, in a terminal, and of hold in an
 * interactive shell. */

#include "start_run.h"
#include "tmux.h"

/* Types a line for the shell: run, the lock, and the given words. */
static void type_run(const char *options, const char *command)
{
    tmux_line("'%s' run %s '%s' %s", LOCKCTL, options, new_path(), command);
}

/* The same without a shell: script(1) is its parent, in another session. */
static void type_alone(const char *by, const char *command)
{
    tmux_line("clear; script -qec \"exec %s %s run %s %s\" /dev/null", by,
              LOCKCTL, new_path(), command);
}

/* script(1) throws away what is typed when it ends. */
static void wait_code_alone(int code)
{
    tmux_wait(TMUX_PROMPT);
    tmux_wait_code(code);
}

static int open_terminal(void)
{
    (void)take_path();
    tmux_open(200, 30); /* the paths are long, and must not wrap */
    tmux_line("export L='%s' P='%s'; clear", LOCKCTL, path);
    tmux_line("clear; export ZK_SERVERS=%s TERM=screen; cd '%s'",
              server_hosts(the_server), cli_file("."));
    return 0;
}

FIXTURE(open_terminal, tmux_close)

/* Regression: when the command stopped itself, its group kept the terminal, and
 * no key had an effect any more. */
TEST(a_command_that_stops_itself_leaves_the_keys_to_the_job)
{
    type_run("", COMMAND " stop");
    pid_t tool = wait_child_of(tmux_shell(), "zk-lockctl");
    wait_process_state(wait_child_of(tool, "cli-command"), 'T');
    tmux_key("C-z");
    tmux_wait("Stopped");
    tmux_line("fg");
    tmux_wait_code(0);
}

TEST(a_job_that_is_stopped_can_be_ended)
{
    type_run("", "bash -c 'echo rea''lly; exec sleep 1000'");
    tmux_wait("really");
    tmux_key("C-z");
    tmux_wait("Stopped");
    tmux_line("set -b; clear; kill %%1");
    tmux_wait("Exit 143");
}

TEST(the_key_stops_it_and_the_other_key_ends_it)
{
    /* The key is for it when it has the terminal, and runs, again. */
    type_run("", "bash -c 'trap \"echo ba''ck\" CONT; echo rea''lly; "
                 "while :; do sleep .1; done'");
    tmux_wait("really");
    tmux_key("C-z");
    tmux_wait("Stopped");
    tmux_line("clear; fg");
    tmux_wait("back");
    tmux_key("C-c");
    tmux_wait_code(130);
}

TEST(a_pager_behind_it_gets_the_terminal)
{
    type_run("", "bash -c 'seq -f \"number %g\" 100; "
                 "until [ -e go ]; do sleep .05; done' | less");
    tmux_wait("number 10");
    tmux_key("Space");
    tmux_wait("number 50");
    tmux_type("q");
    assert_int_equal(close(creat(cli_file("go"), 0600)), 0);
    tmux_wait_code(0);
}

/* Regression: a loop in a script went on with its next round. `input` is the
 * input of run; each round prints `word` and its number. */
static void end_script(const char *word, const char *input)
{
    tmux_line("bash -c 'for i in 1 2 3; do %s run %s bash -c "
              "\"echo %s=\\$0; exec sleep 1000\" $i %s; done'",
              LOCKCTL, new_path(), word, input);
    tmux_wait(textf("%s=1", word));
    tmux_key("C-c");
    tmux_wait_code(130);
    assert_lacks(tmux_screen(), textf("%s=2", word));
}

TEST(the_key_ends_a_script_too)
{
    end_script("one", "");
    tmux_line("clear");
    end_script("two", "</dev/null"); /* the terminal stays with the script */
}

TEST(the_key_ends_a_script_that_waits)
{
    tmux_line("clear; %s run %s bash -c 'for i in 1 2 3; do "
              "ZKLOCK_SESSIONS= %s run %s true; done; echo the e''nd'",
              LOCKCTL, path, LOCKCTL, path);
    tmux_wait("waiting: ");
    tmux_key("C-c");
    tmux_wait_code(130);
    assert_lacks(tmux_screen(), "the end");
}

/* Also one that was stopped meanwhile. */
TEST(a_waiter_is_told_of_another_holder)
{
    struct cli second;

    START_READY(&cli, "--why", "the first", path);
    START(&second, "--why", "the second", path, COMMAND, "signals");
    wait_children(path, 2);
    tmux_line("'%s' run -w 1m '%s' echo do''ne", LOCKCTL, path);
    tmux_wait("\"the first\"");
    tmux_key("C-z");
    tmux_wait("Stopped");
    tmux_line("fg");
    assert_int_equal(cli_end(&cli), 0);
    struct stopwatch *w = stopwatch_start();
    tmux_wait("\"the second\"");
    assert_true(stopwatch_says(w, 0, 20000)); /* it looks before 30 s */
    assert_int_equal(cli_end(&second), 0);
    tmux_wait("done");
}

/* --- reading the terminal --- */

static void answer(void)
{
    tmux_line("Bob");
    tmux_wait("hello Bob");
    wait_code_alone(0);
}

TEST(the_command_can_read_the_terminal)
{
    type_alone("", COMMAND " ask");
    tmux_wait("who?");
    answer();
    type_run("", COMMAND " ask");
    tmux_wait("who?");
    answer();
}

TEST(in_a_pipeline_the_command_can_read_the_terminal)
{
    type_run("", COMMAND " ask | cat");
    tmux_wait("who?");
    answer();
}

TEST(a_job_in_the_background_can_be_brought_to_the_front)
{
    tmux_line("set -b");
    type_run("", COMMAND " ask &");
    tmux_wait("Stopped");
    tmux_line("fg");
    answer();
}

/* A stopped tool cannot renew its lease. */
TEST(a_job_that_was_stopped_for_too_long_is_dead)
{
    /* The child is in the group of the tool, as the command is. */
    type_run("--session-timeout 4s",
             "sh -c 'sleep 1000 & exec " COMMAND " signals'");
    tmux_wait("ready\n");
    tmux_key("C-z");
    tmux_wait("Stopped");
    sleep_ms(4500); /* the lease runs out */
    tmux_line("fg");
    tmux_wait("LOCK LOST");
    tmux_wait_code(79);
}

/* --- without a shell --- */

TEST(the_keys_for_signals_reach_the_command_once)
{
    type_alone("", COMMAND " signals");
    tmux_wait("ready\n");
    tmux_key("C-c");
    tmux_wait("INT\n");
    tmux_key("C-\\");
    tmux_wait("QUIT\n");
    tmux_key("C-d");
    wait_code_alone(0);
    assert_int_equal(text_count(tmux_screen(), "INT\n"), 1);
    assert_int_equal(text_count(tmux_screen(), "QUIT\n"), 1);
}

/* Nobody would ever continue a stopped command. */
static void press_the_key_for_stopping(const char *by)
{
    type_alone(by, COMMAND " signals");
    tmux_wait("ready\n");
    tmux_key("C-z");
    tmux_wait("CONT\n");
    tmux_key("C-d");
    wait_code_alone(0);
}

TEST(without_a_shell_the_key_for_stopping_does_nothing)
{
    press_the_key_for_stopping("");
}

/* In a container the parent is in another namespace: its number is 0, which
 * getsid() takes for the caller. Regression: the tool took that for a shell. */
TEST(in_a_container_the_key_for_stopping_does_nothing)
{
    if (system("unshare --pid --fork --mount-proc true 2>/dev/null") != 0)
        skip(); /* only root may */
    press_the_key_for_stopping(
        "unshare --pid --fork --mount-proc setsid --ctty");
}

static bool has_terminal(pid_t pid)
{
    char text[512] = "";
    int group = 0;
    FILE *f = fopen(textf("/proc/%d/stat", pid), "re");

    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    (void)fclose(f);
    (void)sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %d", &group);
    return group == pid;
}

/* Nobody would continue this one either, but the key can end it. */
TEST(without_a_shell_a_stopped_command_ends_by_the_key)
{
    type_alone("", COMMAND " stop");
    pid_t tool =
        wait_child_of(wait_child_of(tmux_shell(), "script"), "zk-lockctl");
    wait_process_state(wait_child_of(tool, "cli-command"), 'T');
    AWAIT(has_terminal(tool));
    tmux_key("C-c");
    wait_code_alone(128 + SIGINT);
}

/* --- hold: the tool is $L, and the lock $P --- */

static void hold(void)
{
    tmux_line("eval \"$($L hold $P)\"");
    tmux_wait_code(0);
    assert_int_equal(count_children(path), 1);
}

static void type_a_command(void)
{
    tmux_line("sh -c 'echo \"st\"arted; exec sleep 1000'");
    tmux_wait("started");
}

/* A key that comes before the command has the terminal is for nobody. */
static void press_beside_a_command(const char *key)
{
    type_a_command();
    tmux_key(key);
}

static void assert_held(void)
{
    tmux_line("$L hold --check");
    tmux_wait_code(0);
    assert_int_equal(count_children(path), 1);
}

/* A process in the job of the shell would end by the key, or stop. */
TEST(keys_are_not_for_hold)
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

TEST(the_key_ends_the_wait_of_hold)
{
    START_READY(&cli, path);
    tmux_line("eval \"$($L hold $P)\"");
    tmux_wait("waiting: ");
    tmux_key("C-c");
    wait_children(path, 1);
    tmux_line("$L hold --check");
    tmux_wait("no lock is held for this shell");
    assert_int_equal(cli_end(&cli), 0);
}

/* An interactive shell does not end by TERM, but its command does. A command
 * that is typed when the loss is said, before TERM, would get it as well. */
TEST(a_loss_of_hold_is_said)
{
    hold();
    type_a_command();
    delete_nth_child(path, 0);
    tmux_wait("LOCK LOST: somebody has deleted its node, /");
    tmux_wait("Terminated");
    tmux_line("$L release 2>/dev/null");
    tmux_wait_code(79);
}
