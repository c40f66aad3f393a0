/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the semaphore: limit, order, several permits, and what is left. */
#include "usual.h"

enum { MANY = 8 };

static char leases[80];
static char locks[80];
static char limit_path[64];

static zkr_semaphore *new_semaphore(zkr_session *session, uint32_t limit)
{
    return NEW(semaphore, session, path, limit, NULL);
}

static zkr_grant *take(zkr_semaphore *sem)
{
    zkr_grant *g = GRANT(semaphore_acquire, sem, SOON_MS);

    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    return g;
}

static int setup(void)
{
    /* for releases on a busy machine */
    (void)usual_setup_two_with(OPTS(session, .session_timeout_ms = SESSION_MS,
                                    .reply_timeout_ms = SOON_MS));
    (void)snprintf(leases, sizeof(leases), "%s/leases", path);
    (void)snprintf(locks, sizeof(locks), "%s/locks", path);
    PRINT(limit_path, "%s/limit", new_path());
    return 0;
}

FIXTURE(setup, usual_teardown)

static zkr_grant *granted(struct waiter *w)
{
    ok(waiter_join(w));
    assert_int_equal(zkr_grant_check(w->grant), ZKR_OK);
    return w->grant;
}

static void nodes_are(size_t in_leases, size_t in_locks)
{
    wait_children(leases, in_leases);
    wait_children(locks, in_locks);
}

TEST(as_many_as_the_limit_hold_at_once)
{
    AUTO(semaphore) sem = new_semaphore(s, 3);
    AUTO(semaphore) other = new_semaphore(theirs, 3);
    zkr_grant *held[3] = { take(sem), take(other), take(sem) };

    assert_has(zkr_grant_record(held[0]), "\"limit\":3");
    for (int i = 0; i < 2; i++) {
        tells(zkr_semaphore_acquire(other, GIVE_UP_MS, &nil), ZKR_ETIMEDOUT,
              path);
        assert_null(nil);
        nodes_are(3, 0);
        tells(zkr_semaphore_acquire(other, 0, &nil), ZKR_EBUSY,
              strrchr(zkr_grant_node(held[i]), '/') + 1);
        wait_children(leases, 3);
        release(held[i]);
        held[i] = take(other);
    }
    struct waiter w = WAITER(start_by, zkr_semaphore_acquire, sem, -1);
    wait_children(locks, 1);
    AUTO(participants) queue = list_of(s, locks, NULL);
    assert_has(queue->items[0].data, "\"limit\":3");
    release(held[0]);
    held[0] = granted(&w);
    assert_int_equal(zkr_grants_check(held, 3), ZKR_OK);
    release_each(held, 3);
    nodes_are(0, 0);
    /* The turn that each permit needs is acquired, too. */
    struct zkr_counters n = lock_stats(other);
    assert_int_equal(n.acquires, 14);
    assert_int_equal(n.grants, 10);
    assert_int_equal(n.timeouts, 2);
    release(GRANT(semaphore_acquire, other, 0));
}

TEST(several_are_granted_together_or_not_at_all)
{
    AUTO(semaphore) sem = new_semaphore(s, 4);
    AUTO(semaphore) other = new_semaphore(theirs, 4);
    zkr_grant *three[3];
    zkr_grant *five[5];
    zkr_grant *two[2];

    for (int i = 0; i < 2; i++) {
        ok(zkr_semaphore_acquire_many(sem, 3, SOON_MS, three));
        wait_children(leases, 3);
        two[0] = two[1] = three[0];
        gives(ZKR_ETIMEDOUT, zkr_semaphore_acquire_many(other, 2, 200, two));
        assert_null(two[0]);
        assert_null(two[1]);
        nodes_are(3, 0);
        release(three[2]);
        ok(zkr_semaphore_acquire_many(other, 2, SOON_MS, two));
        ok(zkr_grants_check(two, 2));
        release_each(two, 2);
        zkr_grants_free(three, 2);
        nodes_are(0, 0);
    }
    assert_int_equal(lock_stats(sem).grants, 8); /* with two turns */
    assert_int_equal(zkr_semaphore_acquire_many(sem, 5, 0, five), ZKR_EINVAL);
    assert_int_equal(zkr_semaphore_acquire_many(sem, 0, 0, five), ZKR_EINVAL);
}

