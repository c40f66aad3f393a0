/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with sessions that the server ends under 24 threads, again and again:
 * every call returns, with a right answer. In ZOOKEEPER-2802 some never do.
 *
 * ZKR_RACES is the number of expiries; ZKR_SEED repeats the choices of a run.
 */
#include "cluster.h"
#include "oracle.h"

#define MS 1000000LL

enum {
    THREADS = 24,
    SESSIONS = 4, /* the first alone in every other round */
    LOCKS = 3,
    OPERATION_MS = 2000, /* the longest deadline of an operation */
    BACK_MS = 5000,      /* after an expiry, whatever they were doing */
    HANG_MS = 60000,
    SMOKE = 60,
};

struct racer {
    pthread_t thread;
    unsigned seed;
    int number;
    _Atomic(const char *) doing;
};

static zkr_session *sessions[SESSIONS];
static zkr_mutex *mutexes[SESSIONS][LOCKS];
static struct oracle *oracles[LOCKS];
static char paths[LOCKS][64];
static struct racer racers[THREADS];

/* A thread that comes back waits here for the next round; 0: it was the
 * last. */
static pthread_barrier_t gate;
static int round_number;
static atomic_int back;
static atomic_bool is_open;

static atomic_int wrong;
static atomic_int grants;
static atomic_int losses;

static void expect(bool right, const char *what, int rc)
{
    if (right)
        return;
    (void)fprintf(stderr, "%s: %s (%s)\n", what, zkr_strerror(rc),
                  rc == ZKR_OK ? "" : zkr_error_detail());
    wrong++;
}

static int random_up_to(struct racer *r, int n)
{
    return rand_r(&r->seed) % (n + 1);
}

static int session_of(const struct racer *r, int number)
{
    return number % 2 == 0 ? 0 : 1 + r->number % (SESSIONS - 1);
}

/* A grant is held, lost, or `other`, the code of a call that did not learn
 * which; a lost one stays lost, whichever thread asks. */
static void expect_state(bool *lost, int rc, int other, const char *what)
{
    expect(rc == ZKR_ELOST || (!*lost && (rc == ZKR_OK || rc == other)), what,
           rc);
    *lost = *lost || rc == ZKR_ELOST;
}

static void use(struct racer *r, zkr_grant *g)
{
    bool lost = false;

    if (random_up_to(r, 1) == 0) {
        atomic_store(&r->doing, "verify");
        expect_state(&lost, zkr_grant_verify(g, OPERATION_MS), ZKR_EUNSURE,
                     "verify");
    }
    sleep_ms(random_up_to(r, 2));
    expect_state(&lost, zkr_grant_check(g), ZKR_EUNSURE, "check");
    atomic_store(&r->doing, "release");
    if (random_up_to(r, 7) != 0)
        expect_state(&lost, zkr_grant_release(g), ZKR_EPENDING, "release");
    zkr_grant_free(g);
    losses += lost;
}

static void acquire_and_use(struct racer *r, int number)
{
    static const int64_t timeouts[] = { -1, OPERATION_MS, 100, 0 };
    int64_t timeout_ms = timeouts[random_up_to(r, 3)];
    int lock = random_up_to(r, LOCKS - 1);
    zkr_grant *g = NULL;

    atomic_store(&r->doing, "acquire");
    int rc =
        zkr_mutex_acquire(mutexes[session_of(r, number)][lock], timeout_ms, &g);
    if (rc == ZKR_OK) {
        oracle_granted(oracles[lock], g);
        grants++;
        use(r, g);
    } else if (timeout_ms == 0) {
        expect(rc == ZKR_EBUSY || rc == ZKR_ELOST || rc == ZCONNECTIONLOSS ||
                   rc == ZOPERATIONTIMEOUT,
               "try", rc);
    } else {
        expect(timeout_ms > 0 && rc == ZKR_ETIMEDOUT, "acquire", rc);
    }
}

