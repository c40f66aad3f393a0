/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sessions over TLS with certificates, and of what can be wrong. */
#include "fixture.h"

#include <zkrecipes/testing.h>

#include "net.h"
#include "secured.h"
#include "security.h"

enum { CONNECT_MS = 1000, PROBE_MS = 2500, CLOSE_MS = 6000 };
enum { LATE_MS = 1500, LONG_SESSION_MS = 10000 };

static struct tls_files files;

/* Servers with certificates that are not the usual one: see keys.sh. */
static struct server *elsewhere, *named;

static struct server *start_with(const char *const *java_opts,
                                 const char *const *cfg_lines)
{
    return new_server(&(struct server_opts){ .security = SERVER_TLS,
                                             .java_opts = java_opts,
                                             .cfg_lines = cfg_lines });
}

static struct zkr_session_opts tls_opts(const char *ca, const char *client)
{
    struct zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;

    opts.session_timeout_ms = SESSION_MS;
    with_tls(&opts, &files, ca, client);
    return opts;
}

/* The first handshake of a server takes a while: nothing is made of it. */
static struct server *start_server_as(const char *store)
{
    struct zkr_session_opts opts = tls_opts("ca", "client");
    const char *const lines[] = {
        textf("ssl.keyStore.location=%s/%s.p12", server_keys(), store), NULL
    };
    AUTO(session) s = NULL;

    struct server *server = start_with(NULL, lines);
    if (zkr_session_open(server_secure_hosts(server), &opts, &s) != ZKR_OK)
        assert_null(s);
    return server;
}

static zkr_session *open_tls(uint32_t session_timeout_ms)
{
    struct zkr_session_opts opts = tls_opts("ca", "client");

    opts.session_timeout_ms = session_timeout_ms;
    return open_to(server_secure_hosts(the_server), &opts);
}

static void is_told(const char *hosts, struct zkr_session_opts opts, int code,
                    const char *word)
{
    opts.connect_timeout_ms = CONNECT_MS;
    open_fails(hosts, &opts, CONNECT_MS + PROBE_MS + LATE_MS, code, word);
}

/* -- what works ----------------------------------------------------------- */

TEST(a_lock_works_over_tls_and_outlives_the_connection)
{
    AUTO(session) s = open_tls(SESSION_MS);
    AUTO(mutex) m = new_mutex(s, new_path());
    AUTO(held) g = acquire(m);

    wait_verified(g);
    ok(zkr_grant_guarded_create(g, "/tests/over-tls", "x", 1, SOON_MS));
    ok(zkr_grant_guarded_delete(g, "/tests/over-tls", -1, SOON_MS));
    for (int i = 0; i < 2; i++) {
        server_kill9(the_server);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        restart_server();
        wait_session_state(s, ZKR_SESSION_RECONNECTED);
        wait_verified(g);
    }
}

/* Also when a test has ended the last one, by TLS. Its key has a password. */
TEST(a_new_session_is_over_tls_too)
{
    struct zkr_session_opts opts = tls_opts("ca", "client");

    opts.tls_key = textf("%s/locked.key", server_keys());
    opts.tls_password = "open sesame";
    AUTO(session) s = open_to(server_secure_hosts(the_server), &opts);
    AUTO(mutex) m = new_mutex(s, new_path());

    for (int i = 0; i < 2; i++) {
        AUTO(grant) g = acquire(m);

        expire_and_wait(s);
        wait_grant_state(g, ZKR_GRANT_LOST);
        uint64_t epoch = zkr_session_epoch(s);
        ok(zkr_test_expire_session(s));
        assert_int_equal(zkr_session_epoch(s), epoch + 1);
    }
    release(acquire(m));
}

/* -- what is wrong, and is told ------------------------------------------- */

