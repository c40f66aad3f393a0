/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the test harness: servers, expiry, admin client, recorder, waits. */
#include <errno.h>
#include <signal.h>

#include <sys/wait.h>
#include <unistd.h>

#include "expire.h"
#include "selftest.h"
#include "spawn.h"
#include "stopwatch.h"

struct server *server;
struct admin *admin;

static int set_up(void)
{
    static const char *const java[] = { "-Djute.maxbuffer=3000000", NULL };
    const struct server_opts opts = { .java_opts = java };
    if (server_start(&opts, &server) != SERVER_OK)
        return -1;
    return admin_open(server_hosts(server), &admin);
}

static int tear_down(void)
{
    admin_close(admin);
    server_stop(server);
    return 0;
}

static void ignore_log(const char *line)
{
}

static void on_session_event(zhandle_t *zh, int type, int session_state,
                             const char *path, void *context)
{
    if (type == ZOO_SESSION_EVENT)
        recorder_add(context, session_state, 0);
}

zhandle_t *new_client(const char *hosts, int session_ms,
                      struct recorder *events)
{
    zhandle_t *zh = zookeeper_init2(hosts, on_session_event, session_ms, NULL,
                                    events, ZOO_NO_LOG_CLIENTENV, ignore_log);

    assert_non_null(zh);
    return zh;
}

/* How many of two are there, of a server: its process, and its directory. */
static int parts_of(pid_t pid, const char *dir)
{
    return (access(textf("/proc/%d", (int)pid), F_OK) == 0) +
           (access(dir, F_OK) == 0);
}

/* server */

static void assert_answer_has(const struct server *s, const char *word,
                              const char *expected)
{
    char *answer = server_4lw(s, word);

    assert_has(answer, expected);
    free(answer);
}

/* A started server serves, with the settings that are our defaults. */
TEST(test_server_answers)
{
    assert_answer_has(server, "srvr", "Mode: standalone");
    assert_answer_has(server, "conf", "tickTime=500\n");
    assert_answer_has(server, "conf", "minSessionTimeout=1000\n");
    assert_answer_has(server, "conf", "maxSessionTimeout=60000\n");
    assert_int_equal(server_metric(server, "zk_no_such_metric"), -1);
}

/* The caller's settings reach java and zoo.cfg. */
TEST(test_server_options)
{
    static const char *const java[] = { "-Dzkrecipes.mark=here", NULL };
    static const char *const lines[] = { "maxSessionTimeout=7000", NULL };
    struct server_opts opts = { .tick_ms = 200,
                                .min_session_ms = 400,
                                .java_opts = java,
                                .cfg_lines = lines };
    struct server *s;

    ok(server_start(&opts, &s));
    assert_answer_has(s, "conf", "tickTime=200\n");
    assert_answer_has(s, "conf", "minSessionTimeout=400\n");
    assert_answer_has(s, "conf", "maxSessionTimeout=7000\n");
    ok(system(textf("tr '\\0' '\\n' </proc/%d/cmdline | grep -qx -e %s",
                    (int)server_pid(s), java[0])));
    server_stop(s);
}

/* A stopped server leaves no process, no directory, no descriptor. */
TEST(test_server_stop_leaves_nothing)
{
    int fds = count_fds();
    struct server *s;

    ok(server_start(NULL, &s));
    const char *dir = textf("%s", server_dir(s));
    pid_t pid = server_pid(s);
    assert_int_equal(parts_of(pid, dir), 2);

    server_stop(s);
    assert_int_equal(parts_of(pid, dir), 0);
    assert_int_equal(count_fds(), fds);
}

/* A paused server is silent; resumed, it goes on with the same sessions. */
TEST(test_server_pause)
{
    int64_t session = admin_session_id(admin);

    server_pause(server);
    char *answer = server_4lw(server, "srvr");
    server_resume(server);
    assert_null(answer);
    assert_answer_has(server, "srvr", "Mode: standalone");
    ok(admin_exists(admin, "/", NULL));
    assert_true(admin_session_id(admin) == session);
}

