/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sessions with SASL (DIGEST-MD5), and of all that can be wrong. */
#include "fixture.h"

#include "secured.h"
#include "security.h"

enum { CONNECT_MS = 5000, LATE_MS = 1500, LONG_MS = 10000 };
enum { THREADS = 8, OPENS = 10 };

static struct zkr_session_opts sasl_opts(uint32_t session_ms,
                                         const char *password)
{
    struct zkr_session_opts opts =
        *OPTS(session, .session_timeout_ms = session_ms);

    with_sasl(&opts);
    opts.sasl_password = password;
    return opts;
}

static zkr_session *open_sasl(uint32_t session_ms)
{
    struct zkr_session_opts opts = sasl_opts(session_ms, SERVER_SASL_PASSWORD);

    return open_session_with(&opts);
}

static void is_told(const struct server *server, struct zkr_session_opts opts,
                    int code, const char *word)
{
    opts.connect_timeout_ms = CONNECT_MS;
    open_fails(server_hosts(server), &opts, LATE_MS, code, word);
}

static void lock_once(zkr_session *s)
{
    AUTO(mutex) m = new_mutex(s, new_path());

    release(acquire(m));
}

/* -- what works ----------------------------------------------------------- */

TEST(a_user_has_what_only_that_user_may)
{
    struct zkr_session_opts opts = sasl_opts(SESSION_MS, SERVER_SASL_PASSWORD);
    AUTO(session) anybody = open_session();
    const char *path = new_path();

    opts.acl = "sasl:" SERVER_SASL_USER ":cdrwa";
    AUTO(session) s = open_session_with(&opts);
    AUTO(mutex) m = new_mutex(s, path);
    AUTO(held) g = acquire(m);
    AUTO(mutex) theirs = new_mutex(anybody, path);
    if (getenv("ZKR_TEST_SECURITY") == NULL) /* nobody else is that user */
        assert_int_equal(zkr_mutex_acquire(theirs, 0, &nil), ZKR_ZNOAUTH);
}

/* Returns the name of its file. */
static const char *write_password(const char *password)
{
    const char *name = textf("%s/password", server_dir(the_server));
    FILE *file = fopen(name, "we");

    assert_non_null(file);
    (void)fprintf(file, "%s\r\nnot this\n", password);
    (void)fclose(file);
    return name;
}

/* Regression guard: Cyrus wipes a password when it has used it. */
TEST(a_user_logs_in_again_and_again)
{
    AUTO(session) s = open_sasl(SESSION_MS);

    for (int i = 0; i < 2; i++) {
        expire_and_wait(s);
        lock_once(s);
        server_kill9(the_server);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        restart_server();
        wait_session_state(s, ZKR_SESSION_RECONNECTED);
        lock_once(s);
    }
}

struct logins {
    int failed;
    char detail[256];
};

static void *log_in_often(void *arg)
{
    struct logins *logins = arg;
    struct zkr_session_opts opts = sasl_opts(SESSION_MS, SERVER_SASL_PASSWORD);

    for (int i = 0; i < OPENS; i++) {
        zkr_session *s = NULL;

        if (zkr_session_open(server_hosts(the_server), &opts, &s) != ZKR_OK) {
            logins->failed++;
            PRINT(logins->detail, "%s", zkr_error_detail());
        } else if (zkr_session_close(s) != ZKR_OK) {
            logins->failed++;
        }
    }
    return NULL;
}

