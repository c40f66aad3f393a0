/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the semaphore across clients: Curator's InterProcessSemaphoreV2 and
 * InterProcessSemaphoreMutex. docs/interop.md has the table. */

#include "pair.h"

/* Each client has each part. */
static const struct parts {
    const char *name;
    enum kind one;
    enum kind other;
} both_ways[] = {
    { "ours first", KIND_C, KIND_CURATOR },
    { "Curator's first", KIND_CURATOR, KIND_C },
};

static int take_new_path(void)
{
    stage = textf("%s", new_path());
    nodes_in = textf("%s/leases", stage);
    return 0;
}

static int is_empty(void)
{
    play("await 0 nodes, await 0 locks");
    return 0;
}

FIXTURE(take_new_path, is_empty)

/* Two of each kind, "a" and "c", and "b" and "d", on the path of the test. */
static void join(const char *recipe, const struct parts *kinds)
{
    for (int i = 0; i < 4; i++)
        cast[i] = worker_of(i % 2 == 0 ? kinds->one : kinds->other, i / 2);
    for (char who = 'a'; who <= 'd'; who++)
        play("%c lock %s curator %s = lock", who, recipe, stage);
}

/* Both kinds hold leases, and one of that kind comes too late. */
#define COMES_TOO_LATE(holder)                                                 \
    ", c acquire 1 0 = busy, await 3 nodes, await 0 locks, "                   \
    "c waits for 1 with 4, " holder " release 1 = released, c = held, "        \
    "await 3 nodes, await 0 locks, c release 1 = released, " holder            \
    " acquire 1 = held"

static const struct story {
    const char *name;
    const char *recipe;
    const char *text;
} stories[] = {
    { "c_and_curator_share_the_leases", "semaphore:3",
      "a acquire 1 = held, b acquire 1 = held, d acquire 1 = held, "
      "await 0 locks" COMES_TOO_LATE("a") COMES_TOO_LATE("b") COMES_TOO_LATE(
          "d") ", a release 1 = released, "
               "b release 1 = released, d release 1 = released" },
    /* One that wants two of three leases, of which two are held. */
    { "c_and_curator_acquire_all_or_none", "semaphore:3",
      "b acquire 2 = held, await 2 nodes, a acquire 2 0 = busy, "
      "await 2 nodes, a acquire 2 200 = busy, await 2 nodes, await 0 locks, "
      "a waits for 2 with 4, b release 1 = released, a = held, "
      "await 2 nodes, b acquire 1 = held, a release 2 = released, "
      "b release 1 = released" },
    /* Three wait, of both kinds in turn: each is granted when its turn has
     * come, and those behind it are not. */
    { "c_and_curator_have_their_turns_in_order", "semaphore:1",
      "a acquire 1 = held, await 1 nodes, await 0 locks, b acquire 1, "
      "await 2 nodes, await 1 locks, c acquire 1, await 2 nodes, "
      "await 2 locks, d acquire 1, await 2 nodes, await 3 locks, "
      "a release 1 = released, b = held, c waits 100, d waits 100, "
      "b release 1 = released, c = held, d waits 100, c release 1 = released, "
      "d = held, d release 1 = released" },
    /* One that waits for a lease is killed: those behind it are served. */
    { "a_killed_waiter_lets_the_next_in", "semaphore:1",
      "b acquire 1 = held, a waits for 1 with 2, d acquire 1, "
      "await 2 locks, a dies, b release 1 = released, d = held, "
      "d release 1 = released" },
    { "c_and_a_semaphore_mutex_exclude_each_other", "semaphore-mutex",
      "a acquire 1 = held, b acquire 1 0 = busy, await 1 nodes, "
      "await 0 locks, b waits for 1 with 2, a release 1 = released, b = held, "
      "a waits for 1 with 2, b release 1 = released, a = held, "
      "a release 1 = released" },
};

/* Each kind has each part. */
TEST_ROWS(story, stories, row)
{
    join(row->recipe, &both_ways[0]);
    play("%s", row->text);
    (void)is_empty();
    (void)take_new_path();
    join(row->recipe, &both_ways[1]);
    play("%s", row->text);
}

/* The servers end its session, and not before are its permits free. */
TEST_ROWS(a_killed_client_frees_its_permits, both_ways, kinds)
{
    join("semaphore:2", kinds);
    play("a acquire 2 = held, b waits for 2 with %d, a dies, b waits 100, "
         "a has its node, b = held, a has no node, await 2 nodes, "
         "b release 2 = released",
         kinds->other == KIND_C ? 4 : 3);
}

/* Both watch it anew, after which they know it. */
static void set_limit(zkr_session *s, const char *limit, const char *data)
{
    ok(zkr_session_set(s, limit, data, 4, ZKR_ANY_VERSION, 0, NULL));
    for (int i = 0; i < 2; i++)
        wait_watching(cast[i], limit, NULL);
}

/* The node is Curator's SharedCount. */
TEST_ROWS(c_and_curator_follow_one_limit, both_ways, kinds)
{
    AUTO(session) s = open_session();
    const char *limit = textf("%s-limit", stage);

    join(textf("semaphore:%s", limit), kinds); /* "a" makes the node */
    play("a acquire 1 = held, b waits for 1 with 2");
    set_limit(s, limit, "\0\0\0\2");
    play("b = held, a release 1 = released");
    set_limit(s, limit, "\0\0\0\1");
    play("a waits for 1 with 2, b release 1 = released, a = held, "
         "a release 1 = released");
}

TEST_ROWS(a_foreign_child_takes_up_a_permit_of_both, both_ways, kinds)
{
    const char *child = textf("%s/-", nodes_in);

    join("semaphore:2", kinds);
    play("a acquire 1 = held");
    ok(admin_create(admin, child, NULL));
    play("b acquire 1 0 = busy, b waits for 1 with 3");
    ok(admin_delete(admin, child));
    play("b = held, a release 1 = released, b release 1 = released");
}

/* An operator deletes the lease of one that waits: it makes another, as the
 * other kind does. */
TEST_ROWS(a_deleted_lease_is_made_again, both_ways, kinds)
{
    join("semaphore:1", kinds);
    play("b acquire 1 = held, a waits for 1 with 2");
    delete_nth_child(nodes_in, 1);
    play("await 2 nodes, a waits 100, b release 1 = released, a = held, "
         "a release 1 = released");
}

/* A member of each kind wants both permits. Curator takes a turn for each, and
 * ours comes between the two turns: it has the second turn, and waits for the
 * first permit. Neither goes on until one of them is gone. */
TEST(several_permits_of_each_kind_deadlock)
{
    join("semaphore:2", &both_ways[0]);
    play("c lock mutex curator %s/locks = lock, " /* a turn before both */
         "c acquire write = held, b acquire 2, await 2 locks, a acquire 2, "
         "await 3 locks, c release write = released, await 3 nodes, "
         "await 2 locks, a waits 100, b waits 100",
         stage);
    worker_expire(cast[1]);
    play("a = held, b dies, a release 2 = released");
}

/* It takes each child of the path for one of its leases, of which it has two
 * here. Ours count those below "leases" only. */
TEST(the_semaphore_of_kazoo_counts_our_nodes)
{
    join("semaphore:2", &both_ways[0]);
    cast[1] = worker_of(KIND_KAZOO, 0);
    play("b lock semaphore kazoo %s = lock, b acquire write = held, "
         "a acquire 2 = held, b release write = released, "
         "a release 2 = released, b acquire write 100 = busy",
         stage);
}