/* -- many threads ---------------------------------------------------------- */

struct crowd {
    zkr_semaphore *sems[2];
    atomic_uint members;
    atomic_int inside, most, errors;
};

static void *take_turns(void *arg)
{
    struct crowd *crowd = arg;
    unsigned number = atomic_fetch_add(&crowd->members, 1);
    unsigned seed = number;

    for (int i = 0; i < 12; i++) {
        uint32_t n = 1 + (uint32_t)rand_r(&seed) % 3;
        zkr_grant *grants[3];
        int rc =
            zkr_semaphore_acquire_many(crowd->sems[number % 2], n, -1, grants);

        if (rc != ZKR_OK) {
            atomic_fetch_add(&crowd->errors, 1);
            continue;
        }
        int now = atomic_fetch_add(&crowd->inside, (int)n) + (int)n;
        int most = atomic_load(&crowd->most);
        while (now > most &&
               !atomic_compare_exchange_weak(&crowd->most, &most, now))
            ;
        for (uint32_t k = n; k-- > 0;) {
            sleep_ms(1); /* so that others come meanwhile */
            atomic_fetch_sub(&crowd->inside, 1);
            atomic_fetch_add(&crowd->errors,
                             zkr_grant_release(grants[k]) != ZKR_OK);
        }
        zkr_grants_free(grants, n);
    }
    return NULL;
}

TEST(no_more_than_the_limit_at_any_moment)
{
    struct crowd crowd = { .sems = { new_semaphore(s, 5),
                                     new_semaphore(theirs, 5) } };
    pthread_t threads[MANY];

    for (int i = 0; i < MANY; i++)
        threads[i] = thread_start(take_turns, &crowd);
    for (int i = 0; i < MANY; i++)
        (void)pthread_join(threads[i], NULL);
    assert_int_equal(crowd.errors, 0);
    assert_in_range(crowd.most, 2, 5);
    nodes_are(0, 0);
    zkr_semaphore_free(crowd.sems[0]);
    zkr_semaphore_free(crowd.sems[1]);
}

/* -- what others do on the server ------------------------------------------ */

TEST(an_orphan_makes_a_new_lease)
{
    AUTO(semaphore) sem = new_semaphore(s, 1);
    zkr_grant *g = take(sem);
    struct waiter w = WAITER(start_by, zkr_semaphore_acquire, sem, -1);

    for (int i = 0; i < 2; i++) {
        wait_children(leases, 2);
        AUTO(text) before = nth_child(leases, 1);
        delete_nth_child(leases, 1);
        wait_children(leases, 2);
        AUTO(text) after = nth_child(leases, 1);
        assert_string_not_equal(before, after);
        assert_false(waiter_is_done(&w));
    }
    release(g);
    release(granted(&w));
    nodes_are(0, 0);
    release(take(sem));
}

/* Two that had lost their turns had a part each, and waited for each other. */
TEST(one_without_its_turn_queues_again)
{
    AUTO(recorder) r = recorder_new();
    AUTO(semaphore) sem = new_semaphore(s, 2);
    zkr_grant *g = take(sem);

    ok(zkr_semaphore_acquire_many_async(sem, 2, -1, record_grants, r, NULL));
    for (int i = 0; i < 2; i++) {
        wait_children(leases, 3);
        AUTO(text) before = nth_child(leases, 1);
        AUTO(text) name = nth_child(locks, 0);
        const char *turn = textf("%s/%s", locks, name);
        AWAIT(server_watches(the_server, turn, 0) > 0);
        assert_int_equal(admin_delete(admin, turn), ZOK);
        wait_children(locks, 1);
        wait_children(leases, 3);
        AUTO(text) after = nth_child(leases, 1);
        assert_string_not_equal(before, after);
    }
    release(g);
    is_recorded(r, 0, ZKR_OK, 2);
    nodes_are(0, 0);
}

