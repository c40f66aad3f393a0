/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of transactions: all or nothing, what is told, the lock in front. */
#include "usual.h"

#include "victim.h"

/* Sessions without a lease make no transactions of their own. */
#define LONG_MS 12000
static char dir[96]; /* a node with the text "old" */

static int setup(void)
{
    atomic_store(&victim_id, 0);
    (void)usual_setup_with(OPTS(session, .session_timeout_ms = LONG_MS,
                                .flags = ZKR_SESSION_NO_LEASE));
    (void)snprintf(dir, sizeof(dir), "%s-data", path);
    assert_int_equal(admin_create(admin, dir, "old"), ZOK);
    return 0;
}

FIXTURE(setup, usual_teardown)

static const char *in_dir(const char *name)
{
    return textf("%s/%s", dir, name);
}

/* Replaces the data of the directory, and makes a node in it. */
static zkr_txn *add_two(zkr_txn *t, const char *data, const char *name)
{
    ok(zkr_txn_set(t, dir, data, strlen(data), ZKR_ANY_VERSION));
    ok(zkr_txn_create(t, in_dir(name), "", 0, NULL));
    return t;
}

static void both_are_made(const char *data, const char *name)
{
    node_has(dir, data);
    assert_int_equal(admin_exists(admin, in_dir(name), NULL), ZOK);
}

/* -- all or nothing -------------------------------------------------------- */

TEST(all_are_made_in_their_order)
{
    AUTO(txn) t = NEW(txn, s, NULL);

    ok(zkr_txn_create(t, in_dir("a"), "1", 1, NULL));
    ok(zkr_txn_check(t, in_dir("a"), 0));
    ok(zkr_txn_set(t, in_dir("a"), "22", 2, 0));
    ok(zkr_txn_delete(t, in_dir("a"), 1));
    ok(zkr_txn_create(t, in_dir("n-"), NULL, 0,
                      OPTS(create, .mode = ZKR_CREATE_EPHEMERAL_SEQUENTIAL,
                           .acl = "world:anyone:rd")));
    ok(zkr_txn_commit(t, 0));
    assert_int_equal(zkr_txn_failed(t), -1);
    assert_string_equal(zkr_txn_path(t, 0), in_dir("a"));
    assert_int_equal(zkr_txn_stat(t, 2)->version, 1);
    assert_int_equal(zkr_txn_stat(t, 2)->data_len, 2);
    assert_string_equal(zkr_txn_path(t, 4), in_dir("n-0000000001"));
    assert_null(zkr_txn_path(t, 2));
    assert_null(zkr_txn_stat(t, 0));
    assert_null(zkr_txn_path(t, 5));
    assert_null(zkr_txn_stat(t, 5));
    assert_int_equal(admin_exists(admin, in_dir("a"), NULL), ZNONODE);
    assert_true(stat_of(zkr_txn_path(t, 4)).ephemeralOwner ==
                zkr_session_id(s));
}

/* The others are left out because of one. */
TEST(none_is_made_when_one_is_refused)
{
    for (int wrong = 0; wrong < 3; wrong++) {
        AUTO(txn) t = NEW(txn, s, NULL);

        for (int i = 0; i < 3; i++)
            ok(zkr_txn_set(t, dir, "new", 3, i == wrong ? 9 : i));
        assert_int_equal(zkr_txn_commit(t, SOON_MS), ZKR_ZBADVERSION);
        assert_int_equal(zkr_txn_failed(t), wrong);
        assert_has(zkr_error_detail(), textf("operation %d", wrong));
        assert_non_null(strstr(zkr_error_detail(), dir));
        for (size_t i = 0; i < 3; i++)
            assert_null(zkr_txn_stat(t, i));
        node_has(dir, "old");
    }
    AUTO(txn) one = NEW(txn, s, NULL);
    ok(zkr_txn_check(one, in_dir("none"), ZKR_ANY_VERSION));
    assert_int_equal(zkr_txn_commit(one, 0), ZKR_ZNONODE);
    assert_int_equal(zkr_txn_failed(one), 0);
    assert_lacks(zkr_error_detail(), "operation");
}

TEST(a_transaction_is_for_one_session_and_one_commit)
{
    AUTO(recorder) told = recorder_new();
    AUTO(session) other = open_session();
    AUTO(txn) foreign = NULL;
    AUTO(txn) t = NEW(txn, s, NULL);
    zkr_grant *g = acquire(m);

    gives(ZKR_EINVAL, zkr_txn_new(other, OPTS(txn, .guard = g), &foreign));
    ok(zkr_txn_set(t, dir, "x", 1, ZKR_ANY_VERSION));
    ok(zkr_txn_commit(t, SOON_MS));
    assert_int_equal(zkr_txn_stat(t, 0)->version, 1);
    node_has(dir, "x");
    assert_int_equal(zkr_txn_commit(t, 0), ZKR_EINVAL);
    gives(ZKR_EINVAL, zkr_txn_commit_async(t, 0, record_commit, told));
    assert_int_equal(zkr_txn_check(t, "/a", 0), ZKR_EINVAL);
    release(g);
    settle(s);
    assert_int_equal(recorder_count(told), 0);
}

