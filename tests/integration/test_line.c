/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the line on a real server: what the claims of one session know of
 * each other, counted in requests, that it never lets two of them in, and what
 * a claim costs that waits. */
#include <malloc.h>

#include "lock/claim.h"
#include "lock/locks.h"
#include "usual.h" /* has names that headers above have, too */

FIXTURE(usual_setup_two, usual_teardown)

/* So many claims know that their nodes are there. Of a holder nothing is
 * read in the first moments, later it may be. */
static void wait_watched(long count)
{
    AWAIT(proxy_requests(proxy, ZOO_GETDATA_OP) >= count);
    settle(s);
}

TEST(ten_claims_need_two_lists)
{
    enum { N = 10 };
    AUTO(recorder) told = recorder_new();

    release(acquire(m)); /* the directory is there */
    proxy_reset_counts(proxy);
    proxy_set_latency(proxy, 50); /* the first list waits for the others */
    for (int i = 0; i < N; i++)
        ok(zkr_mutex_acquire_async(m, -1, record_acquire, told, NULL));
    for (size_t i = 0; i < N; i++)
        release(recorded_grant(told, i));
    assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), N);
    assert_true(proxy_requests(proxy, ZOO_GETCHILDREN2_OP) <= 2);
    assert_true(proxy_requests(proxy, ZOO_GETDATA_OP) <= N);
    assert_true(proxy_requests(proxy, ZOO_EXISTS_OP) <= 1);
    assert_int_equal(proxy_requests(proxy, ZOO_DELETE_OP), N);
}

/* The second acquire watches the directory. Returns the last node's number. */
static int get_known(void)
{
    int number = 0;

    for (int i = 0; i < 2; i++) {
        AUTO(held) g = acquire(m);
        const char *node = zkr_grant_node(g);

        number = atoi(node + strlen(node) - 10);
    }
    settle(s);
    return number;
}

/* The first of its session that waits: others are ahead. The list that went
 * with its create is the answer; once a second one was sent. */
TEST(a_claim_behind_others_lists_once)
{
    AUTO(recorder) told = recorder_new();

    (void)get_known();
    AUTO(held) g = acquire(rival);
    for (size_t i = 0; i < 4; i++) {
        proxy_reset_counts(proxy);
        AUTO(request)
        claim = MADE(request, mutex_acquire_async, m, -1, record_acquire, told);
        wait_children(path, 2);
        /* It reads the node ahead: all lists have been sent. */
        AWAIT(proxy_requests(proxy, ZOO_GETDATA_OP) >= 1);
        assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 1);
        assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN2_OP), 1);
        ok(zkr_request_cancel(claim));
        assert_int_equal(recorded(told, i), ZKR_ECANCELED);
        wait_children(path, 1);
    }
}

static const char *stranger(const char *number)
{
    return textf("%s/_c_57ca8e00-0000-4000-8000-000000000000-lock-%s", path,
                 number);
}

/* Others delete the directory and make it again, and their nodes have the
 * numbers that ours had. The last one holds the lock. */
TEST(another_directory_is_noticed)
{
    int last = get_known();

    assert_int_equal(admin_delete_tree(admin, path), ZOK);
    assert_int_equal(admin_create(admin, path, NULL), ZOK);
    for (int i = 0; i <= last; i++)
        ok(admin_create_flags(admin, stranger(""), NULL, ZOO_SEQUENCE, NULL,
                              0));
    for (int i = 0; i < last; i++)
        ok(admin_delete(admin, stranger(textf("%010d", i))));
    struct waiter w = WAITER(queue, m);
    settle(s);
    assert_false(waiter_is_done(&w));
    ok(admin_delete(admin, stranger(textf("%010d", last))));
    release(waiter_grant(&w));
}

