/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of TLS in the ZooKeeper client that tools/build-client.sh builds, where
 * a patch of tools/client/ has changed it: by the client's own calls. */
#include "fixture.h"

#include <fcntl.h>

#include <sys/socket.h>

#include "net.h"
#include "secured.h"

/* -- handles --------------------------------------------------------------- */

/* The session outlives the restart of its server, on a busy machine, too. */
#define LONG_SESSION_MS 30000
static char log_text[65536]; /* under log_lock: of the handle under test */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_log(const char *line)
{
    (void)pthread_mutex_lock(&log_lock);
    size_t used = strlen(log_text);
    (void)snprintf(log_text + used, sizeof(log_text) - used, "%s\n", line);
    (void)pthread_mutex_unlock(&log_lock);
}

static int count_lines(const char *word)
{
    int count = 0;

    (void)pthread_mutex_lock(&log_lock);
    for (const char *at = log_text; (at = strstr(at, word)) != NULL; at++)
        count++;
    (void)pthread_mutex_unlock(&log_lock);
    return count;
}

static zhandle_t *open_handle(const char *hosts)
{
    const char *dir = server_keys();

    (void)pthread_mutex_lock(&log_lock);
    log_text[0] = '\0';
    (void)pthread_mutex_unlock(&log_lock);
    zhandle_t *zh = zookeeper_init_secure(
        hosts,
        textf("%s/ca.pem,%s/client.pem,%s/client.key,none", dir, dir, dir),
        NULL, LONG_SESSION_MS, NULL, NULL, ZOO_NO_LOG_CLIENTENV, on_log, NULL);
    assert_non_null(zh);
    return zh;
}

/* -- the log --------------------------------------------------------------- */

/* Regression: a session over TLS could print a line of the client to stderr. */
TEST(nothing_is_printed)
{
    int before = dup(STDERR_FILENO);

    int fd = open(textf("%s/printed", server_keys()),
                  O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && before >= 0);
    (void)dup2(fd, STDERR_FILENO);
    zhandle_t *zh = open_handle(server_secure_hosts(the_server));
    while (zoo_state(zh) != ZOO_CONNECTED_STATE)
        sleep_ms(2);
    (void)zookeeper_close(zh);
    (void)dup2(before, STDERR_FILENO);
    (void)close(before);
    assert_int_equal(lseek(fd, 0, SEEK_END), 0);
    (void)close(fd);
    assert_true(count_lines("Initiating client connection") > 0);
}

TEST(files_that_are_not_all_there_make_no_handle)
{
    assert_null(zookeeper_init_secure("127.0.0.1:1", "ca,cert", NULL,
                                      SESSION_MS, NULL, NULL, 0, on_log, NULL));
}

/* -- the servers of a list ------------------------------------------------ */

/* Regression: with two, one of them was tried for ever, without a pause, and
 * the other one never again (ZOOKEEPER-2466). */
TEST(each_server_has_its_turn)
{
    for (int i = 0; i < 2; i++) {
        const char *secure = server_secure_hosts(the_server);
        const char *hosts = textf("%s%s%s", i == 0 ? "127.0.0.1:1," : "",
                                  secure, i == 0 ? "" : ",127.0.0.1:1");

        zoo_deterministic_conn_order(1);
        zhandle_t *zh = open_handle(hosts);
        zoo_deterministic_conn_order(0);
        AWAIT(zoo_state(zh) == ZOO_CONNECTED_STATE);
        server_kill9(the_server);
        AWAIT(count_lines("Socket 127.0.0.1:1 ") > 1 &&
              count_lines("Delaying") > 0);
        assert_true(count_lines(" zk retcode=") < 12);
        restart_server();
        AWAIT(zoo_state(zh) == ZOO_CONNECTED_STATE);
        (void)zookeeper_close(zh);
    }
}

/* -- what a handshake begins with ------------------------------------------ */

/* The ClientHello that has come, from its version on. */
static unsigned char hello[4096];
static size_t hello_size;

static void take_hello(const char *host)
{
    char address[NET_ADDRESS];
    int fd = net_listen(address);
    unsigned char head[9]; /* of the record, and of the message */

    assert_true(fd >= 0);
    zhandle_t *zh = open_handle(textf("%s%s", host, strchr(address, ':')));
    int peer = accept(fd, NULL, NULL);
    assert_int_equal(recv(peer, head, sizeof(head), MSG_WAITALL), sizeof(head));
    hello_size = (size_t)head[7] << 8 | head[8];
    assert_true(hello_size <= sizeof(hello));
    assert_int_equal(recv(peer, hello, hello_size, MSG_WAITALL), hello_size);
    (void)close(peer);
    (void)close(fd);
    (void)zookeeper_close(zh);
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

/* The configuration of run_group() allows old versions. */
TEST(a_handshake_names_the_server_and_offers_no_old_version)
{
    const char name[] = "localhost";
    size_t size;

    take_hello("localhost");
    size_t at = find_extension(SERVER_NAME, &size);
    assert_true(at != 0);
    assert_int_equal(size, 5 + strlen(name));
    assert_memory_equal(hello + at + 5, name, strlen(name));
    take_hello("127.0.0.1");
    assert_int_equal(find_extension(SERVER_NAME, &size), 0);
    at = find_extension(SUPPORTED_VERSIONS, &size);
    assert_true(at != 0);
    for (size_t i = 1; i + 1 < size; i += 2)
        assert_true(two_bytes(at + i) >= TLS_1_2);
}

/* -- all of them ----------------------------------------------------------- */

/* OpenSSL reads it when it is used first. */
static int run_group(void)
{
    const char *name = textf("%s/openssl.cnf", server_keys());

    FILE *file = fopen(name, "we");
    if (file == NULL)
        return 1;
    (void)fputs("openssl_conf = all\n[all]\nssl_conf = ssl\n"
                "[ssl]\nsystem_default = ours\n"
                "[ours]\nMinProtocol = TLSv1\n"
                "CipherString = DEFAULT:@SECLEVEL=0\n",
                file);
    if (fclose(file) != 0 || setenv("OPENSSL_CONF", name, 1) != 0)
        return 1;
    return test_run_all();
}

int main(void)
{
    const struct server_opts opts = { .security = SERVER_TLS };

    return run_with_server(&opts, run_group);
}
