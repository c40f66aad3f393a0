/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of counters on a real server: Curator's of DistributedAtomicLong and
 * SharedCount, the bytes of the node, and that nothing is counted twice, or
 * lost unsaid, whatever the network does. */
#include "usual.h"

#define WAIT_MS 1500 /* a busy machine answers sooner */
static char lock_path[80];
static zkr_counter *counter;

static zkr_counter *new_counter(zkr_session *session, uint32_t flags)
{
    return NEW(counter, session, path, OPTS(counter, .flags = flags));
}

static void make_parent(void)
{
    char *slash = strrchr(path, '/');

    *slash = '\0';
    assert_int_equal(admin_create(admin, path, ""), ZOK);
    *slash = '/';
}

/* With the directory of the mutex, which the servers would delete at once. */
static zkr_counter *new_promoted(zkr_session *session, uint32_t after)
{
    make_parent();
    assert_int_equal(admin_create(admin, lock_path, ""), ZOK);
    return NEW(counter, session, path,
               OPTS(counter, .lock_path = lock_path, .promote_after = after));
}

static bool mutex_was_taken(void)
{
    return stat_of(lock_path).cversion > 0;
}

static int setup(void)
{
    (void)usual_setup();
    (void)strcat(path, "/number");
    PRINT(lock_path, "%s-lock", path);
    counter = new_counter(s, 0);
    return 0;
}

static int teardown(void)
{
    zkr_counter_free(counter);
    return usual_teardown();
}

FIXTURE(setup, teardown)

static int64_t value_of(zkr_counter *c)
{
    int64_t value = -1;

    ok(zkr_session_sync(s, SOON_MS));
    ok(zkr_counter_get(c, SOON_MS, &value, NULL));
    return value;
}

static int32_t version_of(zkr_counter *c)
{
    int32_t version = -1;
    int64_t value;

    ok(zkr_counter_get(c, SOON_MS, &value, &version));
    return version;
}

static int64_t add(zkr_counter *c, int64_t delta)
{
    int64_t after = -1;

    ok(zkr_counter_add(c, delta, SOON_MS, &after));
    return after;
}

static void data_is(const char *bytes, size_t len)
{
    AUTO(reply) reply = MADE(reply, session_get, s, path, SOON_MS);
    assert_int_equal(reply->len, len);
    assert_memory_equal(reply->data, bytes, len);
}

/* -- what Curator's tests say ---------------------------------------------- */

TEST(a_counter_counts)
{
    assert_int_equal(value_of(counter), 0);
    assert_int_equal(add(counter, 1), 1);
    assert_int_equal(add(counter, -1), 0);
    assert_int_equal(add(counter, 10), 10);
    assert_int_equal(add(counter, -5), 5);
    assert_int_equal(add(counter, -15), -10);
    assert_int_equal(value_of(counter), -10);
    ok(zkr_counter_add(counter, 1, 0, NULL));
    assert_int_equal(value_of(counter), -9);
    assert_string_equal(zkr_counter_path(counter), path);
    AUTO(session) own = OPEN(.flags = ZKR_SESSION_OWN_LOOP);
    AUTO(counter) other = NEW(counter, own, path, NULL);
    assert_int_equal(add(other, 1), -8);
}

TEST(a_comparison_writes_only_over_what_it_expects)
{
    AUTO(counter) other = new_counter(s, 0);
    int64_t found = -1;

    ok(zkr_counter_compare_and_set(counter, 1, 9, SOON_MS, &found));
    assert_int_equal(found, 0);
    assert_int_equal(version_of(counter), ZKR_COUNTER_ABSENT);
    ok(zkr_counter_set(counter, 10, ZKR_COUNTER_ABSENT, SOON_MS));
    ok(zkr_counter_compare_and_set(other, 10, 20, SOON_MS, &found));
    assert_int_equal(found, 10);
    ok(zkr_counter_compare_and_set(counter, 10, 30, SOON_MS, &found));
    assert_int_equal(found, 20);
    assert_int_equal(value_of(other), 20);
}