/* Port, data and session survive kill -9 and restart. */
TEST(test_server_restart)
{
    int64_t session = admin_session_id(admin);
    int port = server_port(server);
    char data[16];

    ok(admin_create(admin, "/kept", "still here"));
    server_kill9(server);
    assert_int_equal(server_pid(server), 0);
    assert_null(server_4lw(server, "srvr"));
    ok(server_restart(server));

    assert_int_equal(server_port(server), port);
    ok(admin_get(admin, "/kept", data, sizeof(data)));
    assert_string_equal(data, "still here");
    assert_true(admin_session_id(admin) == session);
    ok(admin_delete(admin, "/kept"));
}

static void ignore_event(zhandle_t *zh, int type, int event_state,
                         const char *path, void *context)
{
}

/* The counters are those of the server. */
TEST(test_server_counts)
{
    struct recorder *events = recorder_new();
    zhandle_t *zh = new_client(server_hosts(server), 30000, events);

    ok(admin_create_flags(admin, "/mortal", NULL, ZOO_EPHEMERAL, NULL, 0));
    assert_int_equal(server_ephemerals_count(server), 1);
    assert_int_equal(server_watch_count(server), 0);
    ok(zoo_wexists(zh, "/mortal", ignore_event, NULL, NULL));
    assert_int_equal(server_watch_count(server), 1);
    assert_answer_has(server, "wchp", "/mortal");

    ok(admin_delete(admin, "/mortal"));
    assert_int_equal(server_ephemerals_count(server), 0);
    assert_int_equal(server_watch_count(server), 0);
    zookeeper_close(zh);
    recorder_free(events);
}

/* Run as `test-harness --hang`: start a server, tell about it, wait to die. */
static int hang(void)
{
    struct server *s;

    if (server_start(NULL, &s) != SERVER_OK)
        return 1;
    printf("%d %s\n", (int)server_pid(s), server_dir(s));
    fflush(stdout);
    for (;;)
        pause();
}

static void assert_death_cleans_up(int signal_number)
{
    char *argv[] = { "/proc/self/exe", "--hang", NULL };
    int ends[2];
    int servers_pid;
    char dir[256];
    int status;

    ok(pipe(ends));
    pid_t pid = spawn(argv, -1, ends[1]);
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    assert_non_null(from);
    assert_int_equal(fscanf(from, "%d %255s", &servers_pid, dir), 2);
    fclose(from);
    assert_int_equal(parts_of(servers_pid, dir), 2);

    kill(pid, signal_number);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(COMES(parts_of(servers_pid, dir) == 0, SOON_MS));
}

/* Servers and directories go with the test process, however it ends. */
TEST(test_server_dies_with_us)
{
    assert_death_cleans_up(SIGTERM);
    assert_death_cleans_up(SIGKILL);
}

/* Three servers: one leads; after its death another one does. */
TEST(test_ensemble)
{
    struct ensemble *e;
    struct admin *a;

    ok(ensemble_start(3, NULL, &e));
    int first = ensemble_leader(e);
    assert_in_range(first, 0, 2);
    ok(admin_open(ensemble_hosts(e), &a));
    ok(admin_create(a, "/agreed", NULL));

    server_kill9(ensemble_server(e, first));
    assert_true(COMES(ensemble_leader(e) >= 0, SOON_MS));
    assert_int_not_equal(ensemble_leader(e), first);
    ok(admin_exists(a, "/agreed", NULL));
    ok(server_restart(ensemble_server(e, first)));

    admin_close(a);
    ensemble_stop(e);
}

/* expire */

/* A real client learns soon that its session is over; the first is ended with
 * the password that it was given. */
TEST(test_expire)
{
    for (int round = 0; round < 21; round++) {
        struct recorder *events = recorder_new();
        zhandle_t *zh = new_client(server_hosts(server), 30000, events);
        int state = 0;

        assert_true(COMES(zoo_state(zh) == ZOO_CONNECTED_STATE, SOON_MS));
        ok(zoo_create(zh, "/victim", NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                      ZOO_EPHEMERAL, NULL, 0));
        const clientid_t *id = zoo_client_id(zh);
        if (round == 0)
            ok(session_kill(server_hosts(server), id->client_id, id->passwd));
        else
            ok(session_kill_by_id(server_hosts(server), id->client_id));

        assert_int_equal(admin_exists(admin, "/victim", NULL), ZNONODE);
        /* How often it sees CONNECTING before depends on who is faster. */
        assert_true(COMES(
            recorder_get(events, recorder_count(events) - 1, &state, NULL) &&
                state == ZOO_EXPIRED_SESSION_STATE,
            SOON_MS));
        assert_int_equal(zoo_state(zh), ZOO_EXPIRED_SESSION_STATE);
        zookeeper_close(zh);
        recorder_free(events);
    }
}

