/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the semaphore across clients: Curator's InterProcessSemaphoreV2 and
 * InterProcessSemaphoreMutex. docs/interop.md has the table. */
#include <zkrecipes/client.h>

#include "pair.h"

enum { NOT_YET_MS = 100 };

static const enum kind kinds[] = { KIND_C, KIND_CURATOR };

static char path[64];
static char leases[80];
static char locks[80];

static void take_new_path(void)
{
    (void)snprintf(path, sizeof(path), "%s", new_path());
    (void)snprintf(leases, sizeof(leases), "%s/leases", path);
    (void)snprintf(locks, sizeof(locks), "%s/locks", path);
}

/* A worker on the path of the test; numbers of one kind are 0 and 1. */
static struct worker *join(const char *recipe, enum kind kind, int number)
{
    struct worker *w = worker_of(kind, number);

    worker_do(w, "lock", "lock %s curator %s", recipe, path);
    return w;
}

static enum kind other_than(enum kind kind)
{
    return kind == KIND_C ? KIND_CURATOR : KIND_C;
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
    wait_children(locks, 1);
    wait_children(leases, lease_count);
    assert_null(worker_hear(w, NOT_YET_MS));
}

static void is_empty(void)
{
    wait_children(leases, 0);
    wait_children(locks, 0);
}

/* Both kinds hold leases, and one of that kind comes too late. */
static void keep_out(enum kind kind)
{
    struct worker *held[3];

    take_new_path();
    held[0] = join("semaphore:3", kind, 0);
    held[1] = join("semaphore:3", other_than(kind), 0);
    held[2] = join("semaphore:3", other_than(kind), 1);
    struct worker *late = join("semaphore:3", kind, 1);
    for (int i = 0; i < 3; i++)
        worker_acquire(held[i], "1");
    wait_children(locks, 0);
    for (int i = 0; i < 3; i++) {
        worker_do(late, "busy", "acquire 1 0");
        wait_children(leases, 3);
        wait_children(locks, 0);
        wait_with(late, 1, 4);
        give_back(held[i]);
        worker_expect_held(late);
        wait_children(leases, 3);
        wait_children(locks, 0);
        give_back(late);
        worker_acquire(held[i], "1");
    }
    for (int i = 0; i < 3; i++)
        give_back(held[i]);
    is_empty();
}

TEST(c_and_curator_share_the_leases)
{
    keep_out(KIND_C);
    keep_out(KIND_CURATOR);
}

/* One that wants two of three leases, of which two are held. */
static void all_or_none_beside(enum kind kind)
{
    take_new_path();
    struct worker *holder = join("semaphore:3", other_than(kind), 0);
    struct worker *w = join("semaphore:3", kind, 0);
    worker_acquire(holder, "2");
    wait_children(leases, 2);
    worker_do(w, "busy", "acquire 2 0");
    wait_children(leases, 2);
    worker_do(w, "busy", "acquire 2 200");
    wait_children(leases, 2);
    wait_children(locks, 0);
    wait_with(w, 2, 4);
    give_back(holder);
    worker_expect_held(w);
    wait_children(leases, 2);
    worker_acquire(holder, "1");
    worker_do(w, "released", "release 2");
    give_back(holder);
    is_empty();
}

TEST(c_and_curator_acquire_all_or_none)
{
    all_or_none_beside(KIND_C);
    all_or_none_beside(KIND_CURATOR);
}

/* Three wait, of both kinds in turn: each is granted when its turn has come,
 * and those behind it are not. */
static void serve_in_order(enum kind kind)
{
    struct worker *in_order[4];

    take_new_path();
    for (int i = 0; i < 4; i++) {
        in_order[i] =
            join("semaphore:1", i % 2 == 0 ? kind : other_than(kind), i / 2);
        worker_tell(in_order[i], "acquire 1 %d", SOON_MS);
        if (i == 0)
            worker_expect_held(in_order[i]);
        wait_children(leases, i == 0 ? 1 : 2);
        wait_children(locks, (size_t)i);
    }
    for (int i = 0; i < 3; i++) {
        give_back(in_order[i]);
        worker_expect_held(in_order[i + 1]);
        for (int k = i + 2; k < 4; k++)
            assert_null(worker_hear(in_order[k], NOT_YET_MS));
    }
    give_back(in_order[3]);
    is_empty();
}

TEST(c_and_curator_have_their_turns_in_order)
{
    serve_in_order(KIND_C);
    serve_in_order(KIND_CURATOR);
}

/* The servers end its session, and not before are its permits free. */
TEST(a_killed_client_frees_its_permits)
{
    for (size_t i = 0; i < 2; i++) {
        char node[256];

        take_new_path();
        struct worker *holder = join("semaphore:2", kinds[i], 0);
        struct worker *next = join("semaphore:2", kinds[1 - i], 0);
        worker_acquire(holder, "2");
        (void)snprintf(node, sizeof(node), "%s/%s", leases, holder->node);
        wait_with(next, 2, kinds[1 - i] == KIND_C ? 4 : 3);
        worker_kill(holder);
        assert_null(worker_hear(next, NOT_YET_MS));
        assert_int_equal(admin_exists(admin, node, NULL), ZOK);
        worker_expect_held(next);
        assert_int_equal(admin_exists(admin, node, NULL), ZNONODE);
        wait_children(leases, 2);
        worker_do(next, "released", "release 2");
        is_empty();
    }
}