/* Of one handle, of two on one path, and after a new connection. */
TEST(two_threads_hand_over_without_a_list_unless_the_connection_is_new)
{
    AUTO(mutex) second = new_mutex(s, path);
    zkr_mutex *next[] = { m, second, m };

    for (size_t i = 0; i < 3; i++) {
        zkr_grant *g = acquire(m);

        proxy_reset_counts(proxy);
        struct waiter w = WAITER(queue, next[i]);
        wait_watched(1);
        if (i == 2) {
            disconnect(proxy, s);
            connect_again(proxy, s);
        }
        proxy_reset_counts(proxy);
        AUTO(held) granted = hand_to(g, &w);
        long lists = proxy_requests(proxy, ZOO_GETCHILDREN2_OP);
        assert_true(i == 2 ? lists >= 1 : lists == 0);
        assert_int_equal(proxy_requests(proxy, ZOO_CREATE2_OP), 0);
        wait_verified(granted);
    }
}

TEST(a_claim_that_loses_its_node_queues_again)
{
    static const size_t order[] = { 1, 2, 0 };
    struct waiter waiters[3];
    zkr_grant *g = acquire(m);

    for (size_t i = 0; i < 3; i++)
        waiter_queue(&waiters[i], m);
    AUTO(text) old = nth_child(path, 1);
    delete_nth_child(path, 1);
    AWAIT(child_is_new(path, 1, old) && count_children(path) == 4);
    settle(s);
    release(g);
    for (size_t i = 0; i < 3; i++) {
        AUTO(held) next = waiter_grant(&waiters[order[i]]);
        settle(s);
        for (size_t j = i + 1; j < 3; j++)
            assert_false(waiter_is_done(&waiters[order[j]]));
    }
}

TEST(whose_neighbours_are_cancelled_is_granted)
{
    AUTO(recorder) told = recorder_new();
    AUTO(mutex) other = new_mutex(s, path);
    zkr_grant *g = acquire(rival);

    ok(zkr_mutex_acquire_async(m, -1, record_acquire, told, NULL));
    wait_children(path, 2);
    ok(zkr_mutex_acquire_async(other, -1, record_acquire, told, NULL));
    wait_children(path, 3);
    settle(s);
    ok(zkr_lockable_cancel(m));
    assert_int_equal(recorded(told, 0), ZKR_ECANCELED);
    release(g);
    release(recorded_grant(told, 1));
}

TEST(a_lost_lock_passes_to_the_neighbour)
{
    AUTO(grant) g = acquire(m);
    struct waiter w = WAITER(queue, m);

    delete_nth_child(path, 0);
    wait_grant_state(g, ZKR_GRANT_LOST);
    AUTO(held) next = waiter_grant(&w);
    assert_int_equal(zkr_grant_check(g), ZKR_ELOST);
    wait_verified(next);
}

static const struct {
    const char *name;
    enum proxy_action action;
} held_back[] = { { "unanswered", PROXY_HOLD_REPLY },
                  { "unsent", PROXY_HOLD_REQUEST } };

TEST_ROWS(a_write_keeps_the_neighbour_waiting, held_back, row)
{
    AUTO(recorder) told = recorder_new();
    AUTO(recorder) written = recorder_new();
    AUTO(grant) g = acquire(m);
    const char *data = textf("%s-data", path);

    assert_int_equal(admin_create(admin, data, "old"), ZOK);
    AUTO(txn) write = MADE(txn, txn_new_guarded, g);
    ok(zkr_txn_set(write, data, "new", 3, ZKR_ANY_VERSION));
    ok(zkr_mutex_acquire_async(m, -1, record_acquire, told, NULL));
    AUTO(request)
    last = MADE(request, mutex_acquire_async, m, -1, record_acquire, told);
    wait_children(path, 3);
    settle(s);
    proxy_rule(proxy, ZOO_MULTI_OP, 1, row->action);
    ok(zkr_txn_commit_async(write, -1, record_commit, written));
    assert_true(proxy_wait_rule(proxy, SOON_MS));
    /* Callbacks run in order: if the neighbour had been granted the lock, it
     * would have been told before the last one was told that it is
     * cancelled. */
    ok(zkr_grant_release_async(g, NULL, NULL));
    ok(zkr_request_cancel(last));
    assert_int_equal(recorded(told, 0), ZKR_ECANCELED);
    assert_int_equal(recorder_count(told), 1);
    proxy_release(proxy);
    assert_true(recorder_wait(written, 1, SOON_MS));
    release(recorded_grant(told, 1));
    assert_int_equal(admin_delete(admin, data), ZOK);
}

