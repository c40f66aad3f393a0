/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of locks that stay with their process: handed on without a request,
 * kept for a while, and given back when others wait. */
#include "lock/cohort.h"
#include "lock/lockable.h"
#include "usual.h" /* has names that headers above have, too */

enum { FOR_EVER_MS = 600000, MAX = 3 };

/* `m` stays, and `rival` does not. */
static struct recorder *r;
static size_t looked_at; /* outcomes of claims that have been looked at */

static zkr_mutex *staying(uint32_t retain_ms)
{
    return NEW(mutex, s, path,
               OPTS(lockable, .retain_ms = retain_ms, .retain_max = MAX));
}

static int set_up_with(uint32_t flags)
{
    (void)usual_setup_two_with(
        OPTS(session, .session_timeout_ms = SESSION_MS, .flags = flags));
    zkr_mutex_free(m);
    m = staying(FOR_EVER_MS);
    r = recorder_new();
    looked_at = 0;
    return 0;
}

static int set_up(void)
{
    return set_up_with(0);
}

static int set_up_without_lease(void)
{
    return set_up_with(ZKR_SESSION_NO_LEASE);
}

static int tear_down(void)
{
    int rc = usual_teardown();

    recorder_free(r);
    return rc;
}

FIXTURE(set_up, tear_down)

/* -- what the library knows ----------------------------------------------- */

static struct zkr__cohort *cohort(void)
{
    return m->lock->cohort;
}

static bool has_no_node(void)
{
    return LOCKED(s, cohort()->delegate == NULL);
}

static bool has_seen_others(void)
{
    return LOCKED(s, cohort()->stay.contended);
}

static bool is_alone(void)
{
    return LOCKED(s, cohort()->stay.alone && cohort()->lock->line->watched);
}

/* -- steps ---------------------------------------------------------------- */

static void wait_here(size_t count)
{
    for (size_t i = 0; i < count; i++)
        ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
}

/* The next of those that wait here has the lock. */
static zkr_grant *next(void)
{
    return recorded_grant(r, looked_at++);
}

/* Gives it to the next of those that wait here. */
static zkr_grant *pass_on(zkr_grant *g)
{
    release(g);
    return next();
}

static void keep_it(void)
{
    release(acquire(m));
    AWAIT(is_alone());
    assert_int_equal(count_children(path), 1);
}

/* -- handed on ------------------------------------------------------------ */

/* By a try, too, which waits for nobody. zkr_grant_record() followed the null
 * pointer of a member, which has none. */
TEST(a_lock_that_stays_is_taken_again_without_a_request)
{
    zkr_grant *g = acquire(m);
    int64_t token = zkr_grant_token(g);

    assert_int_equal(zkr_grant_handoff(g), 0);
    const char *node = textf("%s", zkr_grant_node(g));
    const char *record = textf("%s", zkr_grant_record(g));
    assert_has(record, "\"pid\":");
    tells(zkr_mutex_acquire(m, 1, &nil), ZKR_ETIMEDOUT,
          ", waiting for another thread");
    release(g);
    AWAIT(is_alone());
    /* the watch on the node has been set, too */
    ok(zkr_grant_listen(g = acquire(m), record_grant, r));
    settle(s);
    release(g);
    proxy_reset_counts(proxy);
    for (uint64_t i = 2; i < 100; i++) {
        g = GRANT(mutex_acquire, m, i % 2 == 0 ? 0 : SOON_MS);
        assert_int_equal(zkr_mutex_acquire(m, 0, &nil), ZKR_EBUSY);
        assert_int_equal(zkr_grant_check(g), ZKR_OK);
        assert_true(zkr_grant_token(g) == token);
        assert_true(zkr_grant_handoff(g) == i);
        assert_string_equal(zkr_grant_node(g), node);
        assert_string_equal(zkr_grant_record(g), record);
        release(g);
    }
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP) +
                         proxy_requests(proxy, ZOO_CREATE_OP) +
                         proxy_requests(proxy, ZOO_DELETE_OP) +
                         proxy_requests(proxy, ZOO_GETCHILDREN2_OP) +
                         proxy_requests(proxy, ZOO_GETDATA_OP) +
                         proxy_requests(proxy, ZOO_EXISTS_OP),
                     0);
    assert_int_equal(count_children(path), 1);
}

/* The count of the grant is the number of the claim. */
static void record_in_order(int error, zkr_grant *g, void *number)
{
    bool in_order =
        error == ZKR_OK && zkr_grant_handoff(g) == *(const uint64_t *)number;

    record_acquire(in_order ? error : ZKR_EINVAL, g, r);
}

