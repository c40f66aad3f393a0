/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of TLS in the ZooKeeper client that tools/build-client.sh builds, where
 * a patch of tools/client/ has changed it: by the client's own calls. */
#include "fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <zookeeper/zookeeper.h>

#include "secured.h"

/* Servers with TLS and another certificate: see keys.sh. `the_server` has the
 * usual one. */
static struct server *elsewhere, *named;

/* -- handles --------------------------------------------------------------- */

/* The session outlives the restart of its server, on a busy machine, too. */
#define LONG_SESSION_MS 30000

static char log_text[65536]; /* under log_lock: of the handle under test */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_log(const char *line)
{
    size_t used;

    (void)pthread_mutex_lock(&log_lock);
    used = strlen(log_text);
    (void)snprintf(log_text + used, sizeof(log_text) - used, "%s\n", line);
    (void)pthread_mutex_unlock(&log_lock);
}

static bool log_has(const char *word)
{
    bool has;

    (void)pthread_mutex_lock(&log_lock);
    has = strstr(log_text, word) != NULL;
    (void)pthread_mutex_unlock(&log_lock);
    return has;
}

static zhandle_t *open_handle(const char *hosts, int flags,
                              zoo_sasl_params_t *sasl)
{
    const char *dir = server_keys();
    char files[2048];
    zhandle_t *zh;

    (void)pthread_mutex_lock(&log_lock);
    log_text[0] = '\0';
    (void)pthread_mutex_unlock(&log_lock);
    (void)snprintf(files, sizeof(files),
                   "%s/ca.pem,%s/client.pem,%s/client.key,none", dir, dir, dir);
    zh = zookeeper_init_secure(hosts, files, NULL, LONG_SESSION_MS, NULL, NULL,
                               flags | ZOO_NO_LOG_CLIENTENV, on_log, sasl);
    assert_non_null(zh);
    return zh;
}

static void close_handle(zhandle_t *zh)
{
    (void)zookeeper_close(zh);
}

static void await_connection(zhandle_t *zh)
{
    AWAIT(zoo_state(zh) == ZOO_CONNECTED_STATE);
}

/* -- the log --------------------------------------------------------------- */

/* Regression: a session over TLS could print a line of the client to stderr. */
TEST(nothing_is_printed)
{
    char name[512];
    int before = dup(STDERR_FILENO);
    zhandle_t *zh;
    int fd;

    (void)snprintf(name, sizeof(name), "%s/printed", server_keys());
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && before >= 0);
    (void)dup2(fd, STDERR_FILENO);
    zh = open_handle(server_secure_hosts(the_server), 0, NULL);
    while (zoo_state(zh) != ZOO_CONNECTED_STATE)
        sleep_ms(2);
    close_handle(zh);
    (void)dup2(before, STDERR_FILENO);
    (void)close(before);
    assert_int_equal(lseek(fd, 0, SEEK_END), 0);
    (void)close(fd);
    assert_true(log_has("Initiating client connection"));
}

TEST(files_that_are_not_all_there_make_no_handle)
{
    assert_null(zookeeper_init_secure("127.0.0.1:1", "ca,cert", NULL,
                                      SESSION_MS, NULL, NULL, 0, on_log, NULL));
}

/* -- the names of servers -------------------------------------------------- */

static const struct name_row {
    const char *name;
    struct server **server;
    const char *hosts; /* '#': the port */
    int flags;
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
    { "any name is asked for", &elsewhere, "localhost:#", ZOO_TLS_ANY_NAME,
      NULL },
    { "any address is asked for", &elsewhere, "127.0.0.1:#", ZOO_TLS_ANY_NAME,
      NULL },
};

static const char *port_of(const struct server *s)
{
    return strrchr(server_secure_hosts(s), ':') + 1;
}

static void fill_in(char *hosts, size_t size, const char *pattern,
                    const char *port)
{
    size_t used = 0;

    for (; *pattern != '\0'; pattern++)
        used += (size_t)snprintf(hosts + used, size - used, "%.*s",
                                 *pattern == '#' ? 8 : 1,
                                 *pattern == '#' ? port : pattern);
}

/* Regression: whoever had a certificate of the authority could take the place
 * of a server. */
