/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with a name server that does not answer: it delays the opening of a
 * connection, and nothing else. Deadlines once waited for it. */
#include "fixture.h"

#include <dlfcn.h>
#include <netdb.h>

#include "session/session.h"

enum { SLOW_MS = 4000, VERY_SLOW_MS = 12000, DEADLINE_MS = 300 };
enum { CLOSE_MS = 6000, LATE_MS = 1500 };

/* It is slow for one thread, or for all but one. */
static enum { NOBODY, ONE, OTHERS } slow_for;
static pthread_t slow_thread;
static atomic_int slow_ms = SLOW_MS;
static atomic_int asked;
static pthread_mutex_t slow_lock = PTHREAD_MUTEX_INITIALIZER;

static void make_slow(int whom, pthread_t thread)
{
    (void)pthread_mutex_lock(&slow_lock);
    slow_for = whom;
    slow_thread = thread;
    (void)pthread_mutex_unlock(&slow_lock);
}

static bool is_slow(void)
{
    (void)pthread_mutex_lock(&slow_lock);
    bool slow =
        slow_for != NOBODY &&
        (slow_for == ONE) == (pthread_equal(slow_thread, pthread_self()) != 0);
    (void)pthread_mutex_unlock(&slow_lock);
    return slow;
}

typedef int (*resolver)(const char *, const char *, const struct addrinfo *,
                        struct addrinfo **);

/* Takes the place of the C library's, for the client too. */
int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **ret_info)
{
    void *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    resolver real;

    memcpy(&real, &symbol, sizeof(real)); /* as POSIX has it */
    if (is_slow()) {
        int64_t end_ms = now_ms() + atomic_load(&slow_ms);

        (void)atomic_fetch_add(&asked, 1);
        while (is_slow() && now_ms() < end_ms)
            sleep_ms(5);
    }
    return real(node, service, hints, ret_info);
}

TEST(deadlines_do_not_wait_for_a_name_server)
{
    AUTO(recorder) r = recorder_new();
    OPEN_MUTEX(s, m);
    AUTO(grant) held = acquire(m);

    make_slow(ONE, s->connector);
    struct stopwatch *w = stopwatch_start();
    ok(zkr_mutex_acquire_async(m, DEADLINE_MS, record_acquire, r, NULL));
    expire(s);
    assert_int_equal(recorded(r, 0), ZKR_ETIMEDOUT);
    assert_true(stopwatch_says(w, DEADLINE_MS, SLOW_MS / 2));
    make_slow(NOBODY, pthread_self());
    wait_session_state(s, ZKR_SESSION_RECONNECTED); /* the server is told */
}

/* The thread that was left behind ends when the name server has answered. */
TEST(an_open_does_not_wait_for_a_name_server)
{
    zkr_session *s = NULL;
    int threads = count_threads();

    make_slow(OTHERS, pthread_self());
    struct stopwatch *w = stopwatch_start();
    assert_true(zkr_session_open(
                    server_hosts(the_server),
                    OPTS(session, .connect_timeout_ms = DEADLINE_MS), &s) < 0);
    assert_true(stopwatch_says(w, DEADLINE_MS,
                               server_security(the_server) == SERVER_TLS
                                   ? DEADLINE_MS + 2500 /* as documented */
                                   : SLOW_MS / 2));
    make_slow(NOBODY, pthread_self());
    AWAIT(count_threads() <= threads);
}

/* The connector is waiting for the name server when the session is closed. */
TEST(a_close_does_not_wait_for_a_name_server)
{
    AUTO(recorder) r = recorder_new();
    int threads = count_threads();
    zkr_session *s = open_session();
    AUTO(mutex) m = new_mutex(s, new_path());
    AUTO(grant) held = acquire(m);

    atomic_store(&slow_ms, VERY_SLOW_MS);
    make_slow(ONE, s->connector);
    atomic_store(&asked, 0);
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    expire(s);
    AWAIT(atomic_load(&asked) > 0);
    struct stopwatch *w = stopwatch_start();
    ok(zkr_session_close(s));
    assert_true(stopwatch_says(w, 0, CLOSE_MS + LATE_MS));
    assert_int_equal(recorder_count(r), 1); /* told once, before the end */
    assert_int_equal(recorded(r, 0), ZKR_ECLOSED);
    make_slow(NOBODY, pthread_self());
    AWAIT(count_threads() <= threads);
}

/* Regression: the connector asked the name server for a scout, and the close of
 * a suspended session waited for both. The second time the old handle is
 * connected again when the session is closed, so the server is told. */
TEST(a_close_does_not_wait_for_a_scout)
{
    atomic_store(&slow_ms, VERY_SLOW_MS);
    for (int round = 0; round < 2; round++) {
        int threads = count_threads();
        zkr_session *s = open_session();

        make_slow(ONE, s->connector);
        atomic_store(&asked, 0);
        server_kill9(the_server);
        AWAIT(atomic_load(&asked) > 0);
        if (round == 1) {
            ok(server_restart(the_server));
            wait_session_state(s, ZKR_SESSION_RECONNECTED);
        }
        struct stopwatch *w = stopwatch_start();
        assert_int_equal(zkr_session_close(s),
                         round == 0 ? ZKR_EPENDING : ZKR_OK);
        assert_true(stopwatch_says(w, 0, CLOSE_MS + LATE_MS));
        make_slow(NOBODY, pthread_self());
        AWAIT(count_threads() <= threads);
        if (round == 0)
            assert_int_equal(server_restart(the_server), SERVER_OK);
    }
}
