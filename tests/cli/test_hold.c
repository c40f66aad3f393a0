/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl hold and release, in scripts of real shells. */

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

static int run(const char *script)
{
    start(script);
    return cli_end(&cli);
}

#define assert_run(code, text, script)                                         \
    (start(script), assert_end(&cli, code, text))

#define HOLD "eval \"$($H $P)\"; "
/* HOLD with what preloads.c is told. */
#define HOLD_FORKING(c)                                                        \
    "rm -f \"$F\"; eval \"$(ASAN_OPTIONS=$ASAN_OPTIONS:"                       \
    "verify_asan_link_order=0 LD_PRELOAD=" PRELOADS " " c " $H $P)\"; "
/* The process that keeps the lock is $pid. */
#define KEEPER_OF(lock)                                                        \
    "pid=$($L show --columns OWNER " lock                                      \
    " | sed -n '$s/.*:\\([0-9]*\\) .*/\\1/p'); "
#define KEEPER     KEEPER_OF("$Q")
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

/* Also one that the shell has forked for "$(...)", or for parentheses. */
TEST(it_belongs_to_the_shell_that_evaluates_it)
{
    start("eval \"$(true; $H $P; true)\"; $L hold --check; echo check $?; "
          "read -r line");
    cli_wait_said(&cli, "check 0\n");
    assert_int_equal(count_children(path), 1);
    (void)cli_end(&cli);
    wait_children(path, 0);
    start("(" HOLD "$L hold --check; echo check $?); echo out; read -r line");
    cli_wait_said(&cli, "out\n");
    assert_has(cli_said(&cli), "check 0\n");
    wait_children(path, 0);
    (void)cli_end(&cli);
    start("$H $P >\"$F\"; . \"$F\"; "
          "$L hold --check; echo check $?; read -r line");
    cli_wait_said(&cli, "check 0\n");
    assert_int_equal(count_children(path), 1);
    (void)cli_end(&cli);
    wait_children(path, 0);
}

/* A shell that starts a pipeline has its pipes until all commands are
 * started. */
TEST(a_shell_that_does_not_read_holds_nothing)
{
    hold_it();
    start("rm -f $F; mkfifo $F; exec 8<>$F; $H $P >$F 8>&- & pid=$!; "
          "exec 7<$F; cat <&7 & read -r line; exec 7<&- 8<&-; echo closed; "
          "wait $pid; echo code $?; read -r line");
    cli_wait_said(&cli, "waiting: ");
    assert_int_equal(write(cli.in, "\n", 1), 1);
    cli_wait_said(&cli, "closed\n");
    assert_int_equal(cli_end(&holder), 0);
    cli_wait_said(&cli, "code 64\n");
    assert_has(cli_said(&cli), "no shell above this process reads its output");
    wait_children(path, 0);
    (void)cli_end(&cli);
    assert_has(cli_said(&cli), "(exit 64);\n");
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
    assert_int_equal(run("code=$($H -n $P) || exit 7"), 7);
    assert_int_equal(run("$H -x --slots 2 $P"), 64);
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
    start("eval \"$($H -w 2m $P)\"; exit");
    wait_children(path, 2);
    assert_int_equal(cli_kill(&cli, SIGKILL), 128 + SIGKILL);
    wait_children(path, 1);
    assert_int_equal(cli_end(&holder), 0);
}

/* Regression: the lock was given back, although the shell had all of the code
 * and went on. */