TEST(those_who_wait_here_are_granted_in_their_order)
{
    enum { N = 20 };
    zkr_grant *g = acquire(m);
    int64_t token = zkr_grant_token(g);
    uint64_t numbers[N];

    for (uint64_t i = 0; i < N; i++) {
        numbers[i] = i + 1;
        ok(zkr_mutex_acquire_async(m, -1, record_in_order, &numbers[i], NULL));
    }
    for (uint64_t i = 1; i <= N; i++) {
        assert_int_equal(recorder_count(r), i - 1);
        ok(zkr_grant_release_async(g, NULL, NULL));
        assert_int_equal(zkr_grant_check(g), ZKR_ENOTHELD);
        zkr_grant_free(g);
        assert_int_equal(zkr_mutex_acquire(m, 0, &nil), ZKR_EBUSY);
        g = next();
        assert_true(zkr_grant_token(g) == token);
        assert_true(zkr_grant_handoff(g) == i);
        assert_int_equal(zkr_grant_check(g), ZKR_OK);
        wait_verified(g);
    }
    release(g);
    assert_int_equal(count_children(path), 1);
}

/* -- given back ----------------------------------------------------------- */

TEST(an_unwanted_lock_goes_back_after_a_while)
{
    zkr_mutex_free(m);
    m = staying(50);
    for (int i = 0; i < 5; i++)
        release(acquire(m));
    wait_children(path, 0);
    release(acquire(m));
    wait_children(path, 0);
}

TEST(a_kept_lock_goes_back_when_another_comes)
{
    keep_it();
    AUTO(held) g = acquire(rival);
    wait_here(1);
    g = pass_on(g);
    assert_true(zkr_grant_handoff(g) == 0);
}

/* Those that have waited here since before the other came, too. The next node
 * has the same bound, and stays when nobody waits any more. */
TEST(another_waits_for_a_bounded_number_of_grants)
{
    enum { ROUNDS = 2 };
    struct waiter w[ROUNDS];

    keep_it();
    zkr_grant *g = acquire(m);
    wait_here(ROUNDS * (MAX + 1));
    waiter_queue(&w[0], rival);
    for (size_t round = 0; round < ROUNDS; round++) {
        int64_t token = zkr_grant_token(g);

        AWAIT(round > 0 || has_seen_others());
        for (int i = 0; i < MAX; i++) {
            g = pass_on(g);
            assert_false(waiter_is_done(&w[round]));
        }
        release(g);
        assert_int_equal(waiter_join(&w[round]), ZKR_OK);
        assert_int_equal(recorder_count(r), MAX + round * (MAX + 1));
        assert_true(zkr_grant_token(w[round].grant) > token);
        wait_children(path, 2);
        if (round + 1 < ROUNDS)
            waiter_queue(&w[round + 1], rival);
        release(w[round].grant);
        g = next();
    }
    release(g);
    settle(s);
    assert_int_equal(count_children(path), 1);
}

/* While the list is not answered it is not known whether somebody waits. */
TEST(at_the_bound_the_list_is_waited_for)
{
    zkr_grant *g = acquire(m);
    int64_t token = zkr_grant_token(g);

    wait_here(2 * MAX);
    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REPLY);
    for (int i = 0; i < MAX; i++)
        g = pass_on(g);
    release(g);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    assert_true(LOCKED(s, cohort()->holder == NULL));
    proxy_release(proxy);
    for (int i = 0; i < MAX; i++) {
        g = next();
        assert_true(zkr_grant_token(g) == token);
        release(g);
    }
}

/* For all that can be seen others wait. */
TEST(a_lock_whose_queue_cannot_be_listed_does_not_stay)
{
    struct ACL acl = { ZOO_PERM_ALL & ~ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE };
    struct ACL_vector no_lists = { 1, &acl };
    zkr_grant *g = acquire(m);

    assert_int_equal(admin_set_acl(admin, path, &no_lists), ZOK);
    wait_here(1);
    g = pass_on(g); /* it looks now */
    AWAIT(has_seen_others());
    release(g);
    AWAIT(has_no_node());
    assert_int_equal(admin_set_acl(admin, path, &ZOO_OPEN_ACL_UNSAFE), ZOK);
    wait_children(path, 0);
}

/* Nobody was told: the release had succeeded long before. */
TEST(a_node_that_is_refused_later_is_counted)
{
    for (int i = 0; i < 2; i++) {
        keep_it();
        proxy_rule_error(proxy, ZOO_DELETE_OP, 1, ZNOAUTH);
        proxy_rule_error(proxy, ZOO_DELETE_OP, 2, ZNOAUTH); /* once more */
        ok(zkr_lockable_give_back(m));
        assert_true(proxy_wait_rule(proxy, SOON_MS));
        if (i == 0) /* its own claims get past it */
            release(acquire(m));
        ok(zkr_lockable_give_back(m));
        wait_children(path, 0);
    }
    assert_int_equal(lock_stats(m).refusals, 2);
}

