/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with losses.
 *
 * Answers to creates and deletes are lost: no node is left, and a claim never
 * has two. ZKR_REPLIES is the number of creates, and of deletes.
 *
 * Sessions are ended by the server while they hold or wait: the holder is told,
 * the next claim is granted, and a waiter queues again under the same deadline.
 * ZKR_EXPIRED is the number of holders, and of waiters.
 *
 * Sessions are ended under 24 threads, again and again: every call returns,
 * with a right answer. In ZOOKEEPER-2802 some never do. ZKR_RACES is the number
 * of expiries; ZKR_SEED repeats the choices of a run. */
#include "usual.h"

#include "cluster.h"
#include "txn_log.h"

enum {
    UUID_END = 39, /* of "_c_" and the UUID */
    SMOKE_REPLIES = 40,
    SMOKE_EXPIRED = 24,
    SMOKE_RACES = 60,
    MARGIN_MS = 700,

    /* Of the races. */
    THREADS = 24,
    SESSIONS = 4, /* the first alone in every other round */
    LOCKS = 3,
    OPERATION_MS = 2000, /* the longest deadline of an operation */
    BACK_MS = 5000,      /* after an expiry, whatever they were doing */
    HANG_MS = 60000,
};

/* -- the oracle: compares the grants that clients report with the log ------ */

struct oracle {
    char path[64];
    struct judge_grant *grants;
    size_t count;
    int64_t longest; /* life of a node that was not granted, in ms */
};

static pthread_mutex_t told = PTHREAD_MUTEX_INITIALIZER;

/* For a lock path of exclusive contenders with UUIDs in their names, which it
 * makes. Free the grants. */
static void oracle_begin(struct oracle *o, const char *at)
{
    *o = (struct oracle){ .count = 0 };
    PRINT(o->path, "%s", at);
    ok(admin_create(admin, at, NULL));
}

/* This grant was just received; any thread, which may be late: the instant is
 * only an upper bound. */
static void oracle_granted(struct oracle *o, zkr_grant *g)
{
    int64_t now = real_ms();
    struct judge_grant grant = { .token = zkr_grant_token(g),
                                 .begin = now,
                                 .end = now };

    (void)pthread_mutex_lock(&told);
    o->grants = realloc(o->grants, (o->count + 1) * sizeof(grant));
    if (o->grants == NULL)
        abort();
    PRINT(grant.who, "grant %zu", o->count);
    o->grants[o->count++] = grant;
    (void)pthread_mutex_unlock(&told);
}

static bool was_granted(const struct oracle *o, int64_t token)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->grants[i].token == token)
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strncmp(((const struct life *)a)->name,
                   ((const struct life *)b)->name, UUID_END);
}

/* Waits until the lock has no node. Fails the test when the judge (judge.h)
 * finds something: a token that is not the czxid of a node of this directory,
 * or belongs to two grants; a grant that came when a node created before its
 * own was still there; a node that is left. Or when two nodes of one UUID were
 * there together. Returns how many the directory has had. */
static size_t oracle_judge(struct oracle *o)
{
    size_t count;
    struct judgement j;

    wait_children(o->path, 0);
    struct life *lives = history_read(the_server, o->path, &count);
    assert_non_null(lives);
    struct judge_node *nodes = history_nodes(lives, count);
    judge_lock(&(struct judge_records){ .grants = o->grants,
                                        .grant_count = o->count,
                                        .nodes = nodes,
                                        .node_count = count,
                                        .timed = true },
               &j);
    free(nodes);
    if (j.violations > 0)
        fail_msg("%s: %s", o->path, j.first);
    qsort(lives, count, sizeof(*lives), by_name);
    for (size_t i = 0; i < count; i++) {
        const struct life *b = &lives[i];
        int64_t life_ms = b->end_ms - b->begin_ms;

        if (life_ms > o->longest && !was_granted(o, b->begin))
            o->longest = life_ms;
        if (i > 0 && by_name(&b[-1], b) == 0)
            assert_true(b[-1].end <= b->begin || b->end <= b[-1].begin);
    }
    free(lives);
    return count;
}

/* -- one lock ------------------------------------------------------------- */

static struct oracle oracle;
static int given_up;
static int64_t last_token;