static const struct {
    const char *name;
    const char *ca; /* with_tls() has these two, */
    const char *client;
    const char *cert; /* instead of its own, as the next */
    const char *key;
    const char *password;
    int code;
    const char *word;
} wrongs[] = {
    /* With TLS 1.3 the server says so after the handshake. */
    { "a certificate that the server refuses", "ca", "stranger",
      .code = ZKR_ZSSLCONNECTIONERROR, .word = "alert" },
    { "no such key", "ca", "client", .key = "/nowhere/key.pem",
      .code = ZKR_EINVAL, .word = "tls_key '/nowhere/key.pem': No such file" },
    { "no such certificate", "ca", "client", .cert = "/nowhere/cert.pem",
      .code = ZKR_EINVAL,
      .word = "tls_cert '/nowhere/cert.pem': No such file" },
    { "a key is no certificate", "ca", "client", .cert = "client.key",
      .code = ZKR_EINVAL, .word = "tls_cert '" },
    { "the key of another", "ca", "client", .key = "stranger.key",
      .code = ZKR_EINVAL, .word = "does not belong to" },
    { "no password", "ca", "client", .key = "locked.key", .code = ZKR_EINVAL,
      .word = "without a tls_password" },
    { "a wrong password", "ca", "client", .key = "locked.key",
      .password = "wrong", .code = ZKR_EINVAL,
      .word = "with this tls_password" },
};

static const char *key_file(const char *name)
{
    return name[0] == '/' ? name : textf("%s/%s", server_keys(), name);
}

TEST_ROWS(what_is_no_good_is_told, wrongs, row)
{
    struct zkr_session_opts opts = tls_opts(row->ca, row->client);

    if (row->cert != NULL)
        opts.tls_cert = key_file(row->cert);
    if (row->key != NULL)
        opts.tls_key = key_file(row->key);
    opts.tls_password = row->password;
    is_told(server_secure_hosts(the_server), opts, row->code, row->word);
}

/* Regression: the client believed all authorities of the machine as well. */
TEST(only_the_named_authorities_are_believed)
{
    const char *ca = textf("%s/ca.pem", server_keys());

    assert_int_equal(setenv("SSL_CERT_FILE", ca, 1), 0);
    is_told(server_secure_hosts(the_server), tls_opts("other", "client"),
            ZKR_ZSSLCONNECTIONERROR, "its certificate is refused");
    assert_int_equal(unsetenv("SSL_CERT_FILE"), 0);
}

/* The same authority has signed them. */
TEST(a_certificate_that_is_no_good_is_told)
{
    const struct {
        const char *store;
        const char *word;
    } bad[] = { { "expired", "certificate has expired" },
                { "client", "certificate purpose" } };

    for (size_t i = 0; i < COUNT(bad); i++) {
        AUTO(server) server = start_server_as(bad[i].store);

        is_told(server_secure_hosts(server), tls_opts("ca", "client"),
                ZKR_ZSSLCONNECTIONERROR, bad[i].word);
    }
}

/* Regression: it was tried again, five times a second, until
 * connect_timeout_ms; and the sentence had the code twice. */
TEST(an_open_ends_when_each_server_was_refused)
{
    struct zkr_session_opts opts = tls_opts("other", "client");

    for (int i = 0; i < 2; i++) {
        opts.flags = i == 0 ? 0 : ZKR_SESSION_ONE_ROUND;
        open_fails(server_secure_hosts(the_server), &opts, PROBE_MS + LATE_MS,
                   ZKR_ZSSLCONNECTIONERROR, "its certificate is refused");
        const char *code = strstr(zkr_error_detail(), "ZSSLCONNECTIONERROR");
        assert_non_null(code);
        assert_null(strstr(code + 1, "ZSSLCONNECTIONERROR"));
    }
}

TEST(a_port_of_another_kind_is_told)
{
    const struct zkr_session_opts plain = ZKR_SESSION_OPTS_INIT;
    char mute[NET_ADDRESS];
    int fd = net_listen(mute); /* it takes connections, and says nothing */

    is_told(server_hosts(the_server), tls_opts("ca", "client"),
            ZKR_ZSSLCONNECTIONERROR, "port without TLS");
    is_told(server_secure_hosts(the_server), plain, ZKR_ENOTZK, "wants TLS");
    is_told("127.0.0.1:1", tls_opts("ca", "client"), ZKR_EREFUSED,
            "127.0.0.1:1");
    assert_true(fd >= 0);
    is_told(mute, tls_opts("ca", "client"), ZKR_ENOTZK,
            "does not answer as ZooKeeper");
    (void)close(fd);
    AWAIT(zkr_session_stuck_handles() == 0);
}

/* -- the names of servers -------------------------------------------------- */

