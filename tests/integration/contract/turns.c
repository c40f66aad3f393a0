/* SPDX-License-Identifier: Apache-2.0 */
/* The contract for turns: one holder at a time, in the order of the queue. */
#include "stage.h"

#include <sched.h>

SUBJECT("turns")

enum { THREADS = 9, ROUNDS = 10 };

static atomic_int counter;

struct crowd {
    pthread_t thread;
    void *lock;
    int failed;
};

static int enter_again(void *lock)
{
    zkr_grant *g = NULL;
    int rc = recipe->acquire(lock, 0, &g);

    if (rc != ZKR_OK)
        return rc;
    rc = recipe->release(lock, g);
    recipe->forget(lock, g);
    return rc;
}

static void *crowd_main(void *arg)
{
    struct crowd *c = arg;

    for (int i = 0; i < ROUNDS; i++) {
        zkr_grant *g = NULL;

        if (recipe->acquire(c->lock, SOON_MS, &g) != ZKR_OK) {
            c->failed++;
            continue;
        }
        int rc = zkr_grant_check(g); /* on a busy machine a proof may be late */
        c->failed += rc != ZKR_OK && rc != ZKR_EUNSURE;
        if (has(REENTRANT))
            c->failed += enter_again(c->lock) != ZKR_OK;
        /* The count takes two steps, so that a second holder would lose one.
         * They are relaxed, because the order must come from the lock alone. */
        int n = atomic_load_explicit(&counter, memory_order_relaxed);
        (void)sched_yield();
        atomic_store_explicit(&counter, n + 1, memory_order_relaxed);
        int64_t began_ms = now_ms();
        rc = recipe->release(c->lock, g);
        c->failed += !is_released(rc, now_ms() - began_ms, REPLY_MS);
        recipe->forget(c->lock, g);
    }
    return NULL;
}

TEST_ALL(holders_never_overlap)
{
    struct crowd crowd[THREADS];
    void *shared[] = { new_lock(ours), new_lock(theirs) };
    int failed = 0;

    counter = 0;
    for (int i = 0; i < THREADS; i++) {
        crowd[i] = (struct crowd){ .lock = i % 3 == 2 ? new_lock(ours)
                                                      : shared[i % 3] };
        crowd[i].thread = thread_start(crowd_main, &crowd[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        thread_join(crowd[i].thread);
        failed += crowd[i].failed;
    }
    assert_int_equal(failed, 0);
    assert_int_equal(counter, THREADS * ROUNDS);
    if (!has(STAYS))
        wait_children(dir, 0);
}

/* The recipe that ships with ZooKeeper takes the session for the owner: two
 * mutexes of one session both held the lock. */
TEST_OF(a_holder_excludes_everybody_else, .not_for = STAYS)
{
    struct contender *holder = one_that_holds(ours);
    struct contender *others[] = { has(SHARES) ? one_of(ours)
                                               : contender_of(holder->lock),
                                   one_of(ours), one_of(theirs) };
    int32_t before = stat_of(dir).cversion;

    for (size_t i = 0; i < 3; i++)
        assert_int_equal(try_for(others[i], 0), ZKR_EBUSY);
    if (!has(TRIES_WRITE))
        assert_int_equal(stat_of(dir).cversion, before);
    assert_int_equal(zkr_grant_check(holder->grant), ZKR_OK);
    for (size_t i = 0; i < 3; i++)
        let_wait(others[i]);
    if (has(TURNS)) /* a try may have left some, on their way out */
        wait_children(dir, nodes(1, 3));
    assert_int_equal(count_children(dir), nodes(1, 3));
    take_turns(holder, others, 3);
    assert_int_equal(count_children(dir), 0);
}

TEST_OF(waiters_are_granted_in_the_order_of_their_nodes, .for_those = FAIR)
{
    struct contender *holder = one_that_holds(ours);
    struct contender *waiting[5];

    for (size_t i = 0; i < COUNT(waiting); i++)
        waiting[i] = one_that_waits(i % 2 == 0 ? ours : theirs);
    take_turns(holder, waiting, COUNT(waiting));
}

TEST_ALL(of_many_that_try_at_once_one_succeeds)
{
    enum { N = 10 };
    struct contender *c[N];
    size_t won = 0;

    for (size_t i = 0; i < N; i++)
        c[i] = one_of(i % 2 == 0 ? ours : theirs);
    for (size_t i = 0; i < N; i++)
        contender_acquire(c[i], 0);
    for (size_t i = 0; i < N; i++) {
        if (contender_rc(c[i]) == ZKR_OK)
            won++;
        else
            assert_int_equal(c[i]->rc, ZKR_EBUSY);
    }
    assert_int_equal(won, 1);
    wait_children(dir, 1);
}

TEST_OF(tokens_grow_also_when_the_directory_is_created_anew, .not_for = STAYS)
{
    struct contender *c = one_of(ours);
    int64_t last = 0;

    for (int i = 0; i < 6; i++) {
        hold(c);
        assert_true(zkr_grant_token(c->grant) > last);
        last = zkr_grant_token(c->grant);
        if (has(QUEUES)) /* the number in the name starts again */
            assert_has(zkr_grant_node(c->grant),
                       i % 2 == 0 ? "0000000000" : "0000000001");
        give_back(c);
        assert_int_equal(count_children(dir), 0);
        if (i % 2 == 1)
            assert_int_equal(admin_delete(admin, dir), ZOK);
    }
}

/* A foreign child crashed the official recipe, and blocks Curator for ever.
 * Each takes up a permit of a semaphore. */
TEST_OF(foreign_children_disturb_nobody, .not_for = STAYS, .nor_for = TURNS)
{
    bool leads = has(CAMPAIGNS) && recipe->flags != ZKR_SELECTOR_LAYOUT;
    const char *of_another =
        leads ? "_c_-lock-0000000000" : "_c_-latch-0000000000";
    const char *reader =
        recipe->make == zkr_rwlock_new ? "notes" : "_c_-__READ__0000000000";
    const char *const foreign[] = { "0", "-x", "lock-", of_another, reader };
    size_t count = COUNT(foreign);
    struct contender *c = one_of(ours);
    struct contender *next = one_of(theirs);

    works(one_of(theirs)); /* the directory exists from here on */
    for (size_t i = 0; i < count; i++)
        ok(admin_create(admin, textf("%s/%s", dir, foreign[i]), NULL));
    assert_int_equal(try_for(c, 0), ZKR_OK);
    let_wait(next);
    assert_int_equal(count_children(dir), count + nodes(1, 1));
    give_back(c);
    takes_its_turn(next);
    assert_int_equal(count_children(dir), count);
    assert_int_equal(admin_delete_tree(admin, dir), ZOK);
}
