/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of zk-lockctl run, the program, against a real server. */

#include <sys/ptrace.h>

#include "start_run.h"

/* The next one for the lock that `cli` has. */
static struct cli next;

FIXTURE(take_path, NULL)

TEST(signals_are_passed_on)
{
    static const struct {
        int sig;
        const char *name;
    } signals[] = { /* first, as one that ends a program has a CONT behind it */
                    { SIGCONT, "CONT\n" }, { SIGWINCH, "WINCH\n" },
                    { SIGINT, "INT\n" },   { SIGTERM, "TERM\n" },
                    { SIGHUP, "HUP\n" },   { SIGQUIT, "QUIT\n" },
                    { SIGUSR1, "USR1\n" }, { SIGUSR2, "USR2\n" }
    };

    START_READY(&cli, new_path());
    for (size_t i = 0; i < COUNT(signals); i++) {
        assert_int_equal(kill(cli.pid, signals[i].sig), 0);
        cli_wait_said(&cli, signals[i].name);
    }
    assert_int_equal(cli_end(&cli), 0);
}

TEST(tstp_and_cont_stop_and_continue_the_command)
{
    START_READY(&cli, new_path());
    pid_t command = wait_child_of(cli.pid, "cli-command");
    assert_int_equal(kill(cli.pid, SIGTSTP), 0);
    wait_process_state(command, 'T');
    assert_int_not_equal(process_state(cli.pid), 'T'); /* it has a lease */
    assert_int_equal(kill(cli.pid, SIGCONT), 0);
    cli_wait_said(&cli, "CONT\n");
    wait_process_state(command, 'S');
    assert_int_equal(cli_end(&cli), 0);
}

/* --- what is so of each kind of lock --- */

static const struct {
    const char *name, *verb, *option;
    const char *holders; /* below the path, */
    const char *queue;   /* likewise; NULL: the same */
} kinds[] = {
    { "a mutex", "run", "--why=it", "", NULL },
    { "to write", "run", "-x", "", NULL },
    { "a semaphore", "run", "--slots=1", "/leases", "/locks" },
    { "an election", "lead", "--why=it", "", NULL },
};

#define START_KIND(c, kind, ...)                                               \
    cli_start(c, LOCKCTL,                                                      \
              (const char *const[]){                                           \
                  (kind)->verb, "--servers", server_hosts(the_server),         \
                  "--session-timeout", "20s", "--kill-grace", "600ms",         \
                  (kind)->option, __VA_ARGS__, NULL })

static void start_kind(const __typeof__(kinds[0]) *kind, const char *what)
{
    START_KIND(&cli, kind, path, COMMAND, what);
    cli_wait_said(&cli, "\n");
}

/* One holds, and nobody waits. */
static void wait_one_node(const __typeof__(kinds[0]) *kind)
{
    wait_children(textf("%s%s", path, kind->holders), 1);
    if (kind->queue != NULL)
        wait_children(textf("%s%s", path, kind->queue), 0);
}

TEST_ROWS(one_that_does_not_wait_exits_with_75, kinds, kind)
{
    START_KIND(&cli, kind, "-n", path, "true");
    assert_int_equal(cli_end(&cli), 0);
    START_KIND(&cli, kind, "-w", "1h", path, "true");
    assert_int_equal(cli_end(&cli), 0);
    start_kind(kind, "signals");
    START_KIND(&next, kind, "-n", path, "echo", "started");
    assert_end(&next, 75, "not acquired: ", textf("%s is ", path));
    assert_lacks(cli_said(&next), "started");
    wait_one_node(kind);
    START_KIND(&next, kind, "-w", "200ms", "-E", "9", path, "echo", "started");
    assert_int_equal(cli_end(&next), 9);
    assert_lacks(cli_said(&next), "started");
    wait_one_node(kind);
    assert_int_equal(cli_end(&cli), 0);
}

TEST_ROWS(the_next_one_waits_for_its_turn, kinds, kind)
{
    start_kind(kind, "signals");
    START_KIND(&next, kind, path, "echo", "started");
    cli_wait_said(&next, "waiting: ");
    assert_lacks(cli_said(&next), "started");
    assert_int_equal(cli_end(&cli), 0);
    assert_end(&next, 0, "started\n");
    wait_children(textf("%s%s", path, kind->holders), 0);
}