/* The largest that fits is one that the server takes. */
TEST(a_large_transaction_is_taken)
{
    AUTO(txn) t = NEW(txn, s, NULL);
    int count = 0, rc;

    do {
        rc = zkr_txn_create(t, in_dir(textf("%080d", count)), "", 0, NULL);
        count += rc == ZKR_OK;
    } while (rc == ZKR_OK);
    assert_int_equal(rc, ZKR_ETOOLONG);
    assert_true(count > 1000);
    ok(zkr_txn_commit(t, SOON_MS));
    assert_int_equal(count_children(dir), count);
    assert_int_equal(admin_delete_tree(admin, dir), ZOK);
}

/* -- under a lock ---------------------------------------------------------- */

TEST(a_holder_commits)
{
    zkr_grant *g = acquire(m);
    AUTO(txn) t = add_two(MADE(txn, txn_new_guarded, g), "new", "a");

    ok(zkr_txn_commit(t, 0));
    both_are_made("new", "a");
    assert_int_equal(zkr_txn_stat(t, 0)->version, 1);
    assert_string_equal(zkr_txn_path(t, 1), in_dir("a"));
    /* it exists by now */
    AUTO(txn) again = add_two(MADE(txn, txn_new_guarded, g), "newer", "a");
    assert_int_equal(zkr_txn_commit(again, 0), ZKR_ZNODEEXISTS);
    assert_int_equal(zkr_txn_failed(again), 1); /* not counting the lock */
    assert_non_null(strstr(zkr_error_detail(), path));
    assert_non_null(strstr(zkr_error_detail(), in_dir("a")));
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_HELD);
    /* no such node, and it is not that of the lock */
    AUTO(txn) missing = MADE(txn, txn_new_guarded, g);
    ok(zkr_txn_delete(missing, in_dir("none"), ZKR_ANY_VERSION));
    ok(zkr_txn_delete(missing, in_dir("a"), ZKR_ANY_VERSION));
    assert_int_equal(zkr_txn_commit(missing, 0), ZKR_ZNONODE);
    assert_int_equal(zkr_txn_failed(missing), 0);
    assert_int_equal(zkr_grant_state(g), ZKR_GRANT_HELD);
    AUTO(txn) late = add_two(MADE(txn, txn_new_guarded, g), "late", "b");
    release(g);
    assert_int_equal(zkr_txn_commit(late, 0), ZKR_ENOTHELD); /* it was freed */
    both_are_made("new", "a");
}

/* A guarded commit is of its session, also when it was never sent; without a
 * guard it is for the next session. */
TEST(a_commit_does_not_outlive_the_session_of_its_guard)
{
    AUTO(recorder) told = recorder_new();
    AUTO(recorder) unguarded = recorder_new();

    for (int time = 0; time < TWICE; time++) {
        AUTO(grant) g = acquire(m);
        zkr_txn *t = add_two(MADE(txn, txn_new_guarded, g), "late", "late");
        AUTO(txn) of_none =
            add_two(NEW(txn, s, NULL), "new", time == 0 ? "a" : "b");

        proxy_cut(proxy);
        wait_grant_state(g, ZKR_GRANT_SUSPENDED);
        proxy_reset_counts(proxy);
        ok(zkr_txn_commit_async(t, -1, record_commit, told));
        zkr_txn_free(t); /* it goes on */
        ok(zkr_txn_commit_async(of_none, -1, record_commit, unguarded));
        expire(s);
        proxy_heal(proxy);
        assert_int_equal(recorded(told, (size_t)time), ZKR_ELOST);
        ok(recorded(unguarded, (size_t)time));
        assert_non_null(zkr_txn_path(of_none, 1));
        settle(s);
        both_are_made("new", time == 0 ? "a" : "b");
        assert_int_equal(admin_exists(admin, in_dir("late"), NULL), ZNONODE);
        assert_int_equal(proxy_requests(proxy, ZOO_MULTI_OP), 1);
    }
}

/* -- the client's transaction ---------------------------------------------- */

/* The client aborts if the handle expires in any operation but the last. */
TEST(a_session_that_ends_at_the_worst_moment_does_no_harm)
{
    for (int time = 0; time < TWICE; time++) {
        AUTO(txn) t = NEW(txn, s, NULL);

        for (int i = 0; i < 20; i++)
            ok(zkr_txn_set(t, dir, "x", 1, ZKR_ANY_VERSION));
        atomic_store(&victim_id, zkr_session_id(s));
        assert_int_equal(zkr_txn_commit(t, SOON_MS), ZKR_EUNKNOWN);
        assert_int_equal(atomic_load(&victim_id), 0);
        settle(s);
        node_has(dir, "old");
    }
}