TEST_ROWS(a_certificate_is_for_a_name, name_rows, row)
{
    char hosts[256];
    zhandle_t *zh;

    fill_in(hosts, sizeof(hosts), row->hosts, port_of(*row->server));
    zh = open_handle(hosts, row->flags, NULL);
    if (row->fault == NULL)
        await_connection(zh);
    else
        AWAIT(log_has(row->fault));
    assert_int_equal(zoo_state(zh) == ZOO_CONNECTED_STATE, row->fault == NULL);
    close_handle(zh);
}

/* Each server is compared with its own name, at each connection. The client
 * takes every second address of its list, so their number is odd. */
TEST(each_server_of_a_list_has_its_name)
{
    char hosts[256];
    zhandle_t *zh;

    (void)snprintf(hosts, sizeof(hosts),
                   "127.0.0.1:%s,127.0.0.1:%s,localhost:%s", port_of(elsewhere),
                   port_of(elsewhere), port_of(named));
    zh = open_handle(hosts, 0, NULL);
    await_connection(zh);
    server_kill9(named);
    AWAIT(log_has("IP address mismatch"));
    assert_int_equal(server_restart(named), SERVER_OK);
    await_connection(zh);
    close_handle(zh);
}

/* -- what a handshake begins with ------------------------------------------ */

/* The ClientHello that has come, from its version on. */
static unsigned char hello[4096];
static size_t hello_size;

static void take_hello(const char *host)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unsigned char head[9]; /* of the record, and of the message */
    char hosts[64];
    zhandle_t *zh;
    int peer;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(hosts, sizeof(hosts), "%s:%d", host,
                   ntohs(address.sin_port));
    zh = open_handle(hosts, 0, NULL);
    peer = accept(fd, NULL, NULL);
    assert_int_equal(recv(peer, head, sizeof(head), MSG_WAITALL), sizeof(head));
    hello_size = (size_t)head[7] << 8 | head[8];
    assert_true(hello_size <= sizeof(hello));
    assert_int_equal(recv(peer, hello, hello_size, MSG_WAITALL), hello_size);
    (void)close(peer);
    (void)close(fd);
    close_handle(zh);
}

static size_t two_bytes(size_t at)
{
    assert_true(at + 2 <= hello_size);
    return (size_t)hello[at] << 8 | hello[at + 1];
}

/* Where the content of an extension begins; 0: there is none. Source: RFC 8446,
 * 4.1.2. */
static size_t find_extension(size_t type, size_t *ret_size)
{
    size_t at = 2 + 32;

    at += 1 + (size_t)hello[at]; /* the session */
    at += 2 + two_bytes(at);     /* the ciphers */
    at += 1 + (size_t)hello[at]; /* the compression */
    for (at += 2; at + 4 <= hello_size; at += 4 + two_bytes(at + 2)) {
        *ret_size = two_bytes(at + 2);
        if (two_bytes(at) == type)
            return at + 4;
    }
    return 0;
}

enum { SERVER_NAME = 0, SUPPORTED_VERSIONS = 43, TLS_1_2 = 0x0303 };

TEST(a_handshake_names_the_server)
{
    const char name[] = "localhost";
    size_t size;
    size_t at;

    take_hello("localhost");
    at = find_extension(SERVER_NAME, &size);
    assert_true(at != 0);
    assert_int_equal(size, 5 + strlen(name));
    assert_memory_equal(hello + at + 5, name, strlen(name));
    take_hello("127.0.0.1");
    assert_int_equal(find_extension(SERVER_NAME, &size), 0);
}

/* The configuration of main() allows them. */
TEST(a_handshake_offers_no_old_version)
{
    size_t size;
    size_t at;

    take_hello("127.0.0.1");
    at = find_extension(SUPPORTED_VERSIONS, &size);
    assert_true(at != 0);
    for (size_t i = 1; i + 1 < size; i += 2)
        assert_true(two_bytes(at + i) >= TLS_1_2);
}