TEST(a_set_with_a_version_is_for_that_version)
{
    assert_int_equal(version_of(counter), ZKR_COUNTER_ABSENT);
    ok(zkr_counter_set(counter, 7, ZKR_COUNTER_ABSENT, SOON_MS));
    gives(ZKR_ZNODEEXISTS,
          zkr_counter_set(counter, 8, ZKR_COUNTER_ABSENT, SOON_MS));
    int32_t version = version_of(counter);
    assert_int_equal(version, 0);
    /* as it was before, but not the same version */
    assert_int_equal(add(counter, 1), 8);
    assert_int_equal(add(counter, -1), 7);
    gives(ZKR_ZBADVERSION, zkr_counter_set(counter, 9, version, SOON_MS));
    ok(zkr_counter_set(counter, 9, version_of(counter), SOON_MS));
    assert_int_equal(value_of(counter), 9);
    ok(zkr_counter_set(counter, 3, ZKR_ANY_VERSION, SOON_MS));
    assert_int_equal(value_of(counter), 3);
    version = version_of(counter);
    assert_int_equal(admin_delete(admin, path), ZOK);
    gives(ZKR_ZNONODE, zkr_counter_set(counter, 4, version, SOON_MS));
    ok(zkr_counter_set(counter, 5, ZKR_ANY_VERSION, SOON_MS));
    assert_int_equal(value_of(counter), 5);
    proxy_rule_error(proxy, ZOO_SETDATA_OP, 1, ZKR_ZNONODE); /* and is back */
    ok(zkr_counter_set(counter, 6, ZKR_ANY_VERSION, SOON_MS));
    assert_int_equal(value_of(counter), 6);
    assert_int_equal(zkr_counter_set(counter, 4, -3, SOON_MS), ZKR_EINVAL);
}

TEST(data_that_is_no_number_is_told)
{
    static const char *const bad[] = { "foo", "four", "nine byte" };
    AUTO(counter) four = new_counter(s, ZKR_COUNTER_INT32);
    int64_t value;

    (void)add(counter, 1);
    for (size_t i = 0; i < 3; i++) {
        const char *len = textf("%zu bytes", strlen(bad[i]));

        assert_int_equal(admin_set(admin, path, bad[i]), ZOK);
        tells(zkr_counter_get(counter, SOON_MS, &value, NULL), ZKR_EDAMAGED,
              path);
        assert_has(zkr_error_detail(), len);
        gives(ZKR_EDAMAGED, zkr_counter_add(counter, 1, SOON_MS, NULL));
        data_is(bad[i], strlen(bad[i]));
    }
    assert_int_equal(admin_set(admin, path, "four"), ZOK);
    assert_int_equal(value_of(four), 0x666f7572);
    ok(zkr_counter_set(counter, 1, ZKR_ANY_VERSION, SOON_MS));
    assert_int_equal(zkr_counter_add(four, 1, SOON_MS, NULL), ZKR_EDAMAGED);
    assert_int_equal(admin_set(admin, path, ""), ZOK); /* as in Curator */
    assert_int_equal(add(counter, 2), 2);
}

/* -- on the server --------------------------------------------------------- */

