/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with odd servers, which refuse, forget, lag behind, change their
 * settings, or are not ZooKeeper at all. */
#include "fixture.h"

#include <sys/socket.h>

#include "net.h"
#include "security.h"

enum { CONNECT_MS = 1500, PROBE_MS = 250, LATE_MS = 1500 };

static int open_at(const char *hosts, const char *auth, zkr_session **ret_s)
{
    return zkr_session_open(hosts,
                            OPTS(session, .session_timeout_ms = SESSION_MS,
                                 .connect_timeout_ms = CONNECT_MS,
                                 .auth_scheme = auth == NULL ? NULL : "digest",
                                 .auth = auth),
                            ret_s);
}

/* -- servers that refuse -------------------------------------------------- */

TEST(a_lack_of_credentials_is_told)
{
    static const char *const java[] = { "-Dzookeeper.enforce.auth.enabled=true",
                                        "-Dzookeeper.enforce.auth.schemes="
                                        "digest",
                                        NULL };
    struct server_opts opts = { .java_opts = java };
    struct server *strict;
    zkr_session *s = NULL;

    if (!server_is_since(the_server, 3, 7))
        skip(); /* it can demand nothing */
    assert_int_equal(server_start(&opts, &strict), SERVER_OK);
    int rc = open_at(server_hosts(strict), NULL, &s);
    assert_int_equal(rc, ZKR_ZSESSIONCLOSEDREQUIRESASLAUTH);
    assert_non_null(strstr(zkr_error_detail(), "requires authentication"));
    ok(open_at(server_hosts(strict), "smith:secret", &s));
    zkr_mutex *m = new_mutex(s, "/lock");
    release(acquire(m));
    zkr_mutex_free(m);
    close_session(s);
    server_stop(strict);
}

TEST(one_client_too_many_is_told)
{
    static const char *const lines[] = { "maxClientCnxns=3", NULL };
    struct server_opts opts = { .cfg_lines = lines };
    struct server *small;
    zkr_session *s[4] = { NULL };
    int rc = ZKR_OK;
    int i;

    assert_int_equal(server_start(&opts, &small), SERVER_OK);
    for (i = 0; i < 4 && rc == ZKR_OK; i++)
        rc = open_at(server_hosts(small), NULL, &s[i]);
    assert_int_equal(rc, security_of_environment() == SERVER_TLS
                             ? ZKR_ZSSLCONNECTIONERROR
                             : ZKR_ENOTZK);
    assert_non_null(strstr(zkr_error_detail(), "no more clients"));
    assert_int_equal(i, 4);
    for (i = 0; i < 3; i++)
        close_session(s[i]);
    server_stop(small);
}

/* The client itself refuses brackets, and "zk://". */
TEST(every_form_of_an_address_is_accepted)
{
    static const char *const lines[] = { "clientPortAddress=::", NULL };
    static const char *const forms[][2] = {
        { "127.0.0.1:1,[::1]:", "" },
        { "zk://[::1]:", "" },
        { "zk://127.0.0.1:1,::1:", "/" },
    };
    struct server_opts opts = { .cfg_lines = lines };
    struct server *server;

    assert_int_equal(server_start(&opts, &server), SERVER_OK);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        AUTO(session) s = NULL;

        const char *hosts =
            textf("%s%d%s", forms[i][0], server_port(server), forms[i][1]);
        ok(open_at(hosts, NULL, &s));
        ok(zkr_session_set_servers(s, hosts));
        AUTO(mutex) m = new_mutex(s, "/lock");
        release(acquire(m));
    }
    server_stop(server);
}

/* -- servers that change -------------------------------------------------- */

/* A server that has not seen a transaction that we have seen refuses us. */
TEST(a_server_that_is_behind_costs_nothing)
{
    struct server *behind;
    struct proxy *proxy;
    zkr_session *s = NULL;

    assert_int_equal(server_start(NULL, &behind), SERVER_OK);
    ok(proxy_start(
        textf("%s,%s", server_hosts(the_server), server_hosts(behind)),
        &proxy));
    ok(open_at(proxy_hosts(proxy), NULL, &s));
    zkr_mutex *m = new_mutex(s, new_path());
    zkr_grant *g = acquire(m);
    long connects = proxy_requests(proxy, PROXY_CONNECT);
    proxy_cut(proxy);
    connect_again(proxy, s);
    assert_true(proxy_requests(proxy, PROXY_CONNECT) >= connects + 2);
    wait_verified(g);
    assert_int_equal(zkr_session_epoch(s), 1);
    release(g);
    zkr_mutex_free(m);
    close_session(s);
    proxy_stop(proxy);
    server_stop(behind);
}

/* -- no servers ----------------------------------------------------------- */

struct babbler {
    int fd;
    unsigned seed;
    atomic_int calls;
    pthread_t thread;
};

/* A length and what follows, or something else. */
static void babble(struct babbler *b, int fd)
{
    unsigned char bytes[300];
    size_t size = 1 + rand_r(&b->seed) % sizeof(bytes);

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)rand_r(&b->seed);
    if (size > 4 && rand_r(&b->seed) % 4 != 0) {
        memset(bytes, 0, 2);
        bytes[2] = 0;
        bytes[3] = (unsigned char)(rand_r(&b->seed) % 64);
    }
    (void)!send(fd, bytes, size, MSG_NOSIGNAL);
}

static void *babbler_main(void *arg)
{
    struct babbler *b = arg;
    int fd;

    while ((fd = accept4(b->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        char greeting[64];

        b->calls++;
        (void)!recv(fd, greeting, sizeof(greeting), 0);
        babble(b, fd);
        (void)close(fd);
    }
    return NULL;
}

static void start_babbler(struct babbler *b, char hosts[static NET_ADDRESS])
{
    b->fd = net_listen(hosts);
    assert_true(b->fd >= 0);
    b->thread = thread_start(babbler_main, b);
}

/* On a busy machine the time for finding out why may end first. */
static bool was_found_out(const char *hosts)
{
    struct stopwatch *w = stopwatch_start();
    zkr_session *s = NULL;
    int rc = open_at(hosts, NULL, &s);
    struct lap lap = stopwatch_stop(w);

    assert_true(lap_is_within(lap, 0, CONNECT_MS + 500 + LATE_MS));
    if (rc == ZKR_EUNREACHABLE)
        assert_true(lap.took_ns / 1000000 >= CONNECT_MS + PROBE_MS);
    else
        assert_int_equal(rc, ZKR_ENOTZK);
    return rc == ZKR_ENOTZK;
}

TEST(a_babbling_peer_is_no_server)
{
    struct babbler b = { .seed = 1 };
    char hosts[NET_ADDRESS];
    int found_out = 0;

    if (security_of_environment() == SERVER_SASL)
        skip(); /* the client takes any nonsense for a refusal, and gives up */
    start_babbler(&b, hosts);
    while (found_out < 3)
        found_out += was_found_out(hosts);
    assert_true(b.calls > 3);
    (void)shutdown(b.fd, SHUT_RDWR);
    thread_join(b.thread);
    (void)close(b.fd);
}
