/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with many claims: a claim that is given up leaves nothing behind
 * anywhere, and a release wakes only one of all waiters.
 *
 * ZKR_CLAIMS is the number of claims, ZKR_QUEUES that of queues. */
#include "fixture.h"

#include <malloc.h>

#include "cluster.h"

enum {
    SMOKE_CLAIMS = 1000,
    SMOKE_QUEUES = 2,
    WAITERS = 50,
    WARM_UP = 200,
    GROWTH_MAX = 64 * 1024, /* bytes; nothing that grows with the claims */
};

/* -- leaks ---------------------------------------------------------------- */

struct stock {
    int threads;
    int fds;
    int watches; /* on the server */
    int ephemerals;
    size_t bytes;
};

static struct stock take_stock(void)
{
    return (struct stock){ .threads = count_threads(),
                           .fds = count_fds(),
                           .watches = server_watch_count(the_server),
                           .ephemerals = server_ephemerals_count(the_server),
                           .bytes = mallinfo2().uordblks };
}

/* The cancel meets a claim not sent, creating, listing, waiting or granted. */
static void acquire_and_cancel(zkr_mutex *m, int pause_us)
{
    AUTO(recorder) r = recorder_new();
    struct timespec ts = { 0, pause_us * 1000L };

    AUTO(request) request =
        MADE(request, mutex_acquire_async, m, -1, record_acquire, r);
    (void)nanosleep(&ts, NULL);
    ok(zkr_request_cancel(request));
    if (recorded(r, 0) == ZKR_OK)
        zkr_grant_free(recorded_grant(r, 0));
    else
        assert_int_equal(recorded(r, 0), ZKR_ECANCELED);
}

static void claim_many(zkr_mutex *held, zkr_mutex *available, int count)
{
    for (int i = 0; i < count; i++) {
        switch (i % 4) {
        case 0:
            acquire_and_cancel(held, i % 3000);
            break;
        case 1:
            acquire_and_cancel(available, i % 1500);
            break;
        case 2:
            assert_int_equal(zkr_mutex_acquire(held, 1 + i % 3, &nil),
                             ZKR_ETIMEDOUT);
            break;
        default:
            release(acquire(available));
        }
    }
}

TEST(claims_given_up_leave_nothing)
{
    int count = number_from("ZKR_CLAIMS", SMOKE_CLAIMS);
    zkr_session *a = open_session();
    zkr_session *b = open_session();
    const char *path = new_path();
    zkr_mutex *holder = new_mutex(a, path);
    zkr_mutex *held = new_mutex(b, path);
    zkr_mutex *available = new_mutex(b, new_path());
    zkr_grant *g = acquire(holder);

    claim_many(held, available, WARM_UP);
    sleep_ms(200); /* the holder watches its own node by now */
    settle(b);
    struct stock before = take_stock();
    claim_many(held, available, count);
    settle(b);
    /* Watches of the warm-up may still be there when stock is taken. */
    struct stock after;
    if (!COMES((after = take_stock()).watches <= before.watches &&
                   after.ephemerals == before.ephemerals,
               SOON_MS))
        fail_msg("watches %d, were %d; ephemerals %d, were %d", after.watches,
                 before.watches, after.ephemerals, before.ephemerals);
    printf("%d claims: threads %+d, descriptors %+d, watches %+d, ephemerals "
           "%+d, bytes allocated %+ld\n",
           count, after.threads - before.threads, after.fds - before.fds,
           after.watches - before.watches, after.ephemerals - before.ephemerals,
           (long)after.bytes - (long)before.bytes);
    assert_int_equal(after.threads, before.threads);
    assert_int_equal(after.fds, before.fds);
    assert_true(after.bytes < before.bytes + GROWTH_MAX);
    release(g);
    zkr_mutex_free(holder);
    zkr_mutex_free(held);
    zkr_mutex_free(available);
    close_session(a);
    close_session(b);
    assert_int_equal(server_ephemerals_count(the_server), 0);
    assert_int_equal(server_watch_count(the_server), 0);
}

/* -- wake-ups ------------------------------------------------------------- */

static struct proxy *proxy;
static zkr_session *sessions[WAITERS];
static zkr_mutex *mutexes[WAITERS];
static struct recorder *outcomes[WAITERS];

static void queue_up(const char *path)
{
    for (size_t i = 0; i < WAITERS; i++) {
        outcomes[i] = recorder_new();
        ok(zkr_mutex_acquire_async(mutexes[i], -1, record_acquire, outcomes[i],
                                   NULL));
        wait_children(path, i + 2);
        settle(sessions[i]);
    }
}

static size_t granted(void)
{
    size_t count = 0;

    for (int i = 0; i < WAITERS; i++)
        count += recorder_count(outcomes[i]);
    return count;
}

/* Each release grants the next; `worst_ms` is the longest time that it took. */
static void drain(zkr_grant *g, int64_t *worst_ms)
{
    for (int i = 0; i < WAITERS; i++) {
        int64_t start = now_ms();

        ok(zkr_grant_release_async(g, NULL, NULL));
        zkr_grant_free(g);
        assert_int_equal(recorded(outcomes[i], 0), ZKR_OK);
        int64_t took_ms = now_ms() - start;
        assert_int_equal(granted(), i + 1);
        if (took_ms > *worst_ms)
            *worst_ms = took_ms;
        g = recorded_grant(outcomes[i], 0);
    }
    release(g);
}

/* A waiter that wakes lists the directory, and only then is granted the lock
 * or watches another. */
TEST(a_release_wakes_one_of_fifty)
{
    int queues = number_from("ZKR_QUEUES", SMOKE_QUEUES);
    AUTO(session) first = open_session();
    const char *path = new_path();
    AUTO(mutex) holder = new_mutex(first, path);
    int64_t worst_ms = 0;
    long deletes = WAITERS;
    long lists = 0;

    ok(admin_create(admin, path, NULL));
    ok(proxy_start(server_hosts(the_server), &proxy));
    for (int i = 0; i < WAITERS; i++) { /* no beat of a lease in between */
        sessions[i] = open_to(proxy_hosts(proxy),
                              OPTS(session, .session_timeout_ms = 30000));
        mutexes[i] = new_mutex(sessions[i], path);
    }
    for (int i = 0; i < queues; i++) {
        zkr_grant *g = acquire(holder);

        queue_up(path);
        proxy_reset_counts(proxy);
        drain(g, &worst_ms);
        AWAIT(proxy_requests(proxy, ZOO_DELETE_OP) == deletes);
        lists += proxy_requests(proxy, ZOO_GETCHILDREN2_OP);
        assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 0);
        assert_int_equal(proxy_requests(proxy, ZOO_EXISTS_OP), 0);
        for (int j = 0; j < WAITERS; j++)
            recorder_free(outcomes[j]);
    }
    printf("%d releases, %ld lists; the next was granted after %lld ms at "
           "most\n",
           queues * WAITERS, lists, (long long)worst_ms);
    /* one for each, but not for the first: nobody but the holder is ahead */
    assert_in_range(lists, queues * (WAITERS - 1), queues * WAITERS);
    for (int i = 0; i < WAITERS; i++) {
        zkr_mutex_free(mutexes[i]);
        close_session(sessions[i]);
    }
    proxy_stop(proxy);
}