/* The errors for a session that does not exist, a wrong password, and a server
 * that is not there differ, and nobody loses a session. */
TEST(test_expire_fails)
{
    static const char wrong[16];
    const char *hosts = server_hosts(server);
    int64_t session = admin_session_id(admin);

    assert_int_equal(session_kill_by_id(hosts, 4711), -ESRCH);
    assert_int_equal(session_kill(hosts, session, wrong), -ESRCH);
    assert_int_equal(session_kill_by_id("127.0.0.1:1", session), -ECONNREFUSED);
    assert_int_equal(session_kill_by_id("no port", session), -EINVAL);
    assert_int_equal(session_kill_by_id("[::1]", session), -EINVAL);
    assert_int_equal(session_kill_by_id("[::1:2181", session), -EINVAL);
    ok(admin_exists(admin, "/", NULL));
    assert_true(admin_session_id(admin) == session);
}

/* admin */

/* Data goes in and comes back, cut to the buffer; NULL reads as empty. */
TEST(test_admin_data)
{
    char text[8];

    ok(admin_create(admin, "/data", NULL));
    assert_int_equal(admin_create(admin, "/data", NULL), ZNODEEXISTS);
    ok(admin_get(admin, "/data", text, sizeof(text)));
    assert_string_equal(text, "");
    ok(admin_set(admin, "/data", "0123456789"));
    ok(admin_get(admin, "/data", text, sizeof(text)));
    assert_string_equal(text, "0123456");
    ok(admin_delete(admin, "/data"));
    assert_int_equal(admin_delete(admin, "/data"), ZNONODE);
    assert_int_equal(admin_get(admin, "/data", text, sizeof(text)), ZNONODE);
}

/* The name as created and the Stat come back. */
TEST(test_admin_flags)
{
    struct Stat stat;
    char path[64];

    ok(admin_create_flags(admin, "/once-", "x", ZOO_EPHEMERAL_SEQUENTIAL, path,
                          sizeof(path)));
    assert_int_equal(strlen(path), strlen("/once-") + 10);
    ok(admin_exists(admin, path, &stat));
    assert_true(stat.ephemeralOwner == admin_session_id(admin));
    ok(admin_delete(admin, path));
}

/* Children come by sequence number, not by name. */
TEST(test_admin_children_sorted)
{
    static const char *const sorted[] = { "plain", "z-0000000001",
                                          "_c_77-lock-0000000002",
                                          "a9990000000003", "m-0000000010" };
    static const int creation[] = { 4, 2, 0, 3, 1 };
    char **names;
    size_t count;

    ok(admin_create(admin, "/list", NULL));
    ok(admin_children(admin, "/list", &names, &count));
    assert_int_equal(count, 0);
    admin_children_free(names, count);
    for (int i = 0; i < 5; i++)
        ok(admin_create(admin, textf("/list/%s", sorted[creation[i]]), NULL));
    ok(admin_children(admin, "/list", &names, &count));
    assert_int_equal(count, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(names[i], sorted[i]);
    admin_children_free(names, count);
    ok(admin_delete_tree(admin, "/list"));
}

/* A whole tree is deleted, and an absent one is no error. */
TEST(test_admin_delete_tree)
{
    ok(admin_create(admin, "/tree", NULL));
    ok(admin_create(admin, "/tree/a", NULL));
    ok(admin_create(admin, "/tree/a/b", NULL));
    ok(admin_create(admin, "/tree/c", NULL));
    ok(admin_delete_tree(admin, "/tree"));
    assert_int_equal(admin_exists(admin, "/tree", NULL), ZNONODE);
    ok(admin_delete_tree(admin, "/tree"));
}

/* An ACL that was set is enforced. */
TEST(test_admin_acl)
{
    char acl[64];

    ok(admin_create(admin, "/guarded", NULL));
    ok(admin_get_acl(admin, "/guarded", acl, sizeof(acl)));
    assert_string_equal(acl, "world:anyone:31");
    ok(admin_set_acl(admin, "/guarded", &ZOO_READ_ACL_UNSAFE));
    assert_int_equal(admin_set(admin, "/guarded", "x"), ZNOAUTH);
    ok(admin_delete(admin, "/guarded"));
}

/* recorder and wait */

enum { WRITERS = 4, EVENTS = 1000 };

static void *write_events(void *arg)
{
    for (int i = 0; i < EVENTS; i++)
        recorder_add(arg, 7, i);
    return NULL;
}

/* Events of several threads are all there. */
TEST(test_recorder_threads)
{
    struct recorder *r = recorder_new();
    pthread_t threads[WRITERS];
    int64_t sum = 0;

    assert_non_null(r);
    for (int i = 0; i < WRITERS; i++)
        threads[i] = thread_start(write_events, r);
    assert_true(recorder_wait(r, WRITERS * EVENTS, 10000));
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < WRITERS * EVENTS; i++) {
        int64_t value = 0;
        int code = 0;

        assert_true(recorder_get(r, i, &code, &value));
        assert_int_equal(code, 7);
        sum += value;
    }
    assert_int_equal(sum, WRITERS * (EVENTS * (EVENTS - 1) / 2));
    recorder_free(r);
}

