/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl hold and release, in scripts of real shells, and while
 * servers are silent. For the rest see codes.table. */

#include "look.h"

static const struct shell {
    const char *name;
} shells[] = { { "/bin/bash" }, { "/bin/dash" }, { "/bin/zsh" } };

static struct cli cli;
static const char *path;
static char other[128];
static char broken[128];

/* A script finds the tool in $L, hold with the options of all tests in $H, two
 * locks in $P and $Q, and the name of a file in $F. */
static int setup(void)
{
    path = new_path();
    PRINT(other, "%s-other", path);
    assert_int_equal(setenv("L", LOCKCTL, 1), 0);
    ok(setenv("H", LOCKCTL " hold --session-timeout=20s --kill-grace=600ms",
              1));
    assert_int_equal(setenv("ZK_SERVERS", server_hosts(the_server), 1), 0);
    assert_int_equal(setenv("F", cli_file("code"), 1), 0);
    assert_int_equal(setenv("P", path, 1), 0);
    assert_int_equal(setenv("Q", other, 1), 0);
    return 0;
}

FIXTURE(setup, NULL)

static void start_in(const struct shell *shell, const char *script)
{
    /* zsh does not split $H */
    const char *option = strstr(shell->name, "zsh") != NULL ? "-yc" : "-c";

    if (access(shell->name, X_OK) != 0)
        skip();
    cli_start(&cli, shell->name,
              (const char *const[]){ option, script, "the-script", NULL });
}

static void start(const char *script)
{
    start_in(&shells[0], script);
}

/* The same of a script that says that it holds. */
static void start_held(const char *script)
{
    start(script);
    cli_wait_said(&cli, "held\n");
}

#define HOLD       "eval \"$($H $P)\"; "
#define HOLD_OR(c) "eval \"$($H " c " $P)\" || exit; "
/* For the end of its lease, with time for a busy machine before it. */
#define HOLD_BRIEFLY HOLD_OR("--session-timeout=6s --kill-grace=1s")

/* --- holding, and its end --- */

static struct cli holder;

static void hold_it(void)
{
    START_CLI(&holder, "run", path, COMMAND, "signals");
    cli_wait_said(&holder, "ready\n");
}

TEST_ROWS(a_script_holds_and_releases, shells, shell)
{
    start_in(shell, HOLD "echo $? $ZKLOCK_PATH $ZKLOCK_KIND; read -r line; "
                         "$L hold --check; echo check $?; "
                         "$L hold --check \"$P\"; echo check $?; "
                         "$L release; echo release $?; read -r line");
    cli_wait_said(&cli, "mutex\n");
    assert_int_equal(count_children(path), 1);
    assert_int_equal(write(cli.in, "\n", 1), 1);
    cli_wait_said(&cli, "release ");
    assert_int_equal(count_children(path), 0);
    (void)cli_end(&cli);
    assert_has(cli_said(&cli), "0 /");
    assert_has(cli_said(&cli), "check 0\ncheck 0\nrelease 0\n");
}

TEST_ROWS(the_lock_does_not_outlive_the_shell, shells, shell)
{
    for (int killed = 0; killed < 2; killed++) {
        start_in(shell, HOLD "echo held; read -r line; exit 3");
        cli_wait_said(&cli, "held\n");
        assert_int_equal(count_children(path), 1);
        if (killed)
            assert_int_equal(cli_kill(&cli, SIGKILL), 128 + SIGKILL);
        else
            assert_int_equal(cli_end(&cli), 3);
        wait_children(path, 0);
    }
}

/* --- not acquired --- */

TEST_ROWS(a_lock_that_is_taken_is_not_held, shells, shell)
{
    hold_it();
    start_in(shell, "set -e; eval \"$($H -n $P)\"; echo started");
    assert_end(&cli, 75, "not acquired: /");
    assert_lacks(cli_said(&cli), "started");
    start_in(shell, HOLD_OR("-w 100ms -E 9") "echo started");
    assert_int_equal(cli_end(&cli), 9);
    assert_lacks(cli_said(&cli), "started");
    assert_int_equal(cli_end(&holder), 0);
}