TEST(a_lock_that_was_printed_is_kept)
{
    start("eval \"$(PRELOAD=killed-front KILL_FRONT=1 "
          "ASAN_OPTIONS=$ASAN_OPTIONS:"
          "verify_asan_link_order=0 LD_PRELOAD=" PRELOADS " $H $P)\"; "
          "$L hold --check; echo check $?; read -r line; "
          "$L release; echo release $?");
    cli_wait_said(&cli, "check ");
    assert_int_equal(count_children(path), 1);
    assert_end(&cli, 0, "check 0\n", "release 0\n");
    assert_int_equal(count_children(path), 0);
    start("$H $P >/dev/full; echo $?; read -r line");
    cli_wait_said(&cli, "cannot write the output");
    wait_children(path, 0);
    (void)cli_end(&cli);
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

TEST(it_waits_for_its_turn)
{
    hold_it();
    start(HOLD "echo held; read -r line");
    cli_wait_said(&cli, "waiting: /");
    assert_lacks(cli_said(&cli), "held\n");
    assert_int_equal(cli_end(&holder), 0);
    cli_wait_said(&cli, "held\n");
    assert_int_equal(cli_end(&cli), 1); /* of read */
    wait_children(path, 0);
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

TEST(processes_of_the_shell_get_a_TERM_too)
{
    start(HOLD "setsid sleep 1000 & kill -STOP $!; echo pid $!; wait");
    cli_wait_said(&cli, "\n");
    pid_t child = cli_said_pid(&cli, "pid ");
    assert_int_not_equal(process_state(child), 0);
    delete_nth_child(path, 0);
    assert_int_equal(cli_end(&cli), 128 + SIGTERM);
    wait_process_gone(child);
}

/* Regression: it was forked between the look at all processes and the signal,
 * and worked on without the lock. */
TEST(a_process_of_the_last_moment_gets_a_TERM_too)
{
    start_held(
        "trap 'sleep 1000 & echo \"child $! .\"; rm \"$F\"' "
        "USR1; " HOLD_FORKING(
            "LATE=$F SHELL_PID=$$") ">\"$F\"; echo held; "
                                    "while :; do sleep 1000 & wait $!; done");
    delete_nth_child(path, 0);
    cli_wait_said(&cli, " .\n");
    assert_int_equal(cli_end(&cli), 128 + SIGTERM);
    wait_process_gone(cli_said_pid(&cli, "child "));
}

TEST(a_trap_may_clean_up)
{
    start_held(
        "trap '$L hold --check; echo check $?; $L release; echo release $?; "
        "exit 5' TERM; " HOLD "echo held; while :; do sleep 0.1; done");
    delete_nth_child(path, 0);
    assert_end(&cli, 5, "check 79\n", "release 79\n");
}

/* Regression: what a trap had started got TERM while all was looked at
 * again. */
TEST(what_a_trap_starts_gets_no_TERM)
{
    start_held(
        "trap '(>\"$F\"; $L hold --check; echo check $?; sleep 0.5; exit 0); "
        "echo cleaned up $?; exit 5' TERM; " HOLD_FORKING(
            "TRAPPED=$F") "echo held; while :; do sleep 0.1; done");
    delete_nth_child(path, 0);
    assert_end(&cli, 5, "check 79\n", "cleaned up 0\n");
}

TEST(a_shell_that_does_not_end_may_be_killed)
{
    start_held("trap '' TERM; " HOLD_OR(
        "--on-loss=kill") "echo held; "
                          "while :; do sleep 0.1; done");
    delete_nth_child(path, 0);
    assert_end(&cli, 128 + SIGKILL, "; KILL to ");
}

/* Regression: when the shell had ended by TERM, children that ignored TERM
 * worked on. */
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

TEST(a_script_may_look_for_itself)
{
    start_held(HOLD_OR(
        "--on-loss=nothing") "echo held; "
                             "while $L hold --check; do sleep 0.1; done; "
                             "$L release; echo release $?");
    delete_nth_child(path, 0);
    assert_end(&cli, 0, "release 79\n", "LOCK LOST: ");
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

TEST(it_may_be_asked_for)
{
    start_held("trap '$L release; echo release $?; exit 5' TERM; " HOLD_OR(
        "--on-revoke=term") "echo held; while :; do sleep 0.1; done");
    (void)look(textf("revoke -w 0s %s", path));
    assert_end(&cli, 5, "somebody asks for the lock; TERM to ",
               "Z: somebody asks for the lock; TERM to ", "release 80\n");
    start_held(HOLD "echo held; read -r line; $L release");
    (void)look(textf("revoke -w 0s %s", path));
    cli_wait_said(&cli, "somebody asks for the lock; ignored\n");
    assert_int_equal(cli_end(&cli), 0);
}

/* --- several --- */

TEST(locks_are_released_by_name)
{
    start(HOLD "eval \"$($H $Q)\"; echo \"$ZKLOCK_PATH\"; read -r line; "
               "$L release; $L release $P; $L hold --check $Q; echo check $?; "
               "read -r line; $L release $Q; echo release $?");
    cli_wait_said(&cli, "-other\n");
    assert_int_equal(count_children(path) + count_children(other), 2);
    assert_int_equal(write(cli.in, "\n", 1), 1);
    cli_wait_said(&cli, "check 0\n");
    assert_int_equal(count_children(path), 0);
    assert_int_equal(count_children(other), 1);
    assert_end(&cli, 0, "several locks: name the one", "release 0\n");
    assert_int_equal(count_children(other), 0);
    start("eval \"$($H $P --and $Q)\"; echo \"$ZKLOCK_PATH\"; read -r line; "
          "$L release $P");
    cli_wait_said(&cli, "-other\n");
    assert_int_equal(count_children(path) + count_children(other), 2);
    assert_int_equal(cli_end(&cli), 0);
    assert_int_equal(count_children(path) + count_children(other), 0);
}

/* Regression: the older one answered for the newer one, whose process was
 * dead. */
TEST(one_lock_does_not_answer_for_another)
{
    ok(run(HOLD "eval \"$($H $Q)\"; $L release $Q; "
                "$L hold --check $P && $L release $P"));
    ok(run(HOLD "eval \"$($H --session-timeout=6s "
                "--on-loss=nothing $Q)\"; " KEEPER "kill -KILL $pid; "
                "while kill -0 $pid; do sleep 0.1; done; "
                "for v in release 'hold --check'; do "
                "$L $v; echo any $?; $L $v $Q; echo that $?; done; "
                "$L release $P"));
    assert_has(cli_said(&cli), "any 64\n");
    assert_has(cli_said(&cli), "that 79\n");
    assert_lacks(cli_said(&cli), "0\n");
}

/* Until the end of the lease it is held. Regression: a stopped process was
 * waited for without end. */
TEST(a_stopped_process_does_not_answer)
{
    ok(run("eval \"$($L hold --session-timeout=6s --on-loss=nothing "
           "$Q)\"; " KEEPER "kill -STOP $pid; "
           "while $L hold --check; do sleep 0.1; done; "
           "$L hold --check; echo check $?; kill -CONT $pid; "
           "$L release; echo release $?"));
    assert_has(cli_said(&cli), "does not answer");
    assert_has(cli_said(&cli), "check 79\n");
    assert_has(cli_said(&cli), "release 79\n");
}

TEST(inside_of_itself_it_is_refused)
{
    assert_run(64, "you hold /", HOLD "$L run $P true");
    assert_int_equal(run(HOLD "$L run -n $P true"), 75);
    assert_run(64, "you hold /", HOLD "eval \"$($H $P)\"");
    assert_run(64, "you hold /", "$L run $P sh -c 'eval \"$($H $P)\"'");
    assert_int_equal(run(HOLD "$L run $Q sh -c '$L release $P'"), 0);
    wait_children(path, 0);
    assert_int_equal(run("$L run $P sh -c 'eval \"$($H $Q)\"; exit 3'"), 3);
    assert_int_equal(count_children(path) + count_children(other), 0);
}

/* --- what others see, and what it keeps open --- */

/* Starts it, and expects `text` where others look. */
static void assert_shown(const char *program, const char *const *args,
                         const char *text)
{
    cli_start(&cli, program, args);
    cli_wait_said(&cli, "held\n");
    LOOK_OUT(0, text, "show -o wide %s", path);
    (void)cli_end(&cli);
}

TEST(others_are_shown_the_script)
{
    const char *file = cli_file("release.sh");
    const char *const args[] = { file, "production", NULL };

    cli_write(file,
              "#!/bin/bash\n"
              "eval \"$($H $P)\"\n"
              "echo held; read -r line\n",
              0700);
    assert_shown("/bin/bash", args, "/release.sh production (");
    /* by its first line */
    assert_shown(file, args + 1, "/release.sh production (");
    start_held(HOLD_OR("--why 'night-shift'") "echo held; read -r line");
    LOOK_OUT(0, "night-shift", "show -o wide %s", path);
    (void)cli_end(&cli);
}

/* The text, with the process id of the shell in the middle. */
static void assert_looked(const char *before, const char *after)
{
    const char *text = textf("%s (%d)%s", before, (int)cli.pid, after);

    if (strstr(look_out, text) == NULL && strstr(look_err, text) == NULL)
        fail_msg("no '%s' in: %s%s", text, look_out, look_err);
}

/* Regression: with --why nothing led to the shell, and revoke advised to stop
 * the process that kept the lock: then the shell went on without it. */
TEST(others_find_the_way_to_the_shell)
{
    start_held("eval \"$($H --why nightly $Q)\"; echo held; read -r line");
    LOOK(0, "show -o wide %s", other);
    assert_looked(" zk-lockctl hold nightly", " ");
    LOOK(75, "revoke -w 0s %s", other);
    assert_has(look_err, "zk-lockctl hold, connected from ");
    assert_has(look_err, ", has not given it back; stop ");
    assert_looked("; stop the shell that it holds the lock for, nightly",
                  ", or: zk-lockctl break ");
    (void)cli_end(&cli);
    start("eval \"$($L hold --session-timeout=40s --on-loss=nothing "
          "--why nightly $Q)\"; " KEEPER "kill -KILL $pid; echo killed; "
          "read -r line");
    cli_wait_said(&cli, "killed\n");
    while (look(textf("doctor --older 0 %s", other)) == 0)
        continue;
    assert_looked("see that the shell that it holds the lock for, nightly",
                  " is dead, then: zk-lockctl break ");
    (void)cli_end(&cli);
}

/* A reader of these would wait for the end of the shell. */
TEST(no_pipe_of_the_script_stays_open)
{
    assert_run(
        0, "/dev/null\n/dev/null\n/dev/null\n/",
        "exec 3>&1 4>&2; { exec 8>&1; " HOLD KEEPER_OF(
            "$P") "for fd in 0 1 2 8; do readlink /proc/$pid/fd/$fd >&3; done; "
                  "readlink /proc/$pid/cwd >&3; } 2>&1 | cat; exit 0");
    /* Regression: its sockets took the places of closed ones, which it then let
     * go. */
    assert_int_equal(run("eval \"$($H $P <&- 2>&-)\"; $L release"), 0);
}

/* Anybody may see the number of its process. The other user may search
 * directories, as the tree may lie in one that is closed to others. */
TEST(it_does_not_answer_to_other_users)
{
    if (geteuid() != 0)
        skip();
    ok(run(HOLD "setpriv --reuid=65534 --clear-groups "
                "--inh-caps=+dac_read_search "
                "--ambient-caps=+dac_read_search "
                "\"$L\" release; echo other $?; "
                "$L hold --check"));
    assert_has(cli_said(&cli), "the lock is not held any more: ");
    assert_has(cli_said(&cli), "other 79\n");
}

TEST(its_process_minds_no_signal)
{
    ok(run(HOLD KEEPER_OF(
        "$P") "for s in INT TERM HUP QUIT TSTP USR1; do kill -$s $pid; "
              "done; $L hold --check && $L release"));
}

#define HOLD_OTHER(options)                                                    \
    "eval \"$($L hold --session-timeout=40s " options " $Q)\"; " KEEPER

static void kill_the_keeper(const char *script, int code, const char *said)
{
    assert_run(code, "LOCK LOST: the process that kept it was killed", script);
    assert_has(cli_said(&cli), said);
    assert_lacks(cli_said(&cli), "went on");
    delete_nth_child(other, 0); /* the session has not timed out */
}

/* Regression: the shell went on without the lock, and was told nothing. */
TEST(the_shell_is_told_that_its_process_was_killed)
{
    pid_t child;

    kill_the_keeper(HOLD_OTHER("") "sleep 1000 & echo \"child $! .\"; "
                                   "kill -KILL $pid; wait; echo went on",
                    128 + SIGTERM, " killed; TERM to ");
    child = cli_said_pid(&cli, "child ");
    wait_process_gone(child);
    kill_the_keeper("trap '' TERM; " HOLD_OTHER(
                        "--on-loss=kill") "kill -KILL $pid; "
                                          "while :; do sleep 0.1; done",
                    128 + SIGKILL, " killed; KILL to ");
    start(HOLD_OTHER("--on-loss=nothing") "kill -KILL $pid; read -r line; "
                                          "$L hold --check");
    cli_wait_said(&cli, "LOCK LOST: the process that kept it was killed\n");
    assert_end(&cli, 79, "is not held any more");
    delete_nth_child(other, 0);
    /* nothing of it is left behind */
    start("eval \"$($H $Q)\"; " KEEPER "echo \"keeper $pid .\"; read -r line; "
          "$L release; echo release; read -r line");
    cli_wait_said(&cli, " .\n");
    child = wait_child_of(cli_said_pid(&cli, "keeper "), "zk-lockctl guar");
    assert_int_equal(write(cli.in, "\n", 1), 1);
    cli_wait_said(&cli, "release\n");
    wait_process_gone(child);
    (void)cli_end(&cli);
    assert_lacks(cli_said(&cli), "LOST");
}

/* Regression: the lease ran out, and nobody said so. */
TEST(the_shell_is_told_that_its_process_is_stopped)
{
    static const struct {
        const char *option;
        const char *then;
        int code;
    } rows[] = {
        { "", "sleep 1000", 128 + SIGTERM },
        { "--on-loss=nothing", "read -r line", 0 },
    };
    char script[500];
    pid_t keeper;

    for (int i = 0; i < 2; i++) {
        PRINT(script,
              "eval \"$($L hold --session-timeout=6s %s $Q)\"; " KEEPER
              "echo \"keeper $pid .\"; kill -STOP $pid; %s; exit 0",
              rows[i].option, rows[i].then);
        start(script);
        cli_wait_said(&cli, "LOCK LOST: the process that kept it did not run "
                            "until the lease was over");
        keeper = cli_said_pid(&cli, "keeper ");
        assert_int_equal(cli_end(&cli), rows[i].code);
        assert_int_equal(kill(keeper, SIGCONT), 0);
        wait_process_gone(keeper);
        assert_int_equal(count_children(other), 0);
    }
}

/* The lease goes on with it, and the guard knows. */
TEST(a_process_that_runs_again_in_time_goes_on)
{
    /* at first the lease is a short one, until it is proven */
    start("eval \"$($L hold --session-timeout=8s $Q)\"; " KEEPER
          "sleep 2; kill -STOP $pid; sleep 1; kill -CONT $pid; sleep 8; "
          "$L hold --check; echo check $?; $L release; echo release $?");
    cli_wait_said(&cli, "release 0\n");
    (void)cli_end(&cli);
    assert_has(cli_said(&cli), "check 0\n");
    assert_lacks(cli_said(&cli), "LOST");
}