TEST(after_a_yield_the_holder_gives_it_back)
{
    ok(zkr_lockable_give_back(m)); /* there is nothing yet */
    keep_it();
    ok(zkr_lockable_give_back(m)); /* what is kept */
    wait_children(path, 0);
    zkr_grant *g = acquire(m);
    int64_t token = zkr_grant_token(g);
    wait_here(2);
    ok(zkr_lockable_give_back(m));
    assert_int_equal(zkr_grant_check(g), ZKR_OK);
    g = pass_on(g);
    assert_true(zkr_grant_token(g) > token);
    token = zkr_grant_token(g);
    g = pass_on(g);
    assert_true(zkr_grant_token(g) == token);
    ok(zkr_lockable_give_back(m));
    proxy_rule_error(proxy, ZOO_DELETE_OP, 1, ZNOAUTH);
    assert_int_equal(zkr_grant_release(g), ZKR_ZNOAUTH);
    zkr_grant_free(g);
}

/* It goes to the servers for the first of them, who only tries. */
TEST(a_try_that_fails_ends_no_wait)
{
    zkr_grant *g = acquire(rival);

    proxy_rule(proxy, ZOO_GETCHILDREN2_OP, 1, PROXY_HOLD_REPLY);
    struct waiter tries = WAITER(start, m, 0);
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    struct waiter w = WAITER(start, m, -1);
    AWAIT(lock_stats(m).acquires == 2);
    proxy_release(proxy);
    assert_int_equal(waiter_join(&tries), ZKR_EBUSY);
    release_to(g, &w);
}

TEST(a_request_for_the_lock_gets_it)
{
    zkr_grant *g = acquire(m);
    int64_t token = zkr_grant_token(g);

    release(g);
    g = acquire(m);
    ok(zkr_grant_listen(g, record_grant, r));
    settle(s);
    ok(zkr_participants_revoke(theirs, zkr_grant_node(g)));
    assert_int_equal(recorded(r, 0), 100); /* asked for */
    ok(zkr_grant_listen(g, NULL, NULL));
    release(g);
    wait_children(path, 0);
    g = acquire(m);
    assert_true(zkr_grant_token(g) > token);
    ok(zkr_grant_listen(g, record_grant, r)); /* sets the watch */
    settle(s);
    ok(zkr_grant_listen(g, NULL, NULL));
    const char *node = textf("%s", zkr_grant_node(g));
    release(g); /* it stays, */
    ok(zkr_participants_revoke(theirs, node));
    wait_children(path, 0); /* the node stays until then */
}

/* The holder is told of it, and gives the node back. */
TEST(a_request_for_a_node_that_waits_is_for_its_first_holder)
{
    zkr_grant *g = acquire(rival);

    wait_here(1);
    wait_children(path, 2);
    AUTO(text) node = nth_child(path, 1);
    ok(zkr_participants_revoke(theirs, textf("%s/%s", path, node)));
    settle(s);
    release(g);
    g = next();
    ok(zkr_grant_listen(g, record_grant, r));
    assert_int_equal(recorded(r, 1), 100); /* asked for */
    ok(zkr_grant_listen(g, NULL, NULL));
    release(g);
    wait_children(path, 0);
}

/* Its reply is lost, so it may be carried out later. */
TEST_WITH(a_node_with_an_unknown_write_is_not_handed_on, set_up_without_lease,
          tear_down)
{
    AUTO(held) g = acquire(m);
    int64_t token = zkr_grant_token(g);

    wait_here(1);
    proxy_rule(proxy, ZOO_MULTI_OP, 1, PROXY_DROP_REPLY);
    assert_int_equal(
        zkr_grant_guarded_create(g, "/no/such/parent", "", 0, SOON_MS),
        ZKR_EUNKNOWN);
    wait_grant_state(g, ZKR_GRANT_HELD);
    g = pass_on(g);
    assert_true(zkr_grant_token(g) > token);
    token = zkr_grant_token(g);
    assert_int_equal(
        zkr_grant_guarded_create(g, "/no/such/parent", "", 0, SOON_MS),
        ZNONODE);
    release(g);
    g = acquire(m);
    assert_true(zkr_grant_token(g) == token);
}

