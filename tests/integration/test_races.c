/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of races: a claim that is given up while it is granted, and sessions
 * that end under many threads. Whichever happens first, there is one outcome,
 * and no thread hangs. ZKR_RACE_SECONDS makes each of the first two last at
 * least so long. */
#include "fixture.h"

static bool goes_on(int64_t start, size_t done, size_t least)
{
    return done < least ||
           now_ms() < start + test_number("ZKR_RACE_SECONDS", 0) * 1000;
}

enum { LANES = 10, ROUNDS = 1000, KILLERS = 24, EXPIRIES = 200, GRANTS = 100 };

struct lane {
    pthread_t thread;
    unsigned seed;
    zkr_mutex *holder; /* of one session */
    zkr_mutex *rival;  /* of another */
    struct recorder *outcomes;
    size_t rounds;
    int granted, given_up, wrong;
};

static void count_outcome(struct lane *l, int code, zkr_grant *g)
{
    switch (code) {
    case ZKR_OK:
        l->granted++;
        l->wrong += zkr_grant_check(g) != ZKR_OK;
        l->wrong += zkr_grant_release(g) != ZKR_OK;
        zkr_grant_free(g);
        break;
    case ZKR_ETIMEDOUT:
    case ZKR_ECANCELED:
        l->given_up++;
        break;
    default:
        l->wrong++;
    }
}

static void race_once(struct lane *l, size_t round)
{
    bool cancels = rand_r(&l->seed) % 2 == 0;
    zkr_request *request = NULL;
    zkr_grant *g = NULL;
    int64_t value = 0;
    int code = 0;

    if (zkr_mutex_acquire(l->holder, SOON_MS, &g) != ZKR_OK ||
        zkr_mutex_acquire_async(
            l->rival, cancels ? -1 : 1 + rand_r(&l->seed) % 5, record_acquire,
            l->outcomes, &request) != ZKR_OK) {
        l->wrong++;
        return;
    }
    (void)usleep((useconds_t)rand_r(&l->seed) % 3001);
    l->wrong += zkr_grant_release_async(g, NULL, NULL) != ZKR_OK;
    zkr_grant_free(g);
    (void)usleep((useconds_t)rand_r(&l->seed) % 3001);
    if (cancels)
        l->wrong += zkr_request_cancel(request) != ZKR_OK;
    zkr_request_free(request);
    if (!recorder_wait(l->outcomes, round + 1, SOON_MS) ||
        !recorder_get(l->outcomes, round, &code, &value)) {
        l->wrong++;
        return;
    }
    count_outcome(l, code, (zkr_grant *)(intptr_t)value);
}

static void *lane_main(void *arg)
{
    struct lane *l = arg;
    int64_t start = now_ms();

    while (goes_on(start, l->rounds, ROUNDS) && l->wrong == 0)
        race_once(l, l->rounds++);
    return NULL;
}

TEST(giving_up_and_being_granted_at_once_has_one_outcome)
{
    AUTO(session) a = open_session();
    AUTO(session) b = open_session();
    struct lane lanes[LANES];
    size_t rounds = 0;
    int granted = 0, given_up = 0;

    for (unsigned i = 0; i < LANES; i++) {
        const char *path = new_path();

        lanes[i] = (struct lane){ .seed = i + 1,
                                  .holder = new_mutex(a, path),
                                  .rival = new_mutex(b, path),
                                  .outcomes = recorder_new() };
        lanes[i].thread = thread_start(lane_main, &lanes[i]);
    }
    for (int i = 0; i < LANES; i++) {
        struct lane *l = &lanes[i];

        thread_join(l->thread);
        assert_int_equal(l->wrong, 0);
        assert_int_equal(recorder_count(l->outcomes), l->rounds);
        rounds += l->rounds;
        granted += l->granted;
        given_up += l->given_up;
        wait_children(zkr_lockable_path(l->holder), 0);
        zkr_mutex_free(l->holder);
        zkr_mutex_free(l->rival);
        recorder_free(l->outcomes);
    }
    assert_int_equal(granted + given_up, rounds);
    /* Otherwise it was no race. */
    assert_true(granted > 50);
    assert_true(given_up > 50);
}