TEST(the_directory_may_go_while_one_waits)
{
    AUTO(semaphore) sem = new_semaphore(s, 1);
    AUTO(grant) g = take(sem);
    struct waiter w = WAITER(start_by, zkr_semaphore_acquire, sem, -1);

    wait_children(leases, 2);
    proxy_freeze(proxy); /* it would make its node again meanwhile */
    assert_int_equal(admin_delete_tree(admin, path), ZOK);
    proxy_heal(proxy);
    release(granted(&w));
    assert_int_equal(zkr_grant_verify(g, SOON_MS), ZKR_ELOST);
}

TEST(a_foreign_child_takes_a_permit)
{
    AUTO(recorder) r = recorder_new();
    AUTO(semaphore) sem = new_semaphore(s, 2);

    release(take(sem));
    const char *foreign = textf("%s/zzz", leases);
    assert_int_equal(admin_create(admin, foreign, NULL), ZOK);
    AUTO(held) g = take(sem);
    ok(zkr_semaphore_acquire_async(sem, SOON_MS, record_acquire, r, NULL));
    wait_children(leases, 3);
    settle(s);
    assert_int_equal(recorder_count(r), 0);
    assert_int_equal(admin_delete(admin, foreign), ZOK);
    release(recorded_grant(r, 0));
}

/* With Curator's rule, which counts all nodes, a contender without its turn
 * that stands behind ours would keep both out. */
TEST(those_behind_do_not_count)
{
    AUTO(semaphore) sem = new_semaphore(s, 1);
    zkr_grant *g = take(sem);
    struct waiter w = WAITER(start_by, zkr_semaphore_acquire, sem, -1);

    wait_children(leases, 2);
    ok(admin_create_flags(
        admin,
        textf("%s/_c_00000000-0000-4000-8000-000000000000-lease-", leases),
        NULL, ZOO_EPHEMERAL | ZOO_SEQUENCE, NULL, 0));
    wait_children(leases, 3);
    release(g);
    release(granted(&w));
    delete_nth_child(leases, 0);
    nodes_are(0, 0);
}

/* -- without a thread ------------------------------------------------------ */

enum { DOZENS = 48, FLIGHTS = 257 }; /* sent 256 at a time */

static uint32_t wanted; /* by by_many() */
static zkr_grant *dozens[FLIGHTS];

static int by_many(zkr_lockable *sem, int64_t timeout_ms, zkr_grant **ret_grant)
{
    int rc = zkr_semaphore_acquire_many(sem, wanted, timeout_ms, dozens);

    *ret_grant = dozens[0];
    return rc;
}

/* One that has a part of what it wants lets nobody else have another part. But
 * the turn is given back with the grant, not with the lease. */
TEST(the_turn_is_kept_up_to_the_last_permit_and_no_longer)
{
    AUTO(semaphore) sem = new_semaphore(s, FLIGHTS);
    zkr_grant *g = take(sem);

    nodes_are(1, 0);
    zkr_grant *h = take(sem);
    assert_true(zkr_grant_token(h) > zkr_grant_token(g));
    release(h);
    nodes_are(1, 0);
    wanted = FLIGHTS;
    struct waiter w = WAITER(start_by, by_many, sem, -1);
    wait_children(leases, FLIGHTS + 1);
    settle(s);
    settle(s);
    assert_int_equal(count_children(locks), 1);
    release(g);
    (void)granted(&w);
    nodes_are(FLIGHTS, 0);
    release_each(dozens, FLIGHTS);
}

/* -- faults ---------------------------------------------------------------- */