TEST_ROWS(a_signal_ends_the_waiting, kinds, kind)
{
    static const int signals[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
    int sig = signals[kind - kinds];

    start_kind(kind, "signals");
    START_KIND(&next, kind, path, "true");
    cli_wait_said(&next, "waiting: ");
    assert_int_equal(cli_kill(&next, sig), 128 + sig);
    wait_one_node(kind);
    assert_int_equal(cli_end(&cli), 0);
}

TEST_ROWS(a_node_deleted_by_hand_ends_the_command, kinds, kind)
{
    start_kind(kind, "deaf");
    pid_t command = wait_child_of(cli.pid, "cli-command");
    delete_nth_child(textf("%s%s", path, kind->holders), 0);
    wait_process_state(cli.pid, 'Z');
    assert_end(&cli, 79, "LOCK LOST: somebody has deleted its node");
    assert_int_equal(process_state(command), 0);
    wait_children(textf("%s%s", path, kind->holders), 0);
}

/* Longer than the second of the two needs to start on a busy machine. */
#define LEASE    "4s"
#define LEASE_MS 4000
/* What they stamp. */
#define FIRST  cli_file("stamps-1")
#define SECOND cli_file("stamps-2")

/* Start a holder that stamps, and another that waits for its lock. */
static void start_rivals(const char *hosts)
{
    (void)take_path(); /* another one each time */
    (void)unlink(FIRST);
    (void)unlink(SECOND);
    START_FOR(&cli, LEASE, hosts, path, COMMAND, "stamp", FIRST, "0");
    if (!COMES(access(FIRST, F_OK) == 0, SOON_MS))
        fail_msg("it does not start: %s", cli_said(&cli));
    START(&next, path, COMMAND, "stamp", SECOND, "1");
    wait_children(path, 2);
}

/* The first line of a file of stamps by "head", the last one by "tail". */
static long long stamp(const char *by, const char *file)
{
    FILE *f = popen(textf("%s -n 1 '%s'", by, file), "r");
    long long ns;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lld", &ns), 1);
    assert_int_equal(pclose(f), 0);
    return ns;
}

static void assert_no_overlap(void)
{
    long long end = stamp("tail", FIRST);
    long long begin = stamp("head", SECOND);

    if (end >= begin)
        fail_msg("two commands at once, for %lld ns", end - begin);
    print_message("dead %lld ms before the successor\n",
                  (begin - end) / 1000000);
}

/* The command of consul lives on long after the next client has the lock. */
TEST(in_a_partition_the_command_is_dead_before_the_next)
{
    unsigned seed = (unsigned)now_ms();
    AUTO(proxy) proxy = new_proxy();

    print_message("seed %u\n", seed);
    srand(seed);
    for (int i = 0; i < 6; i++) {
        start_rivals(proxy_hosts(proxy));
        sleep_ms(rand() % LEASE_MS); /* any moment of the lease */
        proxy_freeze(proxy);
        assert_int_equal(cli_end(&next), 0);
        assert_no_overlap();
        /* The servers cannot have told it yet that its session is over. */
        cli_wait_said(&cli, "LOCK LOST: the lease ran out");
        proxy_heal(proxy);
        assert_int_equal(cli_end(&cli), 79);
    }
}

/* A stopped tool cannot end the command: its guard must. */
TEST(a_stopped_tool_does_not_let_the_command_live_on)
{
    for (int i = 0; i < 2; i++) {
        start_rivals(server_hosts(the_server));
        assert_int_equal(kill(cli.pid, SIGSTOP), 0);
        assert_int_equal(cli_end(&next), 0);
        assert_no_overlap();
        assert_int_equal(cli_kill(&cli, SIGCONT), 79);
    }
}

/* When both are gone, the kernel still kills the command itself. */
TEST(without_tool_and_guard_the_command_dies_too)
{
    START_READY(&cli, path);
    pid_t command = wait_child_of(cli.pid, "cli-command");
    /* The kernel keeps 15 bytes of a name. */
    ok(kill(wait_child_of(cli.pid, "zk-lockctl guar"), SIGKILL));
    assert_int_equal(cli_kill(&cli, SIGKILL), 128 + SIGKILL);
    wait_process_gone(command);
}

/* Regression: it was said then that somebody had deleted the node. */
TEST(the_end_of_the_session_is_blamed_on_nobody)
{
    struct ensemble *e;

    assert_int_equal(ensemble_start(3, NULL, &e), SERVER_OK);
    for (int i = 0; i < 10; i++) {
        START_FOR(&cli, "20s", server_hosts(ensemble_server(e, 0)), new_path(),
                  "-c", "sleep 0.1; echo $ZKLOCK_SESSION .; exec sleep 1000");
        cli_wait_said(&cli, " .\n");
        /* another server than its own deletes the node, then it hangs up */
        ok(session_kill_by_id(server_hosts(ensemble_server(e, 1)),
                              (int64_t)strtoull(cli_said(&cli), NULL, 16)));
        assert_end(&cli, 79, "LOCK LOST: the servers have ended the session");
    }
    ensemble_stop(e);
}

/* TERM gives the command time to clean up while the lock is still ours. */
TEST(before_kill_the_command_gets_term)
{
    AUTO(proxy) proxy = new_proxy();

    START_READY_FOR(&cli, "6s", proxy_hosts(proxy), "--kill-grace", "1s",
                    new_path());
    proxy_freeze(proxy);
    cli_wait_said(&cli, "LOCK LOST: the lease ran out");
    const char *said = cli_said(&cli);
    assert_has(said, "TERM\n");
    assert_true(strstr(said, "TERM\n") < strstr(said, "LOCK LOST"));
    proxy_heal(proxy);
    assert_int_equal(cli_end(&cli), 79);
}

/* Regression: the tool sent TERM, was stopped, and its guard killed the
 * command; then the tool ended with 79 without a reason. A busy machine has the
 * same effect as the stop. */
TEST(a_killed_command_is_reported)
{
    AUTO(proxy) proxy = new_proxy();
    START_READY_FOR(&cli, "6s", proxy_hosts(proxy), "--kill-grace", "1s",
                    new_path());
    pid_t command = wait_child_of(cli.pid, "cli-command");
    proxy_freeze(proxy);
    cli_wait_said(&cli, "TERM\n");
    assert_int_equal(kill(cli.pid, SIGSTOP), 0);
    wait_process_gone(command);
    assert_int_equal(kill(cli.pid, SIGCONT), 0);
    cli_wait_said(&cli, "LOCK LOST: the lease ran out");
    proxy_heal(proxy);
    assert_int_equal(cli_end(&cli), 79);
}

TEST(a_short_break_is_survived)
{
    AUTO(proxy) proxy = new_proxy();

    START_READY_FOR(&cli, "20s", proxy_hosts(proxy), new_path());
    proxy_cut(proxy);
    cli_wait_said(&cli, "no answer from the servers; the lock is ours for ");
    cli_wait_said(&cli, " ms: server ");
    proxy_heal(proxy);
    cli_wait_said(&cli, "still ours");
    assert_int_equal(cli_end(&cli), 0);
    assert_lacks(cli_said(&cli), "TERM");
}

/* Regression: a request without a reason was told with the one before. */
TEST(a_request_without_a_reason_is_told_without_one)
{
    char data[2048] = "";

    START_READY(&cli, path);
    AUTO(text) name = nth_child(path, 0);
    const char *node = textf("%s/%s", path, name);
    LOOK(75, "revoke -w 0 --reason again %s", path);
    cli_wait_said(&cli, "asks for the lock, \"again\"; ignored");
    AWAIT(admin_get(admin, node, data, sizeof(data)) == ZOK &&
          strstr(data, "\"reason\":\"again\"}") != NULL);
    ok(admin_set(admin, node, "__REVOKE__"));
    cli_wait_said(&cli, "asks for the lock; ignored");
    assert_int_equal(cli_end(&cli), 0);
}

/* Regression: the tool waited for a reader of what it says while its session
 * went on to prove the lease, so it ended with 137 and without a reason. Here
 * its main thread is traced, and stands still. */
TEST(a_command_that_the_guard_has_killed_is_reported)
{
    START_FOR(&cli, "4s", server_hosts(the_server), path, "sh", "-c",
              "echo command $$ .; exec sleep 1000");
    cli_wait_said(&cli, " .\n");
    pid_t command = cli_said_pid(&cli, "command ");
    assert_int_equal(ptrace(PTRACE_SEIZE, cli.pid, NULL, NULL), 0);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, cli.pid, NULL, NULL), 0);
    assert_int_equal(waitpid(cli.pid, NULL, __WALL), cli.pid);
    wait_process_gone(command);
    assert_int_equal(ptrace(PTRACE_DETACH, cli.pid, NULL, NULL), 0);
    assert_end(&cli, 79, "zk-lockctl did not run until the lease was over");
}