/* The shell must not go on without the lock, although nothing was printed. */
TEST_ROWS(the_end_of_the_wait_is_the_end_of_the_claim, shells, shell)
{
    hold_it();
    start_in(shell, "set -e; eval \"$($H -w 2m $P)\"; echo started");
    wait_children(path, 2);
    assert_int_equal(kill(wait_child_of(cli.pid, "zk-lockctl"), SIGKILL), 0);
    assert_int_not_equal(cli_end(&cli), 0);
    assert_lacks(cli_said(&cli), "started");
    wait_children(path, 1);
    start("trap '' HUP; eval \"$($H -w 2m $P)\"; exit");
    wait_children(path, 2);
    assert_int_equal(cli_kill(&cli, SIGKILL), 128 + SIGKILL);
    wait_children(path, 1);
    assert_int_equal(cli_end(&holder), 0);
}

/* All by which hold does not come to hold. $N is a directory with a library
 * that cannot be loaded; $K loads preloads.c. */
static const struct {
    const char *hold;
    int code;
} failures[] = {
    { "no-such-program hold $P", 127 },
    { "LD_LIBRARY_PATH=$N $L hold $P", 127 },
    { "$L --bogus hold $P", 64 },
    { "$L --timeout 0 hold $P", 64 },
    { "$L hold --bogus $P", 64 },
    { "$L hold -w $P", 64 },
    { "$L hodl $P", 64 },
    { "$H -n $P", 75 },
    { "$H -n -E 9 $P", 9 },
    { "env $K KILL_AFTER=0 $H $Q", 128 + SIGKILL },
    { "env $K KILL_AFTER=1 $H $Q", 128 + SIGKILL },
    { "env $K $H $Q", 128 + SIGKILL },
};

static void does_not_go_on(const struct shell *shell, const char *set, size_t i)
{
    const char *script = textf("%seval \"$(%s || echo exit $?)\"; echo went on",
                               set, failures[i].hold);
    start_in(shell, script);
    int code = cli_end(&cli);
    if (code != failures[i].code || strstr(cli_said(&cli), "went on") != NULL)
        fail_msg("%s: exit status %d: %s", script, code, cli_said(&cli));
    while (count_children(other) > 0) /* the session has not timed out */
        delete_nth_child(other, 0);
}

/* Regression: a script went on without the lock where the tool was not in the
 * PATH of cron, could not start, or was killed when it had printed the first
 * word. The idiom of the manual ends it. */
TEST_ROWS(no_script_goes_on_without_the_lock, shells, shell)
{
    const char *file = cli_file("libjansson.so.4");

    assert_int_equal(close(open(file, O_CREAT | O_WRONLY, 0600)), 0);
    *strrchr(strcpy(broken, file), '/') = '\0';
    assert_int_equal(setenv("N", broken, 1), 0);
    ok(setenv("K",
              "ASAN_OPTIONS=verify_asan_link_order=0 "
              "PRELOAD=killed-front LD_PRELOAD=" PRELOADS,
              1));
    hold_it();
    for (size_t i = 0; i < COUNT(failures); i++) {
        does_not_go_on(shell, "", i);
        does_not_go_on(shell, "set -e; ", i);
    }
    assert_int_equal(cli_end(&holder), 0);
    wait_children(other, 0);
}

/* --- a loss --- */

TEST_ROWS(the_shell_gets_a_TERM, shells, shell)
{
    start_in(shell, HOLD "echo held; sleep 1000; echo went on");
    cli_wait_said(&cli, "held\n");
    delete_nth_child(path, 0);
    assert_end(&cli, 128 + SIGTERM,
               "LOCK LOST: somebody has deleted its node, /", "; TERM to ");
    assert_lacks(cli_said(&cli), "went on");
}

/* Regression: it was forked between the look at all processes and the signal,
 * and worked on without the lock. */
