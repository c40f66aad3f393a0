/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with servers that are restored from an older copy of their data. A
 * client sends them the last transaction that it has seen, and they hang up on
 * a client that has seen more: for ever, if it does not give its session up. */
#include "fixture.h"

#include <sys/wait.h>

#include "spawn.h"

/* cp and rm, on data directories. */
static void run(const char *const argv[])
{
    pid_t pid = spawn((char *const *)(uintptr_t)argv, 0, 2);
    int status = 0;

    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void write_much(zkr_session *s)
{
    AUTO(mutex) m = new_mutex(s, new_path());

    for (int i = 0; i < 20; i++)
        release(acquire(m));
}

/* Regression: grants were UNSURE, and claims waited, until the process was
 * restarted. */
TEST(a_session_that_outlives_a_restore_comes_back)
{
    const struct zkr_session_opts *opts =
        OPTS(session, .session_timeout_ms = 2 * BRIEF_SESSION_MS);
    AUTO(server) server = start_server(NULL);
    AUTO(session) holding = open_to(server_hosts(server), opts);
    AUTO(session) waiting = open_to(server_hosts(server), opts);
    const char *path = new_path();
    AUTO(mutex) m = new_mutex(holding, path);
    AUTO(mutex) n = new_mutex(waiting, path);
    const char *data = server_log_dir(server);
    const char *copy = textf("%s/copy", server_dir(server));

    server_kill9(server);
    run((const char *const[]){ "cp", "-a", data, copy, NULL });
    ok(server_restart(server));
    for (int i = 0; i < 2; i++) {
        AWAIT(zkr_session_state(holding) == ZKR_SESSION_RECONNECTED);
        AWAIT(zkr_session_state(waiting) == ZKR_SESSION_RECONNECTED);
        write_much(holding);
        AUTO(grant) g = acquire(m);
        struct waiter w = WAITER(start, n, -1);
        write_much(waiting);
        uint64_t epochs[2] = { zkr_session_epoch(holding),
                               zkr_session_epoch(waiting) };
        server_kill9(server);
        run((const char *const[]){ "rm", "-r", data, NULL });
        run((const char *const[]){ "cp", "-a", copy, data, NULL });
        ok(server_restart(server));
        wait_grant_state(g, ZKR_GRANT_LOST);
        release(waiter_grant(&w));
        assert_true(zkr_session_epoch(holding) > epochs[0]);
        assert_true(zkr_session_epoch(waiting) > epochs[1]);
        release(acquire(m));
    }
}