/* What DIGEST-MD5 remembers belongs to all connections of the process. */
TEST(many_log_in_at_once)
{
    static struct logins logins[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(log_in_often, &logins[i]);
    for (int i = 0; i < THREADS; i++) {
        thread_join(threads[i]);
        if (logins[i].failed > 0)
            fail_msg("%d failed: %s", logins[i].failed, logins[i].detail);
    }
}

/* -- what is wrong, and is told ------------------------------------------- */

/* Regression: the sentence had lost the server: it said "server refuses". Not
 * with the password of bob: servers compare that of an unknown user with that
 * of whoever has logged in before (SaslServerCallbackHandler, 3.8.0). */
TEST(a_wrong_password_and_an_unknown_user_are_told)
{
    struct zkr_session_opts opts = sasl_opts(SESSION_MS, "wrong");
    const char *word =
        textf("server %s refuses our credentials", server_hosts(the_server));

    is_told(the_server, opts, ZKR_ZAUTHFAILED, word);
    opts.sasl_user = "nobody";
    is_told(the_server, opts, ZKR_ZAUTHFAILED, word);
    for (int i = 0; i < 2; i++) { /* the default was told instead */
        opts = sasl_opts(SESSION_MS, SERVER_SASL_PASSWORD);
        *(i == 0 ? &opts.sasl_host : &opts.sasl_service) = "elsewhere";
        is_told(the_server, opts, ZKR_ZAUTHFAILED, word);
    }
}

TEST(a_missing_login_is_told)
{
    static const char *const lines[] = { "sessionRequireClientSASLAuth=true",
                                         NULL };
    struct server_opts server_opts = { .security = SERVER_SASL,
                                       .cfg_lines = lines };
    struct zkr_session_opts with = sasl_opts(SESSION_MS, SERVER_SASL_PASSWORD);
    struct zkr_session_opts without = ZKR_SESSION_OPTS_INIT;
    AUTO(server) strict = new_server(&server_opts);

    close_session(open_to(server_hosts(strict), &with));
    is_told(strict, sasl_opts(SESSION_MS, "wrong"), ZKR_ZAUTHFAILED, "refused");
    if (getenv("ZKR_TEST_SECURITY") == NULL)
        is_told(strict, without, ZKR_ZSESSIONCLOSEDREQUIRESASLAUTH,
                "requires authentication");
}

static void change_password(const char *password)
{
    assert_true(security_write_logins(server_dir(the_server), password));
    restart_server();
}

/* Regression: only open read the file: a new password ended the session. */
TEST(a_password_that_changes_in_its_file_is_used)
{
    struct zkr_session_opts opts = sasl_opts(SESSION_MS, NULL);

    opts.sasl_password_file = write_password(SERVER_SASL_PASSWORD);
    AUTO(session) s = open_session_with(&opts);
    for (int i = 0; i < 2; i++) {
        const char *password =
            i == 0 ? "a longer one than before" : SERVER_SASL_PASSWORD;

        server_kill9(the_server);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        (void)write_password(password);
        change_password(password);
        lock_once(s);
        assert_int_equal(zkr_session_epoch(s), 1);
    }
}

static bool is_refused(zkr_session *s)
{
    return last_error(s).cause == ZKR_CAUSE_CREDENTIALS &&
           zkr_session_state(s) == ZKR_SESSION_SUSPENDED;
}

/* While the old one is refused, and before. */
TEST(a_password_that_is_set_is_used_at_the_next_login)
{
    struct zkr_session_opts opts = sasl_opts(LONG_MS, SERVER_SASL_PASSWORD);
    AUTO(session) s = open_session_with(&opts);
    change_password("changed");
    AWAIT(is_refused(s));
    opts.sasl_password = "changed";
    ok(zkr_session_set_credentials(s, &opts));
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
    lock_once(s);
    opts.sasl_password = SERVER_SASL_PASSWORD;
    ok(zkr_session_set_credentials(s, &opts));
    change_password(SERVER_SASL_PASSWORD);
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
    lock_once(s);
    assert_int_equal(zkr_session_epoch(s), 1);
    expire_and_wait(s);
    lock_once(s);
}

enum { LOGINS = 6, LOGINS_MS = 2500 };

/* A sixtieth of the session timeout after the first, and longer each time: here
 * more than 4 s, and 1 s without growth. */
TEST(refused_logins_are_tried_again_ever_more_rarely)
{
    struct zkr_session_opts opts = sasl_opts(LONG_MS, SERVER_SASL_PASSWORD);
    struct proxy *proxy = NULL;
    zkr_session *s = open_through(&proxy, &opts);
    change_password("changed");
    AWAIT(is_refused(s));
    proxy_reset_counts(proxy);
    struct stopwatch *w = stopwatch_start();
    AWAIT(proxy_requests(proxy, PROXY_CONNECT) >= LOGINS);
    assert_true(stopwatch_says(w, LOGINS_MS, SOON_MS));
    close_through(s, proxy);
    change_password(SERVER_SASL_PASSWORD);
}

/* Regression: it ended the session, for good. */
TEST(a_password_that_is_mended_in_time_keeps_the_session)
{
    AUTO(session) s = open_sasl(LONG_MS);
    AUTO(mutex) m = new_mutex(s, new_path());
    AUTO(held) g = acquire(m);
    change_password("changed");
    AWAIT(is_refused(s));
    tells(zkr_session_sync(s, 100), ZKR_EUNREACHABLE,
          "refuses our credentials");
    change_password(SERVER_SASL_PASSWORD);
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
    assert_int_equal(zkr_session_epoch(s), 1);
    wait_verified(g);
}

/* A refused login touches the session: its locks would stay while it tries. */
TEST(a_password_that_changes_ends_the_epoch)
{
    AUTO(session) s = open_sasl(SESSION_MS);
    AUTO(mutex) m = new_mutex(s, new_path());
    AUTO(grant) g = acquire(m);

    change_password("changed");
    wait_session_state(s, ZKR_SESSION_LOST);
    wait_grant_state(g, ZKR_GRANT_LOST);
    tells(zkr_mutex_acquire(m, 300, &nil), ZKR_ETIMEDOUT,
          "refuses our credentials");
    change_password(SERVER_SASL_PASSWORD);
    release(acquire(m));
    assert_true(zkr_session_epoch(s) > 1);
}

/* Regression: the first refusal was the end, whatever the other servers said.
 * Two of three know another password. */
TEST(a_server_that_refuses_is_left_for_the_next)
{
    const struct server_opts server_opts = { .security = SERVER_SASL };
    struct zkr_session_opts opts = sasl_opts(LONG_MS, SERVER_SASL_PASSWORD);
    struct ensemble *e = NULL;
    zkr_session *s = NULL;

    assert_int_equal(ensemble_start(3, &server_opts, &e), SERVER_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(security_write_logins(server_dir(ensemble_server(e, i)),
                                          "changed"));
        assert_int_equal(server_restart(ensemble_server(e, i)), SERVER_OK);
    }
    for (int i = 0; i < 4; i++) { /* the client begins with any of them */
        close_session(s);
        s = NULL;
        ok(zkr_session_open(ensemble_hosts(e), &opts, &s));
    }
    lock_once(s);
    int64_t killed_ms = now_ms();
    server_kill9(ensemble_server(e, 2));
    AWAIT(is_refused(s));
    assert_int_equal(server_restart(ensemble_server(e, 2)), SERVER_OK);
    wait_session_state(s, ZKR_SESSION_RECONNECTED);
    lock_once(s);
    if (now_ms() < killed_ms + LONG_MS / 2) /* else it may be over */
        assert_int_equal(zkr_session_epoch(s), 1);
    close_session(s);
    ensemble_stop(e);
}

/* The server that is down may just be starting, unless one round is enough. */
TEST(a_refusal_beside_a_server_that_is_down_is_told)
{
    struct zkr_session_opts opts = sasl_opts(SESSION_MS, "wrong");
    const char *hosts = textf("127.0.0.1:1,%s", server_hosts(the_server));

    for (int i = 0; i < 2; i++) {
        opts.flags = i == 0 ? 0 : ZKR_SESSION_ONE_ROUND;
        opts.connect_timeout_ms = i == 0 ? 1000 : CONNECT_MS;
        open_fails(hosts, &opts, 1000 + LATE_MS, ZKR_ZAUTHFAILED,
                   "refuses our credentials");
    }
}

int main(void)
{
    const struct server_opts opts = { .security = SERVER_SASL };

    return run_with_server(&opts, test_run_all);
}