TEST(nobody_has_to_wait)
{
    AUTO(recorder) r = recorder_new();
    AUTO(semaphore) sem = new_semaphore(s, 2);
    zkr_grant *g = take(sem);

    ok(zkr_semaphore_acquire_many_async(sem, 2, -1, record_grants, r, NULL));
    AUTO(request)
    request =
        MADE(request, semaphore_acquire_async, sem, -1, record_acquire, r);
    wait_children(locks, 2);
    ok(zkr_request_cancel(request));
    assert_int_equal(recorded(r, 0), ZKR_ECANCELED);
    release(g);
    is_recorded(r, 1, ZKR_OK, 2);
    ok(zkr_semaphore_acquire_async(sem, 200, record_acquire, r, NULL));
    g = recorded_grant(r, 2);
    ok(zkr_grant_check(g));
    release(g);
    nodes_are(0, 0);
}

/* A list that failed with the create waited for its next attempt when the node
 * had been found, and was started a second time. */
TEST(a_node_is_found_before_the_list_is_sent_again)
{
    AUTO(session) slow = open_to(proxy_hosts(proxy),
                                 OPTS(session, .session_timeout_ms = SESSION_MS,
                                      .retry = ZKR_RETRY_FOREVER_INIT(2000)));
    AUTO(semaphore) sem = new_semaphore(slow, 1);
    release(take(sem));
    for (int i = 0; i < 2; i++) {
        proxy_rule(proxy, ZOO_CREATE2_OP, 2, PROXY_DROP_REPLY);
        struct waiter w = WAITER(start_by, zkr_semaphore_acquire, sem, -1);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        (void)granted(&w);
        wait_children(leases, 1);
        release(w.grant);
        nodes_are(0, 0);
    }
}

/* Each list of a wait, and the watch that is set with it, is lost once, or is
 * not there yet, when the holder goes. */
TEST(no_wake_up_is_lost_with_a_list)
{
    static const enum proxy_action actions[] = { PROXY_DROP_REPLY,
                                                 PROXY_DROP_REQUEST,
                                                 PROXY_HOLD_REQUEST };
    AUTO(semaphore) sem = new_semaphore(s, 1);
    AUTO(semaphore) other = new_semaphore(theirs, 1);

    release(take(sem));
    for (int i = 0; i < 9; i++) { /* of the turn, without a watch, with one */
        zkr_grant *g = take(other);

        wait_children(locks, 0);
        settle(s);
        proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1 + i % 3, actions[i / 3]);
        struct waiter w = WAITER(start_by, zkr_semaphore_acquire, sem, -1);
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        release(g);
        proxy_release(proxy);
        release(granted(&w));
        nodes_are(0, 0);
    }
}

static int release_dozens(zkr_lockable *sem, int64_t timeout_ms,
                          zkr_grant **ret_grant)
{
    *ret_grant = NULL;
    return zkr_grants_release(dozens, DOZENS);
}

/* The reply to the first of the creates, or deletes, is held back. */
static void go_in_one_flight(acquire_call *fn, zkr_semaphore *sem, int32_t type,
                             int first)
{
    long sent = proxy_requests(proxy, type) + first + DOZENS - 1;

    proxy_rule(proxy, type, first, PROXY_HOLD_REPLY);
    struct waiter w = WAITER(start_by, fn, sem, -1);
    AWAIT(proxy_requests(proxy, type) >= sent);
    assert_false(waiter_is_done(&w));
    proxy_release(proxy);
    ok(waiter_join(&w));
}

/* Of the turn, and of all permits. Where the machine is so busy that the
 * connection is lost, each create asks what has become of it. */
static void costs_two_lists(zkr_semaphore *sem)
{
    uint64_t lost;
    long before, after;

    do {
        lost = session_stats(s).reconnects;
        before = proxy_requests(proxy, ZOO_GETCHILDREN2_OP);
        ok(zkr_semaphore_acquire_many(sem, DOZENS, SOON_MS, dozens));
        after = proxy_requests(proxy, ZOO_GETCHILDREN2_OP);
        release_each(dozens, DOZENS);
    } while (session_stats(s).reconnects != lost);
    assert_in_range(after - before, 1, 2);
}