/* -- SASL ------------------------------------------------------------------ */

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A server with TLS that knows the password of bob. */
static struct server *start_server_with_logins(void)
{
    static const char *const lines[] = {
        "authProvider.sasl=org.apache.zookeeper.server.auth."
        "SASLAuthenticationProvider",
        NULL
    };
    static char option[600];
    static const char *const options[] = { option, NULL };
    const struct server_opts opts = { .security = SERVER_TLS,
                                      .java_opts = options,
                                      .cfg_lines = lines };
    struct server *s = NULL;
    char name[512];

    (void)snprintf(name, sizeof(name), "%s/jaas.conf", server_keys());
    (void)snprintf(option, sizeof(option),
                   "-Djava.security.auth.login.config=%s", name);
    write_file(name, "Server { org.apache.zookeeper.server.auth."
                     "DigestLoginModule required user_" SERVER_SASL_USER
                     "=\"" SERVER_SASL_PASSWORD "\"; };\n");
    assert_int_equal(server_start(&opts, &s), SERVER_OK);
    return s;
}

static zhandle_t *log_in(const struct server *s, const char *password,
                         sasl_callback_t **ret_callbacks)
{
    zoo_sasl_params_t params = { .service = "zookeeper",
                                 .host = "zk-sasl-md5",
                                 .mechlist = "DIGEST-MD5" };
    char name[512];

    (void)snprintf(name, sizeof(name), "%s/password", server_keys());
    write_file(name, password);
    *ret_callbacks =
        zoo_sasl_make_basic_callbacks(SERVER_SASL_USER, NULL, name);
    assert_non_null(*ret_callbacks);
    params.callbacks = *ret_callbacks;
    return open_handle(server_secure_hosts(s), 0, &params);
}

TEST(a_login_over_tls)
{
    struct ACL bob = { ZOO_PERM_ALL, { "sasl", SERVER_SASL_USER } };
    struct ACL_vector acl = { 1, &bob };
    struct server *s = start_server_with_logins();
    sasl_callback_t *callbacks;
    zhandle_t *zh = log_in(s, SERVER_SASL_PASSWORD, &callbacks);
    char data[8];
    int size = sizeof(data);

    await_connection(zh);
    assert_int_equal(zoo_create(zh, "/bobs", "x", 1, &acl, 0, NULL, 0), ZOK);
    assert_int_equal(zoo_get(zh, "/bobs", 0, data, &size, NULL), ZOK);
    close_handle(zh);
    free(callbacks);
    zh = log_in(s, "wrong", &callbacks);
    AWAIT(zoo_state(zh) == ZOO_AUTH_FAILED_STATE);
    close_handle(zh);
    free(callbacks);
    server_stop(s);
}

/* -- all of them ----------------------------------------------------------- */

static struct server *start_server_as(const char *store)
{
    char line[600];
    const char *const lines[] = { line, NULL };
    const struct server_opts opts = { .security = SERVER_TLS,
                                      .cfg_lines = lines };
    struct server *s = NULL;

    (void)snprintf(line, sizeof(line), "ssl.keyStore.location=%s/%s.p12",
                   server_keys(), store);
    return server_start(&opts, &s) == SERVER_OK ? s : NULL;
}

/* OpenSSL reads it when it is used first. */
static bool allow_old_versions(void)
{
    char name[512];
    FILE *file;

    (void)snprintf(name, sizeof(name), "%s/openssl.cnf", server_keys());
    file = fopen(name, "we");
    if (file == NULL)
        return false;
    (void)fputs("openssl_conf = all\n[all]\nssl_conf = ssl\n"
                "[ssl]\nsystem_default = ours\n"
                "[ours]\nMinProtocol = TLSv1\n"
                "CipherString = DEFAULT:@SECLEVEL=0\n",
                file);
    return fclose(file) == 0 && setenv("OPENSSL_CONF", name, 1) == 0;
}

static int run_group(void)
{
    int failed = 1;

    elsewhere = start_server_as("elsewhere");
    named = start_server_as("named");
    if (elsewhere != NULL && named != NULL && allow_old_versions() &&
        sasl_client_init(NULL) == SASL_OK)
        failed = test_run_all();
    server_stop(named);
    server_stop(elsewhere);
    return failed;
}

int main(void)
{
    const struct server_opts opts = { .security = SERVER_TLS };

    return run_with_server(&opts, run_group);
}