static int setup(void)
{
    (void)usual_setup_two();
    oracle_begin(&oracle, path);
    given_up = 0;
    last_token = 0;
    return 0;
}

static int teardown(void)
{
    free(oracle.grants);
    return usual_teardown();
}

FIXTURE(setup, teardown)

static zkr_grant *granted(zkr_grant *g)
{
    oracle_granted(&oracle, g);
    ok(zkr_grant_check(g));
    assert_true(zkr_grant_token(g) > last_token);
    last_token = zkr_grant_token(g);
    return g;
}

static size_t judge(const char *what, int count)
{
    size_t nodes = oracle_judge(&oracle);

    printf("%d %s: %zu grants, %d given up, %zu nodes in the log; without an "
           "owner for %lld ms at most\n",
           count, what, oracle.count, given_up, nodes,
           (long long)oracle.longest);
    return nodes;
}

static void swallow(int32_t type)
{
    proxy_rule(proxy, type, 1, PROXY_DROP_REPLY);
}

static void await_swallowed(void)
{
    if (!proxy_wait_rule(proxy, SOON_MS))
        fail_msg("nothing was swallowed");
}

/* -- creates: the answer to the next one is lost --------------------------- */

static void nobody_else_is_there(zkr_grant *g)
{
    g = granted(acquire(m));
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 1);
    release(g);
    assert_int_equal(count_children(path), 0);
}

static void somebody_holds_it(zkr_grant *g)
{
    AUTO(recorder) r = recorder_new();

    g = granted(acquire(rival)); /* not through the proxy */
    ok(zkr_mutex_acquire_async(m, SOON_MS, record_acquire, r, NULL));
    await_swallowed();
    assert_int_equal(count_children(path), 2);
    release(g);
    zkr_grant *next = recorded_grant(r, 0);
    assert_int_equal(count_children(path), 1);
    release(granted(next));
}

static void the_search_is_lost_too(zkr_grant *g)
{
    swallow(ZOO_SYNC_OP);
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 2, PROXY_DROP_REPLY);
    g = granted(acquire(m));
    assert_int_equal(count_children(path), 1);
    release(g);
    proxy_forget_rules(proxy);
}

/* The node is there, but no client knows its name, and the caller has left. */
static void the_caller_has_left(zkr_grant *g)
{
    struct waiter w;

    waiter_start(&w, m, 100);
    await_swallowed();
    proxy_cut(proxy);
    if (waiter_join(&w) == ZKR_OK) { /* granted before the cut */
        proxy_heal(proxy);
        release(granted(w.grant));
        return;
    }
    assert_int_equal(w.rc, ZKR_ETIMEDOUT);
    given_up++;
    assert_int_equal(count_children(path), 1);
    proxy_heal(proxy);
    wait_children(path, 0);
}

static void the_claim_is_cancelled(zkr_grant *g)
{
    AUTO(recorder) r = recorder_new();
    AUTO(request) request =
        MADE(request, mutex_acquire_async, m, SOON_MS, record_acquire, r);
    await_swallowed();
    ok(zkr_request_cancel(request));
    if (recorded(r, 0) == ZKR_OK) {
        release(granted(recorded_grant(r, 0)));
    } else {
        assert_int_equal(recorded(r, 0), ZKR_ECANCELED);
        given_up++;
    }
    wait_children(path, 0);
}

/* -- deletes: the answer to that of a grant is lost ------------------------ */

/* The lock passes on to the next contender, however the delete is answered. */
static void passes_on(void)
{
    zkr_grant *g = granted(acquire(rival));

    assert_int_equal(count_children(path), 1);
    release(g);
}

static void the_release_waits(zkr_grant *g)
{
    release(g);
    assert_true(proxy_rule_done(proxy));
    assert_int_equal(count_children(path), 0);
    passes_on();
}

static void the_release_is_not_waited_for(zkr_grant *g)
{
    AUTO(recorder) r = recorder_new();

    ok(zkr_grant_release_async(g, record_release, r));
    zkr_grant_free(g);
    passes_on();
    assert_int_equal(recorded(r, 0), ZKR_OK);
    assert_true(proxy_rule_done(proxy));
}

static void the_grant_is_freed(zkr_grant *g)
{
    zkr_grant_free(g);
    passes_on();
    await_swallowed();
}