TEST(the_bytes_are_those_of_java)
{
    AUTO(counter) four = new_counter(s, ZKR_COUNTER_INT32);
    ok(zkr_counter_set(counter, 0x0102030405060708, ZKR_ANY_VERSION, SOON_MS));
    data_is("\1\2\3\4\5\6\7\x8", 8);
    assert_int_equal(add(counter, -0x0102030405060709), -1);
    data_is("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    assert_int_equal(stat_of(path).ephemeralOwner, 0);
    ok(zkr_counter_set(four, 7, ZKR_ANY_VERSION, SOON_MS));
    data_is("\0\0\0\7", 4);
    assert_int_equal(add(four, -9), -2);
    data_is("\xff\xff\xff\xfe", 4);
}

TEST(missing_parents_are_containers)
{
    AUTO(text) parent = strdup(path);
    *strrchr(parent, '/') = '\0';
    (void)add(counter, 1);
    assert_int_equal(admin_delete(admin, path), ZOK);
    AWAIT(admin_exists(admin, parent, NULL) == ZNONODE);
    (void)add(counter, 1);
    assert_int_equal(value_of(counter), 1);
}

TEST(a_counter_is_below_the_chroot)
{
    make_parent();
    *strrchr(path, '/') = '\0';
    AUTO(session) inner = OPEN(.chroot = path);
    AUTO(counter) inner_counter = NEW(counter, inner, "/number", NULL);
    ok(zkr_counter_add(inner_counter, 3, SOON_MS, NULL));
    path[strlen(path)] = '/';
    assert_int_equal(value_of(counter), 3);
    assert_int_equal(admin_delete(admin, path), ZOK);
    *strrchr(path, '/') = '\0';
    assert_int_equal(admin_delete(admin, path), ZOK);
    gives(ZKR_ENOCHROOT, zkr_counter_add(inner_counter, 3, SOON_MS, NULL));
}

TEST(a_number_that_does_not_fit_is_not_written)
{
    AUTO(counter) four = new_counter(s, ZKR_COUNTER_INT32);
    int64_t found;

    ok(zkr_counter_set(counter, INT64_MAX - 1, ZKR_ANY_VERSION, SOON_MS));
    tells(zkr_counter_add(counter, 2, SOON_MS, NULL), ZKR_EOVERFLOW, path);
    assert_true(add(counter, 1) == INT64_MAX);
    assert_true(add(counter, INT64_MIN) == -1);
    gives(ZKR_EOVERFLOW, zkr_counter_add(counter, INT64_MIN, SOON_MS, NULL));
    assert_int_equal(value_of(counter), -1);
    ok(zkr_counter_set(four, INT32_MIN, ZKR_ANY_VERSION, SOON_MS));
    assert_int_equal(zkr_counter_add(four, -1, SOON_MS, NULL), ZKR_EOVERFLOW);
    assert_int_equal(add(four, INT64_C(0xffffffff)), INT32_MAX);
    assert_int_equal(zkr_counter_add(four, 1, SOON_MS, NULL), ZKR_EOVERFLOW);
    assert_int_equal(
        zkr_counter_set(four, INT64_C(1) << 31, ZKR_ANY_VERSION, SOON_MS),
        ZKR_EOVERFLOW);
    gives(ZKR_EOVERFLOW,
          zkr_counter_compare_and_set(four, INT32_MAX, INT64_C(1) << 31,
                                      SOON_MS, &found));
    assert_int_equal(value_of(four), INT32_MAX);
}

/* Its server may lag behind what somebody else has told the caller of. */
TEST(a_refusal_is_of_what_was_there_after_the_call_began)
{
    int64_t found;

    (void)add(counter, 1);
    proxy_reset_counts(proxy);
    ok(zkr_counter_compare_and_set(counter, 5, 6, SOON_MS, &found));
    assert_int_equal(proxy_requests(proxy, ZOO_GETDATA_OP), 2);
    assert_int_equal(proxy_requests(proxy, ZOO_SYNC_OP), 1);
    ok(zkr_counter_compare_and_set(counter, 1, INT64_MAX, SOON_MS, &found));
    assert_int_equal(proxy_requests(proxy, ZOO_SYNC_OP), 1);
    assert_int_equal(zkr_counter_add(counter, 1, SOON_MS, NULL), ZKR_EOVERFLOW);
    assert_int_equal(proxy_requests(proxy, ZOO_SYNC_OP), 2);
    assert_int_equal(admin_set(admin, path, "foo"), ZOK);
    assert_int_equal(zkr_counter_add(counter, 1, SOON_MS, NULL), ZKR_EDAMAGED);
    assert_int_equal(proxy_requests(proxy, ZOO_SYNC_OP), 3);
}

/* -- others at the same time ----------------------------------------------- */

#define THREADS 8
#define CROWD   32
#define ADDS    50

struct adder {
    zkr_counter *counter;
    pthread_t thread;
    int made, unknown, other;
    int64_t after[ADDS];
};

static struct adder adders[CROWD]; /* of the test that runs */

static void *adder_main(void *arg)
{
    struct adder *a = arg;

    for (int i = 0; i < ADDS; i++) {
        int64_t after;
        int rc = zkr_counter_add(a->counter, 1, SOON_MS, &after);

        if (rc == ZKR_OK)
            a->after[a->made++] = after;
        else if (rc == ZKR_EUNKNOWN)
            a->unknown++;
        else
            a->other = rc;
    }
    return NULL;
}

static void start(int count, zkr_counter *c)
{
    for (int i = 0; i < count; i++) {
        adders[i] = (struct adder){ .counter = c };
        adders[i].thread = thread_start(adder_main, &adders[i]);
    }
}

/* Returns how many were unknown, and sets how many were made. No number may
 * have been told twice. */
static int64_t join(int count, int64_t *ret_made)
{
    static bool told[CROWD * ADDS + 1];
    int64_t unknown = 0;

    memset(told, 0, sizeof(told));
    *ret_made = 0;
    for (int i = 0; i < count; i++) {
        thread_join(adders[i].thread);
        assert_int_equal(adders[i].other, 0);
        for (int k = 0; k < adders[i].made; k++) {
            assert_in_range(adders[i].after[k], 1, count * ADDS);
            assert_false(told[adders[i].after[k]]);
            told[adders[i].after[k]] = true;
        }
        *ret_made += adders[i].made;
        unknown += adders[i].unknown;
    }
    return unknown;
}

static long requests(void)
{
    return proxy_requests(proxy, ZOO_GETDATA_OP) +
           proxy_requests(proxy, ZOO_SETDATA_OP);
}

/* Regression: without a pause after a round in vain, 32 that added at once sent
 * 17 requests for each add. By chance it is 5.5 to 6 in a run as short as this;
 * the benchmark has the limit, 6. */
TEST(those_that_add_let_each_other)
{
    int64_t made;
    long sent = requests();

    start(CROWD, counter);
    assert_int_equal(join(CROWD, &made), 0);
    assert_int_equal(made, CROWD * ADDS);
    assert_int_equal(value_of(counter), CROWD * ADDS);
    assert_true(requests() - sent <= 9 * made);
}

TEST(threads_with_the_mutex_count_exactly)
{
    AUTO(counter) c = new_promoted(s, 1);
    int64_t made;

    start(THREADS, c);
    assert_int_equal(join(THREADS, &made), 0);
    assert_int_equal(value_of(c), THREADS * ADDS);
    assert_true(mutex_was_taken());
}

/* So many writes, from now on. */
static void refuse_writes(int count, int error)
{
    for (int i = 1; i <= count; i++)
        proxy_rule_error(proxy, ZOO_SETDATA_OP, i, error);
}

TEST(after_some_rounds_in_vain_there_is_a_mutex)
{
    AUTO(counter) c = new_promoted(s, 2);
    (void)add(c, 1);
    refuse_writes(1, ZBADVERSION);
    assert_int_equal(add(c, 1), 2);
    assert_false(mutex_was_taken());
    proxy_rule_error(proxy, ZOO_SETDATA_OP, 1, ZBADVERSION);
    proxy_rule_error(proxy, ZOO_SETDATA_OP, 2, ZNONODE);
    proxy_rule_error(proxy, ZOO_SETDATA_OP, 3, ZBADVERSION);
    assert_int_equal(add(c, 1), 3);
    assert_true(mutex_was_taken());
    wait_children(lock_path, 0); /* and is given back */
    AUTO(counter) usual =
        NEW(counter, s, path, OPTS(counter, .lock_path = lock_path));
    for (int vain = 9; vain <= 10; vain++) {
        proxy_reset_counts(proxy);
        refuse_writes(vain, ZBADVERSION);
        (void)add(usual, 1);
        assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), vain - 9);
    }
}