/* Each permit was created and listed alone: 200 of them cost 500 requests, and
 * their releases 200 round trips. */
TEST(many_permits_are_one_flight)
{
    AUTO(semaphore) sem = new_semaphore(s, DOZENS);

    wanted = DOZENS;
    release(take(sem));
    settle(s);
    for (int i = 0; i < 2; i++) {
        costs_two_lists(sem);
        settle(s);
        go_in_one_flight(by_many, sem, ZOO_CREATE2_OP, 2);
        nodes_are(DOZENS, 0);
        ok(zkr_grants_check(dozens, DOZENS));
        settle(s);
        go_in_one_flight(release_dozens, sem, ZOO_DELETE_OP, 1);
        zkr_grants_free(dozens, DOZENS);
        nodes_are(0, 0);
    }
    /* the first one is made again, alone, and nobody else lists for it */
    proxy_rule_error(proxy, ZOO_CREATE2_OP, 2, ZKR_ZTHROTTLEDOP);
    ok(zkr_semaphore_acquire_many(sem, 2, SOON_MS, dozens));
    assert_true(proxy_rule_done(proxy));
    release_each(dozens, 2);
}

/* Not one after the other. */
TEST(many_releases_have_one_time_to_be_answered)
{
    AUTO(session) brief =
        THROUGH(.session_timeout_ms = SESSION_MS, .reply_timeout_ms = 500);
    AUTO(semaphore) sem = new_semaphore(brief, DOZENS);
    ok(zkr_semaphore_acquire_many(sem, DOZENS, SOON_MS, dozens));
    proxy_freeze(proxy);
    struct stopwatch *w = stopwatch_start();
    assert_int_equal(zkr_grants_release(dozens, DOZENS), ZKR_EPENDING);
    assert_true(stopwatch_says(w, 500, 5000));
    proxy_heal(proxy);
    zkr_grants_free(dozens, DOZENS);
    nodes_are(0, 0);
}

/* When it is given up, some creates have been answered, and others not. */
TEST(a_flight_that_is_given_up_leaves_nothing)
{
    AUTO(semaphore) sem = new_semaphore(s, 5);

    wanted = 5;
    release(take(sem));
    for (int i = 1; i <= 7; i++) {
        long sent = proxy_requests(proxy, ZOO_CREATE2_OP) +
                    (i == 1 ? 1 : 6); /* the turn, all */

        proxy_rule(proxy, i < 7 ? ZOO_CREATE2_OP : ZOO_GETCHILDREN2_OP,
                   i < 7 ? i : 1, PROXY_HOLD_REPLY);
        struct waiter w = WAITER(start_by, by_many, sem, -1);
        if (i < 7)
            AWAIT(proxy_requests(proxy, ZOO_CREATE2_OP) >= sent);
        else
            assert_true(proxy_wait_rule(proxy, SOON_MS));
        ok(zkr_lockable_cancel(sem));
        assert_int_equal(waiter_join(&w), ZKR_ECANCELED);
        assert_null(dozens[4]);
        proxy_release(proxy);
        nodes_are(0, 0);
    }
    release(take(sem));
}

TEST(one_that_waits_queues_again_in_the_next_session)
{
    AUTO(semaphore) sem = new_semaphore(s, 1);
    AUTO(semaphore) other = new_semaphore(theirs, 1);
    zkr_grant *g = take(other);
    struct waiter waiters[2];

    waiter_start_by(&waiters[0], zkr_semaphore_acquire, sem, -1);
    wait_children(leases, 2);
    waiter_start_by(&waiters[1], zkr_semaphore_acquire, sem, -1);
    wait_children(locks, 2);
    for (int i = 0; i < 2; i++) {
        expire_and_wait(s);
        nodes_are(2, 2);
    }
    release(g);
    AWAIT(waiter_is_done(&waiters[0]) || waiter_is_done(&waiters[1]));
    int first = waiter_is_done(&waiters[0]) ? 0 : 1;
    release(granted(&waiters[first]));
    release(granted(&waiters[1 - first]));
    nodes_are(0, 0);
}

