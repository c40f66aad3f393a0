/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the semaphore across clients: Curator's InterProcessSemaphoreV2 and
 * InterProcessSemaphoreMutex. docs/interop.md has the table. */
#include <zkrecipes/client.h>

#include "pair.h"

enum { NOT_YET_MS = 100 };

/* Each client has each part. */
static const struct parts {
    const char *name;
    enum kind one;
    enum kind other;
} both_ways[] = {
    { "ours first", KIND_C, KIND_CURATOR },
    { "Curator's first", KIND_CURATOR, KIND_C },
};

static char path[64];
static char leases[80];
static char locks[80];

static int take_new_path(void)
{
    (void)snprintf(path, sizeof(path), "%s", new_path());
    (void)snprintf(leases, sizeof(leases), "%s/leases", path);
    (void)snprintf(locks, sizeof(locks), "%s/locks", path);
    return 0;
}

/* So many leases are there, and so many have, or wait for, their turn. */
static void wait_counts(size_t lease_count, size_t turn_count)
{
    wait_children(leases, lease_count);
    wait_children(locks, turn_count);
}

static int is_empty(void)
{
    wait_counts(0, 0);
    return 0;
}

FIXTURE(take_new_path, is_empty)

/* A worker on the path of the test; numbers of one kind are 0 and 1. */
static struct worker *join(const char *recipe, enum kind kind, int number)
{
    struct worker *w = worker_of(kind, number);

    worker_do(w, "lock", "lock %s curator %s", recipe, path);
    return w;
}

static void give_back(struct worker *w)
{
    worker_do(w, "released", "release 1");
}

/* It waits for so many leases, which are one after the other on the server when
 * it has got some. */
static void wait_with(struct worker *w, int permits, size_t lease_count)
{
    worker_tell(w, "acquire %d %d", permits, SOON_MS);
    wait_counts(lease_count, 1);
    assert_null(worker_hear(w, NOT_YET_MS));
}

/* Both kinds hold leases, and one of that kind comes too late. */
TEST_ROWS(c_and_curator_share_the_leases, both_ways, kinds)
{
    struct worker *held[3];

    held[0] = join("semaphore:3", kinds->one, 0);
    held[1] = join("semaphore:3", kinds->other, 0);
    held[2] = join("semaphore:3", kinds->other, 1);
    struct worker *late = join("semaphore:3", kinds->one, 1);
    for (int i = 0; i < 3; i++)
        worker_acquire(held[i], "1");
    wait_children(locks, 0);
    for (int i = 0; i < 3; i++) {
        worker_do(late, "busy", "acquire 1 0");
        wait_counts(3, 0);
        wait_with(late, 1, 4);
        give_back(held[i]);
        worker_expect_held(late);
        wait_counts(3, 0);
        give_back(late);
        worker_acquire(held[i], "1");
    }
    for (int i = 0; i < 3; i++)
        give_back(held[i]);
}

/* One that wants two of three leases, of which two are held. */
TEST_ROWS(c_and_curator_acquire_all_or_none, both_ways, kinds)
{
    struct worker *holder = join("semaphore:3", kinds->other, 0);
    struct worker *w = join("semaphore:3", kinds->one, 0);
    worker_acquire(holder, "2");
    wait_children(leases, 2);
    worker_do(w, "busy", "acquire 2 0");
    wait_children(leases, 2);
    worker_do(w, "busy", "acquire 2 200");
    wait_counts(2, 0);
    wait_with(w, 2, 4);
    give_back(holder);
    worker_expect_held(w);
    wait_children(leases, 2);
    worker_acquire(holder, "1");
    worker_do(w, "released", "release 2");
    give_back(holder);
}

/* Three wait, of both kinds in turn: each is granted when its turn has come,
 * and those behind it are not. */
TEST_ROWS(c_and_curator_have_their_turns_in_order, both_ways, kinds)
{
    struct worker *in_order[4];

    for (int i = 0; i < 4; i++) {
        in_order[i] =
            join("semaphore:1", i % 2 == 0 ? kinds->one : kinds->other, i / 2);
        worker_tell(in_order[i], "acquire 1 %d", SOON_MS);
        if (i == 0)
            worker_expect_held(in_order[i]);
        wait_counts(i == 0 ? 1 : 2, (size_t)i);
    }
    for (int i = 0; i < 3; i++) {
        give_back(in_order[i]);
        worker_expect_held(in_order[i + 1]);
        for (int k = i + 2; k < 4; k++)
            assert_null(worker_hear(in_order[k], NOT_YET_MS));
    }
    give_back(in_order[3]);
}

/* The servers end its session, and not before are its permits free. */
TEST_ROWS(a_killed_client_frees_its_permits, both_ways, kinds)
{
    struct worker *holder = join("semaphore:2", kinds->one, 0);
    struct worker *next = join("semaphore:2", kinds->other, 0);
    worker_acquire(holder, "2");
    const char *node = textf("%s/%s", leases, holder->node);
    wait_with(next, 2, kinds->other == KIND_C ? 4 : 3);
    worker_kill(holder);
    assert_null(worker_hear(next, NOT_YET_MS));
    assert_int_equal(admin_exists(admin, node, NULL), ZOK);
    worker_expect_held(next);
    assert_int_equal(admin_exists(admin, node, NULL), ZNONODE);
    wait_children(leases, 2);
    worker_do(next, "released", "release 2");
}