static const struct name_row {
    const char *name;
    struct server **server;
    const char *hosts; /* '#': the port */
    enum zkr_tls_verify verify;
    const char *fault; /* NULL: it connects */
} name_rows[] = {
    { "an address", &the_server, "127.0.0.1:#", 0, NULL },
    { "a name", &the_server, "localhost:#", 0, NULL },
    { "another address", &named, "127.0.0.1:#", 0, "IP address mismatch" },
    { "the name alone", &named, "localhost:#", 0, NULL },
    { "a name goes before an address", &named, "127.0.0.1:#,localhost:#", 0,
      NULL },
    { "a name of another port is none", &named, "127.0.0.1:#,localhost:1", 0,
      "IP address mismatch" },
    { "not of this address", &elsewhere, "127.0.0.1:#", 0,
      "IP address mismatch" },
    { "not of this name", &elsewhere, "localhost:#", 0, "hostname mismatch" },
    { "any name is asked for", &elsewhere, "localhost:#", ZKR_TLS_VERIFY_CHAIN,
      NULL },
    { "any address is asked for", &elsewhere, "127.0.0.1:#",
      ZKR_TLS_VERIFY_CHAIN, NULL },
};

/* Regression: any certificate of the authority was good for any server. */
TEST_ROWS(a_certificate_is_for_a_name, name_rows, row)
{
    struct zkr_session_opts opts = tls_opts("ca", "client");
    char hosts[256];
    size_t used = 0;
    const char *port = strrchr(server_secure_hosts(*row->server), ':') + 1;
    AUTO(session) s = NULL;

    opts.tls_verify = row->verify;
    for (const char *p = row->hosts; *p != '\0'; p++)
        used += (size_t)snprintf(hosts + used, sizeof(hosts) - used, "%.*s",
                                 *p == '#' ? 8 : 1, *p == '#' ? port : p);
    if (row->fault == NULL)
        ok(zkr_session_open(hosts, &opts, &s));
    else
        is_told(hosts, opts, ZKR_ZSSLCONNECTIONERROR, row->fault);
}

/* Each server is compared with its own name, at each connection. */
TEST(each_server_of_a_list_has_its_name)
{
    struct zkr_session_opts opts = tls_opts("ca", "client");

    const char *hosts = textf("127.0.0.1%s,localhost%s",
                              strrchr(server_secure_hosts(elsewhere), ':'),
                              strrchr(server_secure_hosts(named), ':'));
    AUTO(session) s = open_to(hosts, &opts);
    for (int i = 0; i < 2; i++) {
        server_kill9(named);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        assert_int_equal(server_restart(named), SERVER_OK);
        wait_session_state(s, ZKR_SESSION_RECONNECTED);
    }
}

/* -- SASL ------------------------------------------------------------------ */

TEST(a_login_over_tls)
{
    static const char *const lines[] = {
        "authProvider.sasl=org.apache.zookeeper.server.auth."
        "SASLAuthenticationProvider",
        NULL
    };
    struct zkr_session_opts opts = tls_opts("ca", "client");
    char option[600];
    const char *const options[] = { option, NULL };

    /* a server with TLS that knows the password of the user */
    assert_true(security_write_logins(server_keys(), SERVER_SASL_PASSWORD));
    assert_non_null(security_java_option(SERVER_SASL, server_keys(), option,
                                         sizeof(option)));
    AUTO(server) server = start_with(options, lines);
    with_sasl(&opts);
    opts.acl = "sasl:" SERVER_SASL_USER ":cdrwa";
    AUTO(session) s = open_to(server_secure_hosts(server), &opts);
    ok(zkr_session_create(s, "/ours", "x", 1, NULL, SOON_MS, NULL));
    ok(zkr_session_get(s, "/ours", SOON_MS, NULL));
    opts.sasl_password = "wrong";
    is_told(server_secure_hosts(server), opts, ZKR_ZAUTHFAILED, "");
}

/* -- what must not hang --------------------------------------------------- */

/* Regression: the client stayed with it (tools/client/). */
TEST(a_server_that_says_nothing_is_left_for_the_next)
{
    struct zkr_session_opts opts = tls_opts("ca", "client");
    char mute[NET_ADDRESS];
    int fd = net_listen(mute);

    assert_true(fd >= 0);
    opts.session_timeout_ms = BRIEF_SESSION_MS;
    opts.connect_timeout_ms = SOON_MS;
    const char *hosts =
        textf("%s,%s,%s", mute, mute, server_secure_hosts(the_server));
    for (int i = 0; i < 4; i++) /* the client begins with any of them */
        close_session(open_to(hosts, &opts));
    (void)close(fd);
    assert_int_equal(zkr_session_stuck_handles(), 0);
}

