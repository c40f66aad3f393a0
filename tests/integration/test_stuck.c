/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with servers that fall silent where the client waits for them without a
 * limit, and with a client that never finishes to close a handle: neither a
 * close nor an open may wait for it. */
#include "fixture.h"

#include <sys/socket.h>

#include "net.h"

enum {
    CONNECT_MS = 1500,
    CLOSE_MS = 6000,
    STUCK_MS = 4750, /* then a handle is left behind */
    LATE_MS = 1500,
    CLIENTS = 64,
};

/* -- a client that hangs -------------------------------------------------- */

static atomic_int hanging; /* how many of the next calls do */
static atomic_bool let_go;

__typeof__(zookeeper_close) __real_zookeeper_close, __wrap_zookeeper_close;

int __wrap_zookeeper_close(struct _zhandle *zh)
{
    if (atomic_fetch_sub(&hanging, 1) > 0) {
        while (!atomic_load(&let_go))
            sleep_ms(2);
    }
    return __real_zookeeper_close(zh);
}

static void let_hang(int count)
{
    atomic_store(&let_go, count == 0);
    atomic_store(&hanging, count);
}

TEST(a_close_does_not_wait_for_a_client_that_hangs)
{
    let_hang(2);
    for (unsigned i = 1; i <= 2; i++) {
        zkr_session *s = open_session();
        AUTO(mutex) m = new_mutex(s, new_path());
        AUTO(grant) g = acquire(m);
        struct stopwatch *w = stopwatch_start();

        assert_int_equal(zkr_session_close(s), ZKR_EPENDING);
        assert_true(stopwatch_says(w, STUCK_MS, CLOSE_MS + LATE_MS));
        assert_int_equal(zkr_session_stuck_handles(), i);
        assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    }
    let_hang(0);
    AWAIT(zkr_session_stuck_handles() == 0);
}

TEST(a_session_goes_on_when_a_handle_is_stuck)
{
    OPEN_MUTEX(s, m);

    let_hang(2);
    for (unsigned i = 1; i <= 2; i++) {
        AUTO(grant) g = acquire(m);

        expire_and_wait(s);
        assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
        release(acquire(m));
        assert_int_equal(zkr_session_stuck_handles(), i);
    }
    let_hang(0);
    AWAIT(zkr_session_stuck_handles() == 0);
}

/* -- a server that says that it only reads, and then nothing -------------- */

/* The client makes a second connection to such a server, asks whether others
 * are better, and waits for the answer without a limit, on the thread that a
 * close waits for. */
struct mute {
    int fd;
    int clients[CLIENTS];
    int client_count;
    pthread_t thread;
};

static void *mute_main(void *arg)
{
    static const unsigned char answer[] = {
        0, 0, 0, 37,              /* length */
        0, 0, 0, 0,               /* version */
        0, 0, 7, 208,             /* timeout: 2000 ms */
        1, 2, 3, 4,   5, 6, 7, 8, /* session */
        0, 0, 0, 16,              /* password */
        1, 2, 3, 4,   5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 1, /* it only reads */
    };
    unsigned char request[64];
    struct mute *m = arg;
    int fd;

    while (m->client_count < CLIENTS &&
           (fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        m->clients[m->client_count++] = fd;
        if (recv(fd, request, sizeof(request), 0) > 4)
            (void)!send(fd, answer, sizeof(answer), MSG_NOSIGNAL);
    }
    return NULL;
}

TEST(an_open_leaves_nothing_at_a_server_that_falls_silent)
{
    char hosts[NET_ADDRESS];
    struct mute m = { .fd = net_listen(hosts) };

    assert_true(m.fd >= 0);
    m.thread = thread_start(mute_main, &m);
    int threads = count_threads();
    open_fails(hosts,
               OPTS(session, .session_timeout_ms = SESSION_MS,
                    .connect_timeout_ms = CONNECT_MS),
               CONNECT_MS + 500 + LATE_MS, ZKR_ENOTZK, hosts);
    /* The server still has all connections at that time. */
    AWAIT(count_threads() <= threads);
    assert_int_equal(zkr_session_stuck_handles(), 0);
    (void)shutdown(m.fd, SHUT_RDWR);
    thread_join(m.thread);
    (void)close(m.fd);
    for (int i = 0; i < m.client_count; i++)
        (void)close(m.clients[i]);
}

static void turn_read_only(struct proxy *proxy)
{
    proxy_rule(proxy, PROXY_CONNECT, 1, PROXY_READ_ONLY);
    proxy_cut(proxy);
    proxy_heal(proxy);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
}

/* Regression: it was taken for a lost connection, and no other one was made. */
TEST(a_session_does_not_stay_with_a_server_that_only_reads)
{
    struct proxy *proxy;

    zkr_session *s = open_through(&proxy, NULL);
    AUTO(mutex) m = new_mutex(s, new_path());
    for (unsigned i = 0; i < 2; i++) {
        AUTO(grant) g = acquire(m);

        turn_read_only(proxy);
        wait_grant_state(g, ZKR_GRANT_LOST);
        await_epoch(s, i + 2);
        release(acquire(m));
    }
    turn_read_only(proxy);
    proxy_freeze(proxy);
    struct stopwatch *w = stopwatch_start();
    int rc = zkr_session_close(s);
    assert_true(stopwatch_says(w, 0, CLOSE_MS + LATE_MS));
    assert_true(rc == ZKR_EPENDING || rc == ZKR_OK);
    proxy_stop(proxy);
    AWAIT(zkr_session_stuck_handles() == 0);
}