/* One that waits for a lease is killed: those behind it are served. */
TEST_ROWS(a_killed_waiter_lets_the_next_in, both_ways, kinds)
{
    struct worker *holder = join("semaphore:1", kinds->other, 0);
    struct worker *waiter = join("semaphore:1", kinds->one, 0);
    struct worker *next = join("semaphore:1", kinds->other, 1);
    worker_acquire(holder, "1");
    wait_with(waiter, 1, 2);
    worker_tell(next, "acquire 1 %d", SOON_MS);
    wait_children(locks, 2);
    worker_kill(waiter);
    give_back(holder);
    worker_expect_held(next);
    give_back(next);
}

TEST_ROWS(c_and_a_semaphore_mutex_exclude_each_other, both_ways, kinds)
{
    struct worker *holder = join("semaphore-mutex", kinds->one, 0);
    struct worker *other = join("semaphore-mutex", kinds->other, 0);
    worker_acquire(holder, "1");
    worker_do(other, "busy", "acquire 1 0");
    wait_counts(1, 0);
    wait_with(other, 1, 2);
    give_back(holder);
    worker_expect_held(other);
    wait_with(holder, 1, 2);
    give_back(other);
    worker_expect_held(holder);
    give_back(holder);
}

/* The node is Curator's SharedCount. */
TEST_ROWS(c_and_curator_follow_one_limit, both_ways, kinds)
{
    AUTO(session) s = open_session();
    const char *limit = textf("%s-limit", path);
    const char *recipe = textf("semaphore:%s", limit);

    struct worker *first = join(recipe, kinds->one, 0); /* makes the node */
    struct worker *second = join(recipe, kinds->other, 0);
    worker_acquire(first, "1");
    wait_with(second, 1, 2);
    ok(zkr_session_set(s, limit, "\0\0\0\2", 4, ZKR_ANY_VERSION, 0, NULL));
    worker_expect_held(second);
    give_back(first);
    ok(zkr_session_set(s, limit, "\0\0\0\1", 4, ZKR_ANY_VERSION, 0, NULL));
    wait_with(first, 1, 2);
    give_back(second);
    worker_expect_held(first);
    give_back(first);
}

TEST_ROWS(a_foreign_child_takes_up_a_permit_of_both, both_ways, kinds)
{
    const char *child = textf("%s/-", leases);
    struct worker *holder = join("semaphore:2", kinds->one, 0);
    struct worker *other = join("semaphore:2", kinds->other, 0);
    worker_acquire(holder, "1");
    assert_int_equal(admin_create(admin, child, NULL), ZOK);
    worker_do(other, "busy", "acquire 1 0");
    wait_with(other, 1, 3);
    assert_int_equal(admin_delete(admin, child), ZOK);
    worker_expect_held(other);
    give_back(holder);
    give_back(other);
}

/* An operator deletes the lease of one that waits: it makes another, as the
 * other kind does. */
TEST_ROWS(a_deleted_lease_is_made_again, both_ways, kinds)
{
    struct worker *holder = join("semaphore:1", kinds->other, 0);
    struct worker *waiter = join("semaphore:1", kinds->one, 0);
    worker_acquire(holder, "1");
    wait_with(waiter, 1, 2);
    delete_nth_child(leases, 1);
    wait_children(leases, 2);
    assert_null(worker_hear(waiter, NOT_YET_MS));
    give_back(holder);
    worker_expect_held(waiter);
    give_back(waiter);
}

/* A member of each kind wants both permits. Curator takes a turn for each, and
 * ours comes between the two turns: it has the second turn, and waits for the
 * first permit. Neither goes on until one of them is gone. */
TEST(several_permits_of_each_kind_deadlock)
{
    struct worker *first = worker_of(KIND_C, 1); /* has a turn before both */

    worker_do(first, "lock", "lock mutex curator %s", locks);
    struct worker *ours = join("semaphore:2", KIND_C, 0);
    struct worker *theirs = join("semaphore:2", KIND_CURATOR, 0);
    worker_acquire(first, "write");
    worker_tell(theirs, "acquire 2 %d", SOON_MS);
    wait_children(locks, 2);
    worker_tell(ours, "acquire 2 %d", SOON_MS);
    wait_children(locks, 3);
    worker_do(first, "released", "release write");
    wait_counts(3, 2);
    assert_null(worker_hear(ours, NOT_YET_MS));
    assert_null(worker_hear(theirs, NOT_YET_MS));
    worker_expire(theirs);
    worker_expect_held(ours);
    worker_kill(theirs);
    worker_do(ours, "released", "release 2");
}

/* It takes each child of the path for one of its leases, of which it has two
 * here. Ours count those below "leases" only. */
TEST(the_semaphore_of_kazoo_counts_our_nodes)
{
    struct worker *kazoo = worker_of(KIND_KAZOO, 0);

    worker_do(kazoo, "lock", "lock semaphore kazoo %s", path);
    struct worker *ours = join("semaphore:2", KIND_C, 0);
    worker_do(kazoo, "held", "acquire write %d", SOON_MS);
    worker_acquire(ours, "2");
    worker_do(kazoo, "released", "release write");
    worker_do(ours, "released", "release 2");
    worker_do(kazoo, "busy", "acquire write %d", NOT_YET_MS);
}