/* Waiting for an event that does not come ends, and reading one that does not
 * exist fails. */
TEST(test_recorder_times_out)
{
    struct recorder *r = recorder_new();
    struct stopwatch *w = stopwatch_start();
    int code = 99;

    assert_non_null(r);
    recorder_add(r, 1, 2);
    assert_false(recorder_wait(r, 2, 50));
    assert_true(stopwatch_says(w, 49, 2000));
    assert_false(recorder_get(r, 1, &code, NULL));
    assert_int_equal(code, 99);
    recorder_clear(r);
    assert_int_equal(recorder_count(r), 0);
    recorder_free(r);
}

/* A condition is asked until it holds, or until the time is up. */
TEST(test_wait_until)
{
    struct stopwatch *w = stopwatch_start();
    int asked = 0;

    assert_true(COMES(++asked == 3, SOON_MS));
    assert_int_equal(asked, 3);
    assert_false(COMES(false, 30));
    assert_true(stopwatch_says(w, 30, 3000));
}

/* A lap is as long as it was, and may be longer than the bound by the lateness,
 * not more. */
TEST(test_stopwatch)
{
    struct stopwatch *w = stopwatch_start();
    struct lap first, second;

    sleep_ms(40);
    first = stopwatch_lap(w);
    sleep_ms(10);
    second = stopwatch_stop(w);
    assert_true(first.took_ns >= 40000000);
    assert_true(second.took_ns >= first.took_ns + 10000000);
    assert_true(second.late_ns >= first.late_ns);
    assert_true(second.late_ns <= second.took_ns);

    first = (struct lap){ .took_ns = 43000000, .late_ns = 3000000 };
    assert_true(lap_is_within(first, 40, 40));
    assert_false(lap_is_within(first, 44, 50));
    first.took_ns++;
    assert_false(lap_is_within(first, 40, 40));
}

/* The exit status of a child says whether its time as stopped is lateness. */
TEST(test_stopwatch_counts_a_stop)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct stopwatch *w = stopwatch_start();

        raise(SIGSTOP);
        _exit(stopwatch_says(w, 300, 100) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    sleep_ms(300);
    kill(child, SIGCONT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void *wait_for_hangup(void *arg)
{
    char byte;

    (void)!read(*(int *)arg, &byte, 1);
    return NULL;
}

/* The counters see one more thread and two more descriptors. */
TEST(test_counts)
{
    int threads = count_threads();
    int fds = count_fds();
    int ends[2];

    ok(pipe(ends));
    pthread_t thread = thread_start(wait_for_hangup, ends);
    assert_int_equal(count_threads(), threads + 1);
    assert_int_equal(count_fds(), fds + 2);
    close(ends[1]);
    pthread_join(thread, NULL);
    close(ends[0]);
    assert_int_equal(count_fds(), fds);
}

int main(int argc, char **argv)
{
    if (!server_installed()) {
        fprintf(stderr, "skipped: java or zookeeper.jar is missing\n");
        return 77;
    }
    if (argc == 2 && strcmp(argv[1], "--hang") == 0)
        return hang();
    return test_run_between(set_up, tear_down);
}