static void it_is_acquired_again_at_once(zkr_grant *g)
{
    ok(zkr_grant_release_async(g, NULL, NULL));
    zkr_grant_free(g);
    release(granted(acquire(m)));
    assert_true(proxy_rule_done(proxy));
}

static void its_answer_is_lost_twice(zkr_grant *g)
{
    proxy_rule(proxy, ZOO_DELETE_OP, 2, PROXY_DROP_REPLY);
    release(g);
    assert_true(proxy_rule_done(proxy));
    passes_on();
}

static void swallow_many(const char *what, int32_t type,
                         void (*const kinds[5])(zkr_grant *g))
{
    int count = number_from("ZKR_REPLIES", SMOKE_REPLIES);

    for (int i = 0; i < count; i++) {
        zkr_grant *g = type == ZOO_DELETE_OP ? granted(acquire(m)) : NULL;

        swallow(type);
        kinds[i % 5](g);
    }
    sleep_ms(4000); /* a node that is there now would stay */
    assert_int_equal(count_children(path), 0);
    /* Each request was carried out, so none had to be sent again. */
    assert_int_equal(judge(what, count), oracle.count + (size_t)given_up);
}

TEST(swallowed_answers_to_creates_leave_nothing)
{
    static void (*const kinds[])(zkr_grant *) = {
        nobody_else_is_there, somebody_holds_it, the_search_is_lost_too,
        the_caller_has_left, the_claim_is_cancelled
    };

    swallow_many("answers to creates swallowed", ZOO_CREATE2_OP, kinds);
    assert_true(given_up > 0);
}

TEST(swallowed_answers_to_deletes_leave_nothing)
{
    static void (*const kinds[])(zkr_grant *) = {
        the_release_waits, the_release_is_not_waited_for, the_grant_is_freed,
        it_is_acquired_again_at_once, its_answer_is_lost_twice
    };

    swallow_many("answers to deletes swallowed", ZOO_DELETE_OP, kinds);
}

/* -- holders whose sessions end ------------------------------------------- */

/* Returns the grant of the next, and how long it took. */
static zkr_grant *expire_holder(bool mine, zkr_grant *g, int64_t *ret_took_ms)
{
    zkr_session *who = mine ? s : theirs;
    AUTO(recorder) events = recorder_new();
    AUTO(recorder) outcome = recorder_new();
    size_t losses = 0;
    int code = 0;

    ok(zkr_grant_listen(g, record_grant, events));
    ok(zkr_mutex_acquire_async(mine ? rival : m, SOON_MS, record_acquire,
                               outcome, NULL));
    wait_children(path, 2);
    int64_t start = now_ms();
    expire(who);
    zkr_grant *next = granted(recorded_grant(outcome, 0));
    *ret_took_ms = now_ms() - start;
    /* It is told of the loss once, and of nothing after it. */
    AWAIT(recorder_get(events, recorder_count(events) - 1, &code, NULL) &&
          code == ZKR_GRANT_LOST);
    for (size_t i = 0; recorder_get(events, i, &code, NULL); i++)
        losses += code == ZKR_GRANT_LOST;
    assert_int_equal(losses, 1);
    assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    assert_int_equal(zkr_grant_valid_until(g), 0);
    assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
    zkr_grant_free(g);
    ok(zkr_grant_check(next));
    assert_int_equal(count_children(path), 1);
    wait_session_state(who, ZKR_SESSION_RECONNECTED);
    return next;
}

TEST(expired_holders_are_told_and_the_next_is_granted)
{
    int count = number_from("ZKR_EXPIRED", SMOKE_EXPIRED);
    zkr_grant *g = granted(acquire(m));
    int64_t worst_ms = 0;

    for (int i = 0; i < count; i++) {
        int64_t took_ms;

        g = expire_holder(i % 2 == 0, g, &took_ms);
        if (took_ms > worst_ms)
            worst_ms = took_ms;
    }
    release(g);
    (void)judge("expired holders", count);
    printf("the next was granted after %lld ms at most\n", (long long)worst_ms);
}

/* -- waiters whose sessions end ------------------------------------------- */