/* One that waits for a lease is killed: those behind it are served. */
TEST(a_killed_waiter_lets_the_next_in)
{
    for (size_t i = 0; i < 2; i++) {
        take_new_path();
        struct worker *holder = join("semaphore:1", kinds[1 - i], 0);
        struct worker *waiter = join("semaphore:1", kinds[i], 0);
        struct worker *next = join("semaphore:1", kinds[1 - i], 1);
        worker_acquire(holder, "1");
        wait_with(waiter, 1, 2);
        worker_tell(next, "acquire 1 %d", SOON_MS);
        wait_children(locks, 2);
        worker_kill(waiter);
        give_back(holder);
        worker_expect_held(next);
        give_back(next);
        is_empty();
    }
}

TEST(c_and_a_semaphore_mutex_exclude_each_other)
{
    for (size_t i = 0; i < 2; i++) {
        take_new_path();
        struct worker *holder = join("semaphore-mutex", kinds[i], 0);
        struct worker *other = join("semaphore-mutex", kinds[1 - i], 0);
        worker_acquire(holder, "1");
        worker_do(other, "busy", "acquire 1 0");
        wait_children(leases, 1);
        wait_children(locks, 0);
        wait_with(other, 1, 2);
        give_back(holder);
        worker_expect_held(other);
        wait_with(holder, 1, 2);
        give_back(other);
        worker_expect_held(holder);
        give_back(holder);
        is_empty();
    }
}

/* The node is Curator's SharedCount. */
TEST(c_and_curator_follow_one_limit)
{
    AUTO(session) s = open_session();
    char recipe[100];
    char limit[80];

    for (size_t i = 0; i < 2; i++) {
        take_new_path();
        (void)snprintf(limit, sizeof(limit), "%s-limit", path);
        (void)snprintf(recipe, sizeof(recipe), "semaphore:%s", limit);
        struct worker *first = join(recipe, kinds[i], 0); /* makes the node */
        struct worker *second = join(recipe, kinds[1 - i], 0);
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
        is_empty();
    }
}

TEST(a_foreign_child_takes_up_a_permit_of_both)
{
    char child[128];

    for (size_t i = 0; i < 2; i++) {
        take_new_path();
        struct worker *holder = join("semaphore:2", kinds[i], 0);
        struct worker *other = join("semaphore:2", kinds[1 - i], 0);
        worker_acquire(holder, "1");
        (void)snprintf(child, sizeof(child), "%s/-", leases);
        assert_int_equal(admin_create(admin, child, NULL), ZOK);
        worker_do(other, "busy", "acquire 1 0");
        wait_with(other, 1, 3);
        assert_int_equal(admin_delete(admin, child), ZOK);
        worker_expect_held(other);
        give_back(holder);
        give_back(other);
        is_empty();
    }
}

/* An operator deletes the lease of one that waits: it makes another, as the
 * other kind does. */
TEST(a_deleted_lease_is_made_again)
{
    for (size_t i = 0; i < 2; i++) {
        take_new_path();
        struct worker *holder = join("semaphore:1", kinds[1 - i], 0);
        struct worker *waiter = join("semaphore:1", kinds[i], 0);
        worker_acquire(holder, "1");
        wait_with(waiter, 1, 2);
        delete_nth_child(leases, 1);
        wait_children(leases, 2);
        assert_null(worker_hear(waiter, NOT_YET_MS));
        give_back(holder);
        worker_expect_held(waiter);
        give_back(waiter);
        is_empty();
    }
}

/* A member of each kind wants both permits. Curator takes a turn for each, and
 * ours comes between the two turns: it has the second turn, and waits for the
 * first permit. Neither goes on until one of them is gone. */
TEST(several_permits_of_each_kind_deadlock)
{
    struct worker *first = worker_of(KIND_C, 1); /* has a turn before both */

    take_new_path();
    worker_do(first, "lock", "lock mutex curator %s", locks);
    struct worker *c = join("semaphore:2", KIND_C, 0);
    struct worker *curator = join("semaphore:2", KIND_CURATOR, 0);
    worker_acquire(first, "write");
    worker_tell(curator, "acquire 2 %d", SOON_MS);
    wait_children(locks, 2);
    worker_tell(c, "acquire 2 %d", SOON_MS);
    wait_children(locks, 3);
    worker_do(first, "released", "release write");
    wait_children(leases, 3);
    wait_children(locks, 2);
    assert_null(worker_hear(c, NOT_YET_MS));
    assert_null(worker_hear(curator, NOT_YET_MS));
    worker_expire(curator);
    worker_expect_held(c);
    worker_kill(curator);
    worker_do(c, "released", "release 2");
    is_empty();
}

/* It takes each child of the path for one of its leases, of which it has two
 * here. Ours count those below "leases" only. */
TEST(the_semaphore_of_kazoo_counts_our_nodes)
{
    struct worker *kazoo = worker_of(KIND_KAZOO, 0);

    take_new_path();
    worker_do(kazoo, "lock", "lock semaphore kazoo %s", path);
    struct worker *c = join("semaphore:2", KIND_C, 0);
    worker_do(kazoo, "held", "acquire write %d", SOON_MS);
    worker_acquire(c, "2");
    worker_do(kazoo, "released", "release write");
    worker_do(c, "released", "release 2");
    is_empty();
    worker_do(kazoo, "busy", "acquire write %d", NOT_YET_MS);
}