TEST(a_process_of_the_last_moment_gets_a_TERM_too)
{
    start_held("trap 'sleep 1000 & echo \"child $! .\"; rm \"$F\"' "
               "USR1; rm -f \"$F\"; eval \"$(ASAN_OPTIONS=$ASAN_OPTIONS:"
               "verify_asan_link_order=0 LD_PRELOAD=" PRELOADS " LATE=$F "
               "SHELL_PID=$$ $H $P)\"; >\"$F\"; echo held; "
               "while :; do sleep 1000 & wait $!; done");
    delete_nth_child(path, 0);
    cli_wait_said(&cli, " .\n");
    assert_int_equal(cli_end(&cli), 128 + SIGTERM);
    wait_process_gone(cli_said_pid(&cli, "child "));
}

/* Regression: children that ignored TERM outlived the shell that it ended. */
TEST(children_of_an_ended_shell_are_killed)
{
    start("sh -c 'trap \"\" TERM; echo deaf $$; for i in $(seq 300); do sleep "
          "0.1; done' & "
          "sleep 0.1; " HOLD_OR("--session-timeout=6s --kill-grace=1s "
                                "--on-loss=kill") "echo held; wait");
    cli_wait_said(&cli, "deaf ");
    pid_t child = cli_said_pid(&cli, "deaf ");
    cli_wait_said(&cli, "held\n");
    server_pause(the_server);
    cli_wait_said(&cli, "LOCK LOST: no answer from the servers");
    assert_int_equal(cli_end(&cli), 128 + SIGTERM);
    server_resume(the_server);
    wait_children(path, 0);
    assert_true(process_state(child) == 0 || process_state(child) == 'Z');
}

/* The shell is told while the lease still runs. */
TEST(silent_servers_are_a_loss)
{
    start_held(HOLD_BRIEFLY "echo held; sleep 1000");
    server_pause(the_server);
    assert_int_equal(cli_end(&cli), 128 + SIGTERM);
    server_resume(the_server);
    assert_has(cli_said(&cli),
               "LOCK LOST: no answer from the servers, and the lease ends in ");
    wait_children(path, 0);
    start_held(HOLD "echo held; read -r x; $L release; echo release $?");
    server_pause(the_server);
    assert_int_equal(write(cli.in, "\n", 1), 1);
    cli_wait_said(&cli, "release 75\n");
    server_resume(the_server);
    assert_end(&cli, 0, "do not say that the lock is given back");
    /* who gets no signal needs no time before the end */
    start_held(HOLD_OR("--session-timeout=6s --on-loss=nothing") "echo held; "
                                                                 "read -r x");
    server_pause(the_server);
    cli_wait_said(&cli, "LOCK LOST: ");
    server_resume(the_server);
    assert_lacks(cli_said(&cli), "the lease ends in");
    (void)cli_end(&cli);
}

/* Regression: release said "zk-lockctl: ", and nothing behind it. */
TEST(a_refused_release_is_said)
{
    start_held(HOLD "echo held; read -r x; $L release; echo release $?");
    look_permit(path, ZOO_PERM_READ);
    assert_int_equal(write(cli.in, "\n", 1), 1);
    cli_wait_said(&cli, "release 75\n");
    assert_end(&cli, 0, "Z: mutex '/", "ZNOAUTH: not permitted");
}

/* Regression: much later release said that the servers "do not answer". */
TEST(a_loss_is_told_later_as_past)
{
    start_held("trap '' TERM; " HOLD_BRIEFLY
               "echo held; while $L hold --check; do sleep 0.1; done; "
               "$L release; echo release $?");
    server_pause(the_server);
    cli_wait_said(&cli,
                  "LOCK LOST: no answer from the servers, and the lease ");
    server_resume(the_server);
    assert_end(&cli, 0, "zk-lockctl: at 20",
               "Z: LOCK LOST: no answer from the servers, and the lease ends ",
               "release 79\n");
    wait_children(path, 0);
}