static void expect_expired(zkr_session *s)
{
    struct zkr_session_error error = last_error(s);
    const char *host = strrchr(server_secure_hosts(the_server), '/');

    assert_has(zkr_error_detail(), "shows a certificate that has expired");
    assert_int_equal(error.cause, ZKR_CAUSE_CERTIFICATE_EXPIRED);
    assert_string_equal(error.server, host == NULL
                                          ? server_secure_hosts(the_server)
                                          : host + 1);
    assert_true(error.age_ms >= 0 && error.age_ms < SOON_MS);
}

static uint64_t count_expired(zkr_session *s)
{
    return session_stats(s).causes[ZKR_CAUSE_CERTIFICATE_EXPIRED];
}

static void note_expired(enum zkr_log_level level, const char *line,
                         void *expired)
{
    if (strstr(line, "shows a certificate that has expired") != NULL)
        (void)atomic_fetch_add((atomic_int *)expired, 1);
}

/* The server is restarted with that certificate (keys.sh). */
static void show_certificate(const char *store)
{
    const char *good = textf("%s/good.p12", server_keys());
    const char *used = textf("%s/server.p12", server_keys());
    const char *next = textf("%s/%s.p12", server_keys(), store);

    assert_true(access(good, F_OK) == 0 || link(used, good) == 0);
    assert_int_equal(unlink(used), 0);
    assert_int_equal(link(next, used), 0);
    restart_server();
}

enum { HANDSHAKES = 6, HANDSHAKES_MS = 2500 };

/* Regression: "expired" stood nowhere. While the server cannot be believed,
 * calls end at their deadlines and say why; when it can, the session goes
 * on. The next handshake is a sixtieth of the session timeout after the first,
 * and the others ever later: here six of them take more than 3 s, and less than
 * 1 s without growth. */
TEST(a_certificate_that_expires_suspends_the_session)
{
    atomic_int expired = 0; /* lines that say so */
    struct zkr_session_opts opts = tls_opts("ca", "client");

    opts.log = note_expired;
    opts.log_user = &expired;
    opts.session_timeout_ms = LONG_SESSION_MS;
    AUTO(session) s = open_to(server_secure_hosts(the_server), &opts);
    AUTO(mutex) m = new_mutex(s, new_path());
    for (int i = 0; i < 2; i++) {
        uint64_t before = count_expired(s);

        show_certificate("expired");
        AWAIT(last_error(s).cause == ZKR_CAUSE_CERTIFICATE_EXPIRED);
        struct stopwatch *all = stopwatch_start();
        struct stopwatch *w = stopwatch_start();
        assert_int_equal(zkr_mutex_acquire(m, 1000, &nil), ZKR_ETIMEDOUT);
        assert_true(stopwatch_says(w, 0, 1000 + LATE_MS));
        expect_expired(s);
        assert_int_equal(zkr_session_sync(s, 100), ZKR_EUNREACHABLE);
        expect_expired(s);
        assert_int_equal(atomic_load(&expired), i + 1);
        AWAIT(count_expired(s) >= before + HANDSHAKES);
        assert_true(stopwatch_says(all, HANDSHAKES_MS, SOON_MS));
        show_certificate("good");
        release(acquire(m));
    }
}

TEST(a_close_does_not_wait_for_a_server_that_falls_silent)
{
    for (int i = 0; i < 2; i++) {
        zkr_session *s = open_tls(BRIEF_SESSION_MS);

        server_pause(the_server);
        wait_session_state(s, ZKR_SESSION_SUSPENDED);
        struct stopwatch *w = stopwatch_start();
        assert_int_equal(zkr_session_close(s), ZKR_EPENDING);
        assert_true(stopwatch_says(w, 0, CLOSE_MS + LATE_MS));
        server_resume(the_server);
        AWAIT(zkr_session_stuck_handles() == 0);
    }
}

static int run_group(void)
{
    elsewhere = start_server_as("elsewhere");
    named = start_server_as("named");
    int failed = test_run_all();
    server_stop(named);
    server_stop(elsewhere);
    return failed;
}

int main(void)
{
    const struct server_opts opts = { .security = SERVER_TLS };

    return run_with_server(&opts, run_group);
}
