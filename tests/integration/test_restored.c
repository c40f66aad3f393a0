/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with servers that are restored from an older copy of their data. A
 * client sends them the last transaction that it has seen, and they hang up on
 * a client that has seen more: for ever, if it does not give its session up. */
#include "fixture.h"

#include <sys/wait.h>

#include "spawn.h"

static struct server *server;
static char copy[512];

/* cp and rm, on data directories. */
static void run(const char *const argv[])
{
    pid_t pid = spawn((char *const *)(uintptr_t)argv, 0, 2);
    int status = 0;

    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void copy_data(void)
{
    const char *const argv[] = { "cp", "-a", server_log_dir(server), copy,
                                 NULL };

    server_kill9(server);
    run(argv);
    assert_int_equal(server_restart(server), SERVER_OK);
}

static void restore_data(void)
{
    const char *const rm[] = { "rm", "-r", server_log_dir(server), NULL };
    const char *const cp[] = { "cp", "-a", copy, server_log_dir(server), NULL };

    server_kill9(server);
    run(rm);
    run(cp);
    assert_int_equal(server_restart(server), SERVER_OK);
}

static void write_much(zkr_session *s)
{
    AUTO(mutex) m = new_mutex(s, new_path());

    for (int i = 0; i < 20; i++)
        release(acquire(m));
}

static zkr_session *open_at_server(void)
{
    return open_to(server_hosts(server),
                   OPTS(session, .session_timeout_ms = 2 * BRIEF_SESSION_MS));
}

/* Regression: grants were UNSURE, and claims waited, until the process was
 * restarted. */
TEST(a_session_that_outlives_a_restore_comes_back)
{
    AUTO(session) holding = open_at_server();
    AUTO(session) waiting = open_at_server();
    const char *path = new_path();
    AUTO(mutex) m = new_mutex(holding, path);
    AUTO(mutex) n = new_mutex(waiting, path);

    copy_data();
    for (int i = 0; i < 2; i++) {
        uint64_t epochs[2];

        AWAIT(zkr_session_state(holding) == ZKR_SESSION_RECONNECTED);
        AWAIT(zkr_session_state(waiting) == ZKR_SESSION_RECONNECTED);
        write_much(holding);
        zkr_grant *g = acquire(m);
        struct waiter w = WAITER(start, n, -1);
        write_much(waiting);
        epochs[0] = zkr_session_epoch(holding);
        epochs[1] = zkr_session_epoch(waiting);
        restore_data();
        wait_grant_state(g, ZKR_GRANT_LOST);
        assert_int_equal(waiter_join(&w), ZKR_OK);
        assert_true(zkr_session_epoch(holding) > epochs[0]);
        assert_true(zkr_session_epoch(waiting) > epochs[1]);
        zkr_grant_free(g);
        release(w.grant);
        release(acquire(m));
    }
}

static int setup(void)
{
    if (server_start(NULL, &server) != SERVER_OK)
        return -1;
    (void)snprintf(copy, sizeof(copy), "%s/copy", server_dir(server));
    return 0;
}

static int teardown(void)
{
    server_stop(server);
    return 0;
}

static int run_group(void)
{
    return test_run_between(setup, teardown);
}

int main(void)
{
    return run_with_server(NULL, run_group);
}