TEST(readers_follow_a_writer_without_a_list)
{
    enum { READERS = 3 };
    struct waiter readers[READERS];

    AUTO(rwlock) lock = NEW(rwlock, s, path, NULL);
    zkr_grant *writing = GRANT(rwlock_acquire_write, lock, -1);
    proxy_reset_counts(proxy);
    for (size_t i = 0; i < READERS; i++)
        waiter_queue_by(&readers[i], by_reading, lock, path);
    struct waiter writer = WAITER(queue_by, by_writing, lock, path);
    wait_watched(READERS + 1);
    proxy_reset_counts(proxy);
    release(writing);
    for (size_t i = 0; i < READERS; i++)
        ok(waiter_join(&readers[i]));
    assert_int_equal(proxy_requests(proxy, ZOO_GETCHILDREN2_OP), 0);
    for (size_t i = 0; i < READERS; i++) {
        settle(s);
        assert_false(waiter_is_done(&writer));
        release(readers[i].grant);
    }
    release(waiter_grant(&writer));
}

/* -- what one costs -------------------------------------------------------- */

/* Thousands may wait in one session, so what a claim needs in rare cases only
 * is not a part of it. */
enum { FEW = 10, MANY = 1000, SOME = 200 };

static int waiting(zkr_session *of)
{
    int count = 0;

    zkr__session_lock(of);
    for (struct zkr__list *l = zkr__locks_of(of)->claims.next;
         l != &zkr__locks_of(of)->claims; l = l->next)
        count += ZKR__CONTAINER(l, struct zkr__claim, link)->sm.state ==
                 ZKR__CLAIM_WAITING;
    zkr__session_unlock(of);
    return count;
}

/* A thousand claims that come at once, or each when the one before it waits. */
static void let_wait(int count, bool in_turn, struct recorder *told)
{
    int all = waiting(s) + waiting(theirs);

    for (int i = 1; i <= count; i++) {
        ok(zkr_mutex_acquire_async(in_turn && i % 2 == 1 ? rival : m, -1,
                                   record_acquire, told, NULL));
        all++;
        if (in_turn || i == count)
            AWAIT(waiting(s) + waiting(theirs) == all);
    }
    settle(s); /* the client frees what it has sent */
    settle(theirs);
}

/* Behind a holder `count` claims, of one session or of both in turn, cost at
 * most `limit` each, besides so many names. It needs allocations that can be
 * counted: under a sanitizer it tests nothing. */
static void assert_cost(int count, bool in_turn, size_t limit, size_t names)
{
    size_t name = strlen(path) + 1 + ZKR__NODE_MAX;
    AUTO(recorder) told = recorder_new();
    AUTO(held) g = acquire(m);

    let_wait(FEW, in_turn, told); /* what all have in common */
    size_t before = mallinfo2().uordblks;
    let_wait(count, in_turn, told);
    size_t after = mallinfo2().uordblks;
    size_t each = after > before ? (after - before) / (size_t)count : 0;
    if (each > limit + names * name)
        fail_msg("%zu bytes each, with %zu names of %zu", each, names, name);
    ok(zkr_lockable_cancel(m));
    ok(zkr_lockable_cancel(rival));
    AWAIT(recorder_count(told) == (size_t)(FEW + count));
}

/* The names: what is sent, the node, and what is swept. */
TEST(a_claim_behind_one_of_ours_costs_2_kib_at_most)
{
    assert_cost(MANY, false, 2048, 3);
}

/* It has a watch, for which the client needs memory, too, and may look for
 * ghosts. All three have the name of the other node. */
TEST(a_claim_behind_one_of_others_costs_3_kib_at_most)
{
    assert_cost(SOME, true, 3072, 6);
}
