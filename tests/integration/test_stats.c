/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the counters: exact counts of what sessions and locks have done. */
#include "usual.h"

FIXTURE(usual_setup_two, usual_teardown)

static uint64_t sum(const uint64_t *rows)
{
    uint64_t all = 0;

    for (int i = 0; i < ZKR_STATS_ROWS; i++)
        all += rows[i];
    return all;
}

/* The sums that are right at all times. */
static void assert_sums(const struct zkr_counters *n, uint64_t under_way,
                        uint64_t held)
{
    assert_int_equal(n->acquires, n->grants + n->busy + n->timeouts +
                                      n->cancels + n->failures + under_way);
    assert_int_equal(n->grants, n->releases + n->losses + held);
    assert_int_equal(sum(n->wait_us_log2), n->grants);
    assert_int_equal(sum(n->hold_us_log2), n->releases + n->losses);
    assert_true(n->waits <= n->acquires && n->handoffs <= n->grants);
}

/* Returns the counters of a lock, whose sums must be right. */
static struct zkr_counters counted(zkr_lockable *lock, uint64_t held)
{
    struct zkr_counters n = lock_stats(lock);

    assert_sums(&n, 0, held);
    return n;
}

/* -- outcomes ------------------------------------------------------------- */

TEST(each_outcome_is_counted_as_what_it_is)
{
    struct zkr_counters zero = ZKR_COUNTERS_INIT;
    struct zkr_counters n = lock_stats(m);

    assert_memory_equal(&n, &zero, sizeof(n));
    n = session_stats(s);
    assert_memory_equal(&n, &zero, sizeof(n));
    AUTO(held) held = acquire(rival);
    assert_int_equal(zkr_mutex_acquire(m, 0, &nil), ZKR_EBUSY);
    assert_int_equal(zkr_mutex_acquire(m, 1, &nil), ZKR_ETIMEDOUT);
    wait_children(path, 1); /* its node has gone */
    struct waiter w = WAITER(queue, m);
    n = lock_stats(m);
    assert_sums(&n, 1, 0);
    ok(zkr_lockable_cancel(m));
    assert_int_equal(waiter_join(&w), ZKR_ECANCELED);
    n = counted(m, 0);
    assert_int_equal(n.acquires, 3);
    assert_int_equal(n.busy, 1);
    assert_int_equal(n.timeouts, 1);
    assert_int_equal(n.cancels, 1);
    assert_int_equal(n.grants, 0);
}

/* It waits for one node, and when that has gone for another. */
TEST(a_wait_is_counted_with_its_time)
{
    zkr_grant *held = acquire(rival);
    struct stopwatch *watch = stopwatch_start();
    struct waiter between = WAITER(start, rival, -1);

    AWAIT(lock_stats(rival).waits > 0);
    struct waiter w = WAITER(start, m, -1);
    AWAIT(lock_stats(m).waits > 0);
    ok(zkr_lockable_cancel(rival));
    assert_int_equal(waiter_join(&between), ZKR_ECANCELED);
    AWAIT(server_watches(the_server, zkr_grant_node(held), 0) > 0);
    int64_t least_ns = stopwatch_lap(watch).took_ns;
    release_to(held, &w);
    struct zkr_counters n = counted(m, 0);
    assert_int_equal(n.waits, 1);
    assert_int_equal(n.grants, 1);
    assert_int_equal(n.wait_us_log2[63 - __builtin_clzll(n.wait_us)], 1);
    assert_int_equal(n.hold_us_log2[63 - __builtin_clzll(n.hold_us | 1)], 1);
    assert_true(lock_stats(rival).hold_us >= (uint64_t)least_ns / 1000);
    assert_true(n.wait_us + n.hold_us <=
                (uint64_t)stopwatch_stop(watch).took_ns / 1000);
}

/* -- sessions ------------------------------------------------------------- */

/* It tells of another when its session was closed. */
TEST(a_lost_grant_is_a_loss_and_its_session_an_expiry)
{
    AUTO(grant) g = acquire(m);

    expire_and_wait(s); /* it may have reconnected in the old one before */
    assert_int_equal(zkr_grant_release(g), ZKR_ELOST);
    struct zkr_counters n = session_stats(s);
    assert_int_equal(n.expiries, 1);
    assert_in_range(n.reconnects, 0, 1);
    assert_int_equal(n.losses, 1);
    assert_int_equal(n.releases, 0);
    assert_sums(&n, 0, 0);
    n = lock_stats(m);
    assert_int_equal(n.losses, 1);
    assert_int_equal(n.expiries, 0);
    AUTO(grant) next = acquire(m);
    close_session(s);
    s = NULL;
    assert_int_equal(counted(m, 0).losses, 2);
}

TEST(reconnects_and_retries_are_counted)
{
    for (int i = 0; i < 2; i++) {
        disconnect(proxy, s);
        connect_again(proxy, s);
        settle(s);
    }
    assert_int_equal(session_stats(s).reconnects, 2);
    assert_int_equal(session_stats(s).expiries, 0);
    uint64_t before = session_stats(s).retries;
    for (int i = 0; i < 2; i++) {
        proxy_rule_error(proxy, ZOO_EXISTS_OP, 1, ZKR_ZTHROTTLEDOP);
        ok(zkr_session_exists(s, "/", 0, NULL));
        proxy_forget_rules(proxy);
    }
    assert_int_equal(session_stats(s).retries, before + 2);
}

