/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the mutex and of elections across clients (Curator's LeaderLatch and
 * LeaderSelector, kazoo's Election): who excludes whom, with one holder and one
 * contender of each pair of clients on one path. docs/interop.md has the
 * tables. And tests of asking for a lock, with Curator's Revoker and ours. */
#include "pair.h"

/* clang-format off */
static const struct pair pairs[] = {
    { "c_and_curator_exclude_each_other", "mutex", &c, &curator, true, true },
    { "c_and_kazoo_subclass_exclude_each_other", "mutex", &c, &kazoo_subclass, true, true },
    { "curator_and_kazoo_subclass_exclude_each_other", "mutex",
      &curator, &kazoo_subclass, true, true },
    { "c_and_kazoo_with_patterns_exclude_each_other", "mutex", &c, &kazoo_patterns, true, true },
    { "kazoo_with_patterns_waits_for_curator_only", "mutex",
      &curator, &kazoo_patterns, false, true },
    { "kazoo_as_it_is_does_not_wait_for_curator_layout", "mutex", &c, &kazoo_as_is, true, false },
    { "kazoo_as_it_is_and_curator_ignore_each_other", "mutex",
      &kazoo_as_is, &curator, false, false },
    { "c_in_kazoo_layout_and_kazoo_as_it_is_exclude", "mutex",
      &c_for_kazoo, &kazoo_as_is, true, true },
    { "c_in_either_layout_excludes_the_other", "mutex", &c_for_kazoo, &c, true, true },
    { "curator_does_not_see_c_in_kazoo_layout", "mutex", &curator, &c_for_kazoo, false, true },

    { "c_and_the_latch_of_curator_exclude_each_other", "latch", &c, &curator, true, true },
    { "c_and_an_election_with_the_subclass_exclude_each_other", "latch",
      &c, &kazoo_subclass, true, true },
    { "latch_of_curator_and_the_subclass_exclude_each_other", "latch",
      &curator, &kazoo_subclass, true, true },
    { "c_in_kazoo_layout_and_an_election_exclude_each_other", "latch",
      &c_for_kazoo, &kazoo_as_is, true, true },
    { "c_waits_for_an_election_as_it_is", "latch", &c, &kazoo_as_is, true, false },
    /* Regression: beside it the participant had the marker of a latch, and
     * both led. */
    { "c_and_the_selector_of_curator_exclude_each_other", "selector", &c, &curator, true, true },
};
/* clang-format on */

TEST_ROWS(pair, pairs, row)
{
    check_pair(row, "write", "write");
}

/* CURATOR-43: "-" sorts before all numbers, and Curator waits for it. */
TEST(a_foreign_child_blocks_curator_and_not_us)
{
    cast_on_new_path("mutex", &c, &curator);
    const char *child = textf("%s/-", stage);
    ok(admin_create(admin, stage, NULL));
    ok(admin_create(admin, child, NULL));
    play("b acquire write 0 = busy, a acquire write = held, "
         "a release write = released");
    ok(admin_delete(admin, child));
    play("b acquire write = held, b release write = released");
}

static atomic_bool enough;

static void *take_turns(void *mutex)
{
    zkr_grant *g;
    intptr_t failed = 0;

    while (!atomic_load(&enough)) {
        if (zkr_mutex_acquire(mutex, SOON_MS, &g) != ZKR_OK) {
            failed++;
            continue;
        }
        (void)zkr_grant_release(g);
        zkr_grant_free(g);
    }
    return (void *)failed;
}

/* Two threads here take a lock that stays from each other without a pause. */
TEST(curator_gets_a_lock_that_stays_here)
{
    cast_on_new_path("mutex", &c, &curator);
    AUTO(session) s = open_session();
    AUTO(mutex) m = NEW(mutex, s, stage, OPTS(lockable, .retain_ms = 600000));
    pthread_t threads[2];

    release(acquire(m)); /* it stays, and nobody uses it */
    play("b acquire write = held, b release write = released");
    atomic_store(&enough, false);
    for (int i = 0; i < 2; i++)
        threads[i] = thread_start(take_turns, m);
    for (int i = 0; i < 5; i++)
        play("b acquire write = held, b release write = released");
    atomic_store(&enough, true);
    for (int i = 0; i < 2; i++)
        assert_null(thread_join(threads[i]));
}

/* Returns the next grant of the node. */
static zkr_grant *hand_on(zkr_grant *g, struct recorder *r, size_t i)
{
    int64_t token = zkr_grant_token(g);
    uint64_t handoff = zkr_grant_handoff(g);

    release(g);
    g = recorded_grant(r, i);
    assert_true(zkr_grant_token(g) == token);
    assert_true(zkr_grant_handoff(g) == handoff + 1);
    return g;
}

/* One turn: Curator comes when so many claims wait here, and is granted the
 * lock before half of them. */
static void pass_by_curator(zkr_session *s, zkr_mutex *m, uint32_t most)
{
    struct worker *curators = cast[1];
    AUTO(recorder) r = recorder_new();
    zkr_grant *g = acquire(m);
    int64_t token = zkr_grant_token(g);

    for (uint32_t i = 0; i < 2 * most; i++)
        ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    settle(s); /* nobody else is there */
    play("b acquire write");
    wait_watching(curators, zkr_grant_node(g), NULL);
    settle(s); /* the event that it has come, */
    settle(s); /* the list that shows it */
    for (uint32_t i = 0; i < most; i++) {
        g = hand_on(g, r, i);
        play("b waits 0");
    }
    release(g);
    play("b = held");
    assert_true(curators->token > token);
    assert_int_equal(recorder_count(r), most);
    play("b release write = released");
    g = recorded_grant(r, most);
    assert_true(zkr_grant_token(g) > curators->token);
    for (uint32_t i = most + 1; i < 2 * most; i++)
        g = hand_on(g, r, i);
    release(g);
}

/* A bound of one, and a longer one, each several times. */
TEST(curator_waits_for_a_bounded_number_of_grants)
{
    AUTO(session) s = open_session();

    for (uint32_t most = 1; most <= 4; most += 3) {
        cast_on_new_path("mutex", &c, &curator);
        AUTO(mutex) m =
            NEW(mutex, s, stage,
                OPTS(lockable, .retain_ms = 600000, .retain_max = most));

        release(acquire(m)); /* it stays */
        for (int i = 0; i < 3; i++)
            pass_by_curator(s, m, most);
    }
}

/* -- elections ------------------------------------------------------------- */

/* By the ids, which are their names. */
static void both_name_the_same_leader(const char *recipe)
{
    cast_on_new_path(recipe, &c, &curator);
    for (char who = 'a'; who <= 'b'; who++) {
        const char *name = cast[who - 'a']->name;

        play("%c acquire write = held, a leader = leader %s, "
             "b leader = leader %s, %c release write = released, "
             "await 0 nodes",
             who, name, name, who);
    }
}

TEST(c_and_curator_name_the_same_leader)
{
    both_name_the_same_leader("latch");
    both_name_the_same_leader("selector");
}

/* The leader is killed: the next one leads when the servers have ended its
 * session, and not before. */
static void the_next_leads(const char *recipe, const struct client *leader,
                           const struct client *next)
{
    cast_on_new_path(recipe, leader, next);
    play("a acquire write = held, b acquire write, b watches a, a dies, "
         "b waits 100, a has its node, b = held, a has no node, "
         "b release write = released");
}

TEST(the_next_leads_when_the_leader_is_killed)
{
    the_next_leads("latch", &c, &curator);
    the_next_leads("latch", &curator, &c);
    the_next_leads("selector", &c, &curator);
    the_next_leads("selector", &curator, &c);
}

/* -- asking for a lock ----------------------------------------------------- */

static const struct {
    const char *name;
    const char *recipe; /* rw: as a writer, and as a reader */
    enum kind holder;
    enum kind asker;
} requests[] = {
    { "c_holder_hears_the_revoker_of_curator", "mutex", KIND_C, KIND_CURATOR },
    { "c_writer_and_reader_hear_the_revoker_of_curator", "rw", KIND_C,
      KIND_CURATOR },
    { "curator_holder_hears_our_request", "mutex", KIND_CURATOR, KIND_C },
    { "curator_writer_and_reader_hear_our_request", "rw", KIND_CURATOR,
      KIND_C },
};

/* The holder listens, the other asks: it is told, and still holds. */
static void hears(const char *recipe, const char *mode, enum kind holder,
                  enum kind asker)
{
    cast_on_new_path(recipe, &(struct client){ holder, "curator" },
                     &(struct client){ asker, "curator" });
    play("a listen = listening, a acquire %s = held", mode);
    play(
        "b revoke %s/%s = revoked, a = asked, 1 nodes, a release %s = released",
        stage, cast[0]->node, mode);
}

TEST_ROWS(request, requests, row)
{
    hears(row->recipe, "write", row->holder, row->asker);
    if (strcmp(row->recipe, "rw") == 0)
        hears(row->recipe, "read", row->holder, row->asker);
}