/* At an add they write, at a set they delete. */
static bool others_are_faster(zkr_counter *c, int error)
{
    refuse_writes(16, error);
    int rc = error == ZBADVERSION ? zkr_counter_add(c, 1, 10, NULL)
                                  : zkr_counter_set(c, 1, ZKR_ANY_VERSION, 1);
    proxy_forget_rules(proxy);
    return rc == ZKR_ETIMEDOUT &&
           strstr(zkr_error_detail(), "others were faster") != NULL;
}

/* The deadline may also come in the middle of a write. */
TEST(a_change_that_is_in_vain_names_the_last_server)
{
    AUTO(counter) c = new_counter(s, 0);
    (void)add(c, 1);
    AWAIT(others_are_faster(c, ZBADVERSION));
    assert_has(zkr_error_detail(),
               textf("the last answer was of server %s, ", proxy_hosts(proxy)));
    AWAIT(others_are_faster(c, ZNONODE));
}

TEST(a_mutex_that_others_have_is_waited_for_until_the_deadline)
{
    AUTO(session) others = open_session();
    AUTO(counter) c = new_promoted(s, 2);
    AUTO(mutex) mutex = new_mutex(others, lock_path);
    zkr_grant *g = acquire(mutex);

    (void)add(c, 1);
    refuse_writes(2, ZBADVERSION);
    struct stopwatch *w = stopwatch_start();
    assert_int_equal(zkr_counter_add(c, 1, WAIT_MS, NULL), ZKR_ETIMEDOUT);
    assert_true(stopwatch_says(w, WAIT_MS, WAIT_MS + SESSION_MS / 2));
    refuse_writes(2, ZBADVERSION);
    assert_int_equal(zkr_counter_add(c, 1, 0, NULL), ZKR_EBUSY);
    assert_int_equal(value_of(c), 1);
    release(g);
    refuse_writes(2, ZBADVERSION);
    assert_int_equal(add(c, 1), 2);
}