/* -- a limit that all share ------------------------------------------------ */

static zkr_semaphore *new_shared(zkr_session *session, uint32_t limit)
{
    return NEW(semaphore, session, path, limit,
               OPTS(lockable, .limit_path = limit_path));
}

static void set_limit(unsigned char limit)
{
    const char data[4] = { 0, 0, 0, (char)limit };
    ok(zkr_session_set(theirs, limit_path, data, sizeof(data), ZKR_ANY_VERSION,
                       0, NULL));
}

TEST(a_shared_limit_can_be_changed)
{
    zkr_grant *held[2];
    struct waiter w;

    proxy_rule(proxy, ZOO_CREATE2_OP, 2, PROXY_DROP_REPLY); /* but it is made */
    AUTO(semaphore) sem = new_shared(s, 1);
    assert_true(proxy_rule_done(proxy));
    AUTO(semaphore) other = new_shared(theirs, 7);
    assert_int_equal(zkr_semaphore_limit(other), 1);
    proxy_rule_error(proxy, ZOO_GETDATA_OP, 1, ZKR_ZNONODE); /* it comes now */
    zkr_semaphore_free(new_shared(s, 7));
    held[0] = take(sem);
    assert_lacks(zkr_grant_record(held[0]), "limit");
    for (unsigned char limit = 2; limit < 4; limit++) {
        waiter_start_by(&w, zkr_semaphore_acquire, other, -1);
        wait_children(leases, 2);
        settle(theirs);
        assert_false(waiter_is_done(&w));
        set_limit(limit);
        held[1] = granted(&w);
        ok(zkr_grants_check(held, 2));
        set_limit(1); /* they stay held */
        ok(zkr_grants_check(held, 2));
        release(held[1]);
        AWAIT(zkr_semaphore_limit(other) == 1);
    }
    release(held[0]);
    ok(zkr_session_set(theirs, limit_path, "", 0, ZKR_ANY_VERSION, 0, NULL));
    settle(theirs); /* the event */
    settle(theirs); /* the answer to the read */
    assert_int_equal(admin_delete(admin, limit_path), ZOK);
    settle(theirs);
    settle(theirs);
    assert_int_equal(zkr_semaphore_limit(other), 1);
}

/* It ended with an error, though a moment later the limit was as before. */
TEST(more_than_the_limit_is_waited_for)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *four[4] = { NULL, NULL, NULL, NULL };

    AUTO(semaphore) sem = new_shared(s, 4);
    for (int i = 0; i < 2; i++) {
        zkr_grant *g = take(sem);

        ok(zkr_semaphore_acquire_many_async(sem, 4, -1, record_grants, r,
                                            NULL));
        wait_children(leases, 5);
        set_limit(2);
        AWAIT(zkr_semaphore_limit(sem) == 2);
        release(g);
        wait_children(leases, 4);
        settle(s);
        assert_int_equal(recorder_count(r), (size_t)i);
        set_limit(4);
        is_recorded(r, (size_t)i, ZKR_OK, 4);
        nodes_are(0, 0);
    }
    set_limit(2);
    AWAIT(zkr_semaphore_limit(sem) == 2);
    tells(zkr_semaphore_acquire_many(sem, 4, 0, four), ZKR_EBUSY, "limit is 2");
    gives(ZKR_ETIMEDOUT, zkr_semaphore_acquire_many(sem, 4, GIVE_UP_MS, four));
    set_limit(0);
    AWAIT(zkr_semaphore_limit(sem) == 0);
    tells(zkr_semaphore_acquire(sem, 0, four), ZKR_EBUSY,
          "limit is 0, and 0 are ahead");
    nodes_are(0, 0);
    tells(zkr_semaphore_acquire_many(sem, ZKR_SEMAPHORE_MAX + 1, 0, four),
          ZKR_EINVAL, "at most 10000");
}