/* Frozen a second time it is in doubt a second time. */
TEST(a_grant_in_doubt_is_unsure_each_time)
{
    AUTO(held) g = acquire(m);

    for (int i = 0; i < 2; i++) {
        proxy_freeze(proxy);
        wait_grant_state(g, ZKR_GRANT_UNSURE);
        proxy_heal(proxy);
        wait_grant_state(g, ZKR_GRANT_HELD);
    }
    assert_int_equal(counted(m, 1).unsures, 2);
}

/* -- every recipe --------------------------------------------------------- */

TEST(readers_and_writers_are_counted_together)
{
    AUTO(rwlock) lock = NEW(rwlock, s, new_path(), NULL);
    AUTO(grant) writer = GRANT(rwlock_acquire_write, lock, -1);
    zkr_grant *reader = GRANT(rwlock_downgrade, lock, writer);
    struct zkr_counters n = counted(lock, 1);
    assert_int_equal(n.acquires, 2);
    assert_int_equal(n.releases, 1);
    release(reader);
    n = counted(lock, 0);
    struct zkr_counters all = session_stats(s);
    assert_memory_equal(&n, &all, offsetof(struct zkr_counters, retries));
}

TEST(to_acquire_again_is_no_acquire)
{
    AUTO(reentrant_mutex) again = NEW(reentrant_mutex, s, new_path(), NULL);
    ok(zkr_reentrant_mutex_acquire(again, -1));
    ok(zkr_reentrant_mutex_acquire(again, -1));
    ok(zkr_reentrant_mutex_release(again));
    assert_int_equal(lock_stats(again).acquires, 1);
    assert_int_equal(lock_stats(again).releases, 0);
    ok(zkr_reentrant_mutex_release(again));
    assert_int_equal(lock_stats(again).releases, 1);
}

static zkr_mutex *staying(void)
{
    return NEW(mutex, s, path, OPTS(lockable, .retain_ms = 600000));
}

TEST(an_unfair_mutex_counts_too)
{
    AUTO(unfair_mutex) unfair = NEW(unfair_mutex, s, path, NULL);
    zkr_grant *g = GRANT(unfair_mutex_acquire, unfair, -1);
    struct waiter w = WAITER(start_by, zkr_unfair_mutex_acquire, unfair, -1);
    AWAIT(lock_stats(unfair).waits > 0);
    release_to(g, &w);
    struct zkr_counters n = counted(unfair, 0);
    assert_int_equal(n.acquires, 2);
    assert_int_equal(n.waits, 1);
    assert_int_equal(n.releases, 2);
}

/* The node that stays is acquired for the callers, and is none of theirs. */
TEST(of_a_lock_that_stays_the_callers_are_counted)
{
    zkr_mutex *stays = staying();

    for (int i = 0; i < 5; i++)
        release(acquire(stays));
    struct zkr_counters n = counted(stays, 0);
    assert_int_equal(n.acquires, 5);
    assert_int_equal(n.waits, 0);
    assert_int_equal(n.handoffs, 4);
    zkr_grant *g = acquire(stays);
    struct waiter w = WAITER(start, stays, -1);
    AWAIT(lock_stats(stays).waits > 0);
    release_to(g, &w);
    n = counted(stays, 0);
    assert_int_equal(n.acquires, 7);
    assert_int_equal(n.waits, 1);
    assert_int_equal(n.handoffs, 6);
    expire_and_wait(s); /* no loss, because nobody holds the node */
    assert_int_equal(lock_stats(stays).losses, 0);
    release(acquire(stays));
    n = counted(stays, 0);
    assert_int_equal(n.acquires, 8);
    assert_int_equal(n.handoffs, 6);
    zkr_mutex_free(stays);
    assert_int_equal(session_stats(s).releases, 8);
}

/* -- many threads --------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 25 };

static void *take_turns(void *mutex)
{
    zkr_grant *g = NULL;

    for (int i = 0; i < ROUNDS; i++) {
        struct zkr_counters n = ZKR_COUNTERS_INIT;

        if (zkr_mutex_acquire(mutex, -1, &g) != ZKR_OK ||
            zkr_lockable_stats(mutex, &n) != ZKR_OK ||
            zkr_session_stats(s, &n) != ZKR_OK)
            break;
        (void)zkr_grant_release(g);
        zkr_grant_free(g);
    }
    return NULL;
}

TEST(threads_are_counted_exactly)
{
    AUTO(mutex) stays = staying();
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(take_turns, i % 2 == 0 ? m : stays);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    struct zkr_counters n = counted(m, 0);
    assert_int_equal(n.releases, THREADS / 2 * ROUNDS);
    n = counted(stays, 0);
    assert_int_equal(n.releases, THREADS / 2 * ROUNDS);
    struct zkr_counters all = session_stats(s);
    assert_int_equal(all.acquires, THREADS * ROUNDS);
    assert_int_equal(all.releases, THREADS * ROUNDS);
    assert_sums(&all, 0, 0);
}

/* -- handles -------------------------------------------------------------- */

TEST(a_snapshot_needs_a_size_and_a_handle)
{
    struct zkr_counters n;

    memset(&n, 0x5a, sizeof(n));
    n.size = 0;
    assert_int_equal(zkr_session_stats(s, &n), ZKR_EINVAL);
    assert_int_equal(zkr_session_stats(s, NULL), ZKR_EINVAL);
    n.size = sizeof(n);
    assert_int_equal(zkr_session_stats(NULL, &n), ZKR_EINVAL);
    assert_int_equal(n.size, sizeof(n));
    assert_int_equal(n.acquires + n.expiries, 0);
}