/* The try for the mutex began with a time of its own, after the rounds. */
TEST(with_a_timeout_of_0_there_is_one_deadline_for_all)
{
    AUTO(session) brief =
        THROUGH(.session_timeout_ms = SESSION_MS, .reply_timeout_ms = 6000);
    AUTO(counter) c = new_promoted(brief, 2);
    (void)add(c, 1);
    for (int time = 0; time < TWICE; time++) {
        refuse_writes(2, ZBADVERSION);
        proxy_rule(proxy, ZOO_CREATE2_OP, 1, PROXY_HOLD_REPLY);
        proxy_set_latency(proxy, 700);
        struct stopwatch *w = stopwatch_start();
        assert_int_not_equal(zkr_counter_add(c, 1, 0, NULL), ZKR_OK);
        assert_true(stopwatch_says(w, 1000, 7000));
        assert_true(proxy_rule_done(proxy)); /* it was at the mutex */
        proxy_set_latency(proxy, 0);
        proxy_release(proxy);
        settle(brief);
        wait_children(lock_path, 0);
    }
    assert_int_equal(value_of(c), 1);
}

/* -- faults ---------------------------------------------------------------- */

TEST(under_faults_the_sum_is_right_but_for_the_unknown)
{
    AUTO(counter) c = new_promoted(s, 3);
    int64_t made;

    for (int nth = 20; nth <= 60; nth += 20) {
        proxy_rule(proxy, ZOO_SETDATA_OP, nth, PROXY_DROP_REPLY);
        proxy_rule(proxy, ZOO_SETDATA_OP, nth + 5, PROXY_DROP_REQUEST);
        proxy_rule(proxy, ZOO_GETDATA_OP, nth + 9, PROXY_DROP_REPLY);
    }
    start(THREADS, c);
    for (int time = 0; time < TWICE; time++) {
        sleep_ms(50); /* anything may be under way */
        expire_and_wait(s);
        sleep_ms(50);
        server_kill9(the_server);
        restart_server();
    }
    int64_t unknown = join(THREADS, &made);
    int64_t value = value_of(c);
    if (value < made || value > made + unknown)
        fail_msg("%lld after %lld adds and %lld unknown ones", (long long)value,
                 (long long)made, (long long)unknown);
    assert_true(made + unknown == THREADS * ADDS);
}

int main(void)
{
    return run_with_server(&quick_containers, test_run_all);
}