struct storm {
    zkr_mutex *mutexes[3];
    atomic_bool stop;
    atomic_int turn;
    atomic_int grants;
    atomic_int wrong; /* an outcome that should not be */
};

/* Any of these is right while sessions end; hanging is not. */
static void judge(struct storm *storm, int rc)
{
    if (rc != ZKR_OK && rc != ZKR_ETIMEDOUT && rc != ZKR_EBUSY &&
        rc != ZKR_ELOST && rc != ZCONNECTIONLOSS && rc != ZOPERATIONTIMEOUT &&
        rc != ZKR_EPENDING)
        atomic_store(&storm->wrong, rc);
}

static int storm_main(void *arg)
{
    static const int64_t timeouts[] = { -1, 200, 5000, 0 };
    struct storm *storm = arg;

    while (!atomic_load(&storm->stop)) {
        int turn = atomic_fetch_add(&storm->turn, 1);
        AUTO(grant) g = NULL;
        int rc =
            zkr_mutex_acquire(storm->mutexes[turn % 3], timeouts[turn % 4], &g);

        judge(storm, rc);
        if (rc != ZKR_OK)
            continue;
        storm->grants++;
        judge(storm, zkr_grant_release(g));
    }
    return 0;
}

/* Synchronous calls of the client hang here (ZOOKEEPER-2802). */
TEST(sessions_that_end_under_24_threads_leave_none_hanging)
{
    AUTO(session) s = open_session();
    struct storm storm = { .wrong = 0 };
    struct caller callers[KILLERS];
    int64_t start = now_ms();

    for (int i = 0; i < 3; i++)
        storm.mutexes[i] = new_mutex(s, new_path());
    for (int i = 0; i < KILLERS; i++)
        call_start(&callers[i], storm_main, &storm);
    /* A busy machine may need more of them for that many grants. */
    for (size_t i = 0; goes_on(start, i, EXPIRIES) ||
                       (storm.grants <= GRANTS && i < 10 * EXPIRIES);
         i++) {
        expire(s);
        if (!COMES(zkr_session_epoch(s) >= i + 2 && zkr_session_id(s) != 0,
                   SOON_MS))
            fail_msg("no new session after expiry %zu", i + 1);
    }
    atomic_store(&storm.stop, true);
    for (int i = 0; i < KILLERS; i++)
        ok(call_join(&callers[i]));
    assert_int_equal(storm.wrong, 0);
    assert_true(storm.grants > GRANTS);
    for (int i = 0; i < 3; i++) {
        wait_children(zkr_lockable_path(storm.mutexes[i]), 0);
        zkr_mutex_free(storm.mutexes[i]);
    }
}

struct closing {
    zkr_mutex *mutex;
    atomic_int ended;
    atomic_int wrong;
};

static void *until_closed(void *arg)
{
    struct closing *c = arg;
    int rc;

    do {
        AUTO(grant) g = NULL;

        rc = zkr_mutex_acquire(c->mutex, -1, &g);
        if (rc == ZKR_OK)
            (void)zkr_grant_release(g);
    } while (rc == ZKR_OK);
    c->wrong += rc != ZKR_ECLOSED;
    c->ended++;
    return NULL;
}

TEST(closing_under_load_ends_every_wait)
{
    enum { N = 8 };

    for (int round = 0; round < 20; round++) {
        zkr_session *s = open_session();
        struct closing c = { .mutex = new_mutex(s, new_path()) };
        pthread_t threads[N];

        for (int i = 0; i < N; i++)
            threads[i] = thread_start(until_closed, &c);
        sleep_ms(round);
        close_session(s);
        for (int i = 0; i < N; i++)
            thread_join(threads[i]);
        assert_int_equal(c.ended, N);
        assert_int_equal(c.wrong, 0);
        zkr_mutex_free(c.mutex);
    }
}