static void list(struct racer *r, int number)
{
    AUTO(participants) list = NULL;

    atomic_store(&r->doing, "list");
    int rc = zkr_participants_list(
        sessions[session_of(r, number)], paths[random_up_to(r, LOCKS - 1)],
        OPTS(participants, .timeout_ms = OPERATION_MS), &list);
    expect(rc == ZKR_OK || rc == ZKR_EUNREACHABLE, "list", rc);
}

static void *racer_main(void *arg)
{
    struct racer *r = arg;

    for (;;) {
        (void)pthread_barrier_wait(&gate);
        int number = round_number;
        if (number == 0)
            return NULL;
        do {
            if (random_up_to(r, 5) == 0)
                list(r, number);
            else
                acquire_and_use(r, number);
        } while (atomic_load(&is_open));
        atomic_store(&r->doing, "nothing");
        back++;
    }
}

static void open_gate(int number)
{
    round_number = number;
    (void)pthread_barrier_wait(&gate);
}

/* Returns the time from the end of the first session to the return of the last
 * thread. */
static struct lap race(int number)
{
    atomic_store(&is_open, true);
    atomic_store(&back, 0);
    open_gate(number);
    sleep_ms((int)(drand48() * 15));
    struct stopwatch *w = stopwatch_start();
    if (number % 2 == 0)
        expire(sessions[0]);
    for (int i = 1; i < SESSIONS && number % 2 != 0; i++)
        expire(sessions[i]);
    atomic_store(&is_open, false);
    if (!COMES(back == THREADS, HANG_MS)) {
        for (int i = 0; i < THREADS; i++)
            (void)fprintf(stderr, "thread %d: %s\n", i,
                          atomic_load(&racers[i].doing));
        fail_msg("round %d: threads hang", number);
    }
    return stopwatch_stop(w);
}

static int setup(void)
{
    set_seed();
    for (int i = 0; i < LOCKS; i++) {
        PRINT(paths[i], "%s", new_path());
        oracles[i] = oracle_new(paths[i]);
    }
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i] = open_session();
        for (int lock = 0; lock < LOCKS; lock++)
            mutexes[i][lock] = new_mutex(sessions[i], paths[lock]);
    }
    return 0;
}

static int teardown(void)
{
    for (int i = 0; i < SESSIONS; i++) {
        for (int lock = 0; lock < LOCKS; lock++)
            zkr_mutex_free(mutexes[i][lock]);
        (void)zkr_session_close(sessions[i]);
    }
    for (int i = 0; i < LOCKS; i++)
        oracle_free(oracles[i]);
    return 0;
}

FIXTURE(setup, teardown)

/* A busy machine may need more expiries for the same number of losses. */
TEST(no_thread_hangs_when_its_session_ends)
{
    int races = number_from("ZKR_RACES", SMOKE);
    int64_t worst_ms = 0;
    int late = 0;
    size_t nodes = 0;

    ok(pthread_barrier_init(&gate, NULL, THREADS + 1));
    for (int i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){ .number = i, .seed = (unsigned)lrand48() };
        racers[i].thread = thread_start(racer_main, &racers[i]);
    }
    for (int i = 1; i <= races || (losses <= races / 10 && i <= 10 * races);
         i++) {
        struct lap lap = race(i);

        late += !lap_is_within(lap, 0, BACK_MS);
        if (lap.took_ns / MS > worst_ms)
            worst_ms = lap.took_ns / MS;
        for (int k = 0; k < SESSIONS; k++)
            AWAIT(zkr_session_id(sessions[k]) != 0);
    }
    open_gate(0);
    for (int i = 0; i < THREADS; i++)
        thread_join(racers[i].thread);
    ok(pthread_barrier_destroy(&gate));
    printf("%d expiries under %d threads: back after %lld ms at most\n", races,
           THREADS, (long long)worst_ms);
    for (int i = 0; i < LOCKS; i++)
        nodes += oracle_judge(oracles[i]).nodes;
    printf("%d grants, %d of them lost; %zu nodes in the log\n", grants, losses,
           nodes);
    assert_int_equal(late, 0);
    assert_int_equal(wrong, 0);
    assert_true(losses > races / 10); /* else it was no race */
}