/* The nodes of the next session are behind all others. */
static void queues_again_at_the_tail(void)
{
    AUTO(recorder) first = recorder_new();
    AUTO(recorder) second = recorder_new();
    AUTO(session) third = open_session();
    AUTO(mutex) thirds = new_mutex(third, path);
    zkr_grant *g = granted(acquire(rival));

    ok(zkr_mutex_acquire_async(m, SOON_MS, record_acquire, second, NULL));
    wait_children(path, 2);
    ok(zkr_mutex_acquire_async(thirds, SOON_MS, record_acquire, first, NULL));
    wait_children(path, 3);
    expire_and_wait(s);
    wait_children(path, 3);
    settle(s);
    assert_int_equal(count_children(path), 3);
    assert_int_equal(recorder_count(first) + recorder_count(second), 0);
    release(g);
    zkr_grant *next = granted(recorded_grant(first, 0));
    assert_int_equal(recorder_count(second), 0);
    release(next);
    release(granted(recorded_grant(second, 0)));
    assert_int_equal(recorder_count(first) + recorder_count(second), 2);
}

static void keeps_its_deadline(void)
{
    zkr_grant *g = granted(acquire(rival));
    struct stopwatch *watch = stopwatch_start();
    struct waiter w;

    waiter_start(&w, m, 250);
    wait_children(path, 2);
    expire_and_wait(s);
    assert_int_equal(waiter_join(&w), ZKR_ETIMEDOUT);
    assert_true(stopwatch_says(watch, 250, 250 + MARGIN_MS));
    wait_children(path, 1);
    release(g);
}

static void fails_if_it_asked_to(void)
{
    zkr_grant *g = granted(acquire(rival));
    struct waiter w;

    AUTO(mutex) strict =
        NEW(mutex, s, path, OPTS(lockable, .flags = ZKR_FAIL_ON_SESSION_LOSS));
    waiter_start(&w, strict, SOON_MS);
    wait_children(path, 2);
    expire_and_wait(s);
    assert_int_equal(waiter_join(&w), ZKR_ELOST);
    assert_int_equal(count_children(path), 1);
    release(g);
}

TEST(expired_waiters_queue_again)
{
    static void (*const kinds[])(
        void) = { queues_again_at_the_tail, queues_again_at_the_tail,
                  keeps_its_deadline, fails_if_it_asked_to };
    int count = number_from("ZKR_EXPIRED", SMOKE_EXPIRED);

    for (int i = 0; i < count; i++)
        kinds[i % 4]();
    (void)judge("expired waiters", count);
}

/* -- sessions that end under threads --------------------------------------- */

struct racer {
    pthread_t thread;
    unsigned seed;
    int number;
    _Atomic(const char *) doing;
};

static zkr_session *sessions[SESSIONS];
static zkr_mutex *mutexes[SESSIONS][LOCKS];
static struct oracle oracles[LOCKS];
static struct racer racers[THREADS];

/* A thread that comes back waits here for the next round; 0: that was all. */
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
        oracle_granted(&oracles[lock], g);
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
        sessions[session_of(r, number)],
        oracles[random_up_to(r, LOCKS - 1)].path,
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

/* From the end of the first session to the return of the last thread. */
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

static int races_setup(void)
{
    set_seed();
    for (int i = 0; i < LOCKS; i++)
        oracle_begin(&oracles[i], new_path());
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i] = open_session();
        for (int lock = 0; lock < LOCKS; lock++)
            mutexes[i][lock] = new_mutex(sessions[i], oracles[lock].path);
    }
    return 0;
}

static int races_teardown(void)
{
    for (int i = 0; i < SESSIONS; i++) {
        for (int lock = 0; lock < LOCKS; lock++)
            zkr_mutex_free(mutexes[i][lock]);
        (void)zkr_session_close(sessions[i]);
    }
    for (int i = 0; i < LOCKS; i++)
        free(oracles[i].grants);
    return 0;
}

/* A busy machine may need more expiries for the same number of losses. */
TEST_WITH(no_thread_hangs_when_its_session_ends, races_setup, races_teardown)
{
    int races = number_from("ZKR_RACES", SMOKE_RACES);
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
        nodes += oracle_judge(&oracles[i]);
    printf("%d grants, %d of them lost; %zu nodes in the log\n", grants, losses,
           nodes);
    assert_int_equal(late, 0);
    assert_int_equal(wrong, 0);
    assert_true(losses > races / 10); /* else it was no race */
}