TEST(a_grant_in_doubt_is_not_handed_on)
{
    AUTO(held) g = acquire(m);
    int64_t token = zkr_grant_token(g);

    wait_here(1);
    proxy_cut(proxy);
    wait_grant_state(g, ZKR_GRANT_SUSPENDED);
    ok(zkr_grant_release_async(g, NULL, NULL));
    zkr_grant_free(g);
    proxy_heal(proxy);
    g = next();
    assert_true(zkr_grant_token(g) > token);
}

/* -- lost ----------------------------------------------------------------- */

static void node_is_deleted(void)
{
    delete_nth_child(path, 0);
}

static void session_ends(void)
{
    expire_and_wait(s);
}

static const struct {
    const char *name;
    void (*happens)(void);
    enum zkr_loss loss;
} losses[] = { { "its node is deleted", node_is_deleted, ZKR_LOSS_DELETED },
               { "its session ends", session_ends, ZKR_LOSS_EXPIRED } };

/* While it is kept, and while it is held. */
TEST_ROWS(after_a_loss_the_next_starts_anew, losses, row)
{
    zkr_grant *kept = acquire(m);
    int64_t token = zkr_grant_token(kept);

    ok(zkr_grant_listen(kept, record_grant, r)); /* sets the watch */
    settle(s);
    ok(zkr_grant_listen(kept, NULL, NULL));
    release(kept);
    row->happens();
    AWAIT(has_no_node());
    AUTO(grant) lost = acquire(m);
    assert_true(zkr_grant_token(lost) > token);
    assert_true(zkr_grant_handoff(lost) == 0);
    wait_here(2);
    row->happens();
    zkr_grant *g = next();
    assert_int_equal(zkr_grant_state(lost), ZKR_GRANT_LOST);
    assert_int_equal(zkr_grant_loss(lost), row->loss);
    assert_true(zkr_grant_token(g) > zkr_grant_token(lost));
    assert_true(zkr_grant_handoff(g) == 0);
    assert_int_equal(zkr_grant_release(lost), ZKR_ELOST);
    release(g);
    release(next());
    assert_int_equal(count_children(path), 1);
}

/* -- those who give up ---------------------------------------------------- */

TEST(who_gives_up_costs_no_place_and_the_last_leaves_nothing)
{
    zkr_grant *holder = acquire(rival);

    tells(zkr_mutex_acquire(m, 0, &nil), ZKR_EBUSY, path); /* the delegate's */
    tells(zkr_mutex_acquire(m, GIVE_UP_MS, &nil), ZKR_ETIMEDOUT, "waiting for");
    wait_children(path, 1);
    wait_here(3);
    wait_children(path, 2);
    tells(zkr_mutex_acquire(m, 0, &nil), ZKR_EBUSY, "wanted by another thread");
    ok(zkr_lockable_cancel(m));
    for (int i = 0; i < 3; i++)
        assert_int_equal(recorded(r, looked_at++), ZKR_ECANCELED);
    wait_children(path, 1);
    zkr_request *request =
        MADE(request, mutex_acquire_async, m, -1, record_acquire, r);
    wait_here(1);
    wait_children(path, 2);
    AUTO(text) place = nth_child(path, 1);
    assert_int_equal(zkr_mutex_acquire(m, GIVE_UP_MS, &nil), ZKR_ETIMEDOUT);
    ok(zkr_request_cancel(request));
    zkr_request_free(request);
    assert_int_equal(recorded(r, looked_at++), ZKR_ECANCELED);
    settle(s);
    AUTO(text) same = nth_child(path, 1);
    assert_string_equal(place, same);
    release(holder);
    release(next());
    keep_it();
}

/* -- other recipes -------------------------------------------------------- */

TEST(a_write_lock_with_a_reader_beside_it_goes_back)
{
    AUTO(rwlock) lock =
        NEW(rwlock, s, path, OPTS(lockable, .retain_ms = FOR_EVER_MS));
    assert_int_equal(lock->lock->cohort->max, 64); /* the default */
    zkr_grant *write = GRANT(rwlock_acquire_write, lock, SOON_MS);
    release(write);
    assert_int_equal(count_children(path), 1);
    ok(zkr_rwlock_acquire_write(lock, SOON_MS, &write));
    assert_true(zkr_grant_handoff(write) == 1);
    struct waiter w = WAITER(start_by, by_writing, lock, SOON_MS);
    zkr_grant *read = GRANT(rwlock_acquire_read, lock, SOON_MS);
    release(write);
    assert_int_equal(zkr_grant_check(read), ZKR_OK);
    assert_int_equal(zkr_rwlock_acquire_write(lock, 0, &nil), ZKR_EDEADLK);
    wait_children(path, 2); /* of the reader, and of the writer that waits */
    assert_false(waiter_is_done(&w));
    release_to(read, &w);
    ok(zkr_lockable_give_back(lock));
    wait_children(path, 0);
}
