/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the mutex and of elections across clients (Curator's LeaderLatch and
 * LeaderSelector, kazoo's Election): who excludes whom, with one holder and one
 * contender of each pair of clients on one path. docs/interop.md has the
 * tables. And tests of asking for a lock, with Curator's Revoker and ours. */
#include "pair.h"

/* clang-format off */
static const struct pair pairs[] = {
    { "c_and_curator_exclude_each_other", "mutex",
      &c.writer, &curator.writer, true, true },
    { "c_and_kazoo_subclass_exclude_each_other", "mutex",
      &c.writer, &kazoo_subclass.writer, true, true },
    { "curator_and_kazoo_subclass_exclude_each_other", "mutex",
      &curator.writer, &kazoo_subclass.writer, true, true },
    { "c_and_kazoo_with_patterns_exclude_each_other", "mutex",
      &c.writer, &kazoo_patterns.writer, true, true },
    { "kazoo_with_patterns_waits_for_curator_only", "mutex",
      &curator.writer, &kazoo_patterns.writer, false, true },
    { "kazoo_as_it_is_does_not_wait_for_curator_layout", "mutex",
      &c.writer, &kazoo_as_is.writer, true, false },
    { "kazoo_as_it_is_and_curator_ignore_each_other", "mutex",
      &kazoo_as_is.writer, &curator.writer, false, false },
    { "c_in_kazoo_layout_and_kazoo_as_it_is_exclude", "mutex",
      &c_for_kazoo.writer, &kazoo_as_is.writer, true, true },
    { "c_in_either_layout_excludes_the_other", "mutex",
      &c_for_kazoo.writer, &c.writer, true, true },
    { "curator_does_not_see_c_in_kazoo_layout", "mutex",
      &curator.writer, &c_for_kazoo.writer, false, true },

    { "c_and_the_latch_of_curator_exclude_each_other", "latch",
      &c.writer, &curator.writer, true, true },
    { "c_and_an_election_with_the_subclass_exclude_each_other", "latch",
      &c.writer, &kazoo_subclass.writer, true, true },
    { "latch_of_curator_and_the_subclass_exclude_each_other", "latch",
      &curator.writer, &kazoo_subclass.writer, true, true },
    { "c_in_kazoo_layout_and_an_election_exclude_each_other", "latch",
      &c_for_kazoo.writer, &kazoo_as_is.writer, true, true },
    { "c_waits_for_an_election_as_it_is", "latch",
      &c.writer, &kazoo_as_is.writer, true, false },
    /* Regression: beside it the participant had the marker of a latch, and
     * both led. */
    { "c_and_the_selector_of_curator_exclude_each_other", "selector",
      &c.writer, &curator.writer, true, true },
};
/* clang-format on */

TEST_ROWS(pair, pairs, row)
{
    check_pair(row);
}

/* CURATOR-43: "-" sorts before all numbers, and Curator waits for it. */
TEST(a_foreign_child_blocks_curator_and_not_us)
{
    struct duo d = duo_on_new_path("mutex", &c.writer, &curator.writer);
    const char *child = textf("%s/-", d.path);

    assert_int_equal(admin_create(admin, d.path, NULL), ZOK);
    assert_int_equal(admin_create(admin, child, NULL), ZOK);
    worker_do(d.other, "busy", "acquire write 0");
    worker_acquire(d.holder, "write");
    worker_do(d.holder, "released", "release write");
    assert_int_equal(admin_delete(admin, child), ZOK);
    worker_acquire(d.other, "write");
    worker_do(d.other, "released", "release write");
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
    struct duo d = duo_on_new_path("mutex", &c.writer, &curator.writer);
    AUTO(session) s = open_session();
    AUTO(mutex) m = NEW(mutex, s, d.path, OPTS(lockable, .retain_ms = 600000));
    pthread_t threads[2];
    void *failed;

    release(acquire(m)); /* it stays, and nobody uses it */
    worker_acquire(d.other, "write");
    worker_do(d.other, "released", "release write");
    atomic_store(&enough, false);
    for (int i = 0; i < 2; i++)
        threads[i] = thread_start(take_turns, m);
    for (int i = 0; i < 5; i++) {
        worker_acquire(d.other, "write");
        worker_do(d.other, "released", "release write");
    }
    atomic_store(&enough, true);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
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
static void pass_by_curator(zkr_session *s, zkr_mutex *m, struct worker *them,
                            uint32_t most)
{
    AUTO(recorder) r = recorder_new();
    zkr_grant *g = acquire(m);
    int64_t token = zkr_grant_token(g);

    for (uint32_t i = 0; i < 2 * most; i++)
        ok(zkr_mutex_acquire_async(m, -1, record_acquire, r, NULL));
    settle(s); /* nobody else is there */
    acquire_behind(them, "write", zkr_lockable_path(m),
                   strrchr(zkr_grant_node(g), '/') + 1);
    settle(s); /* the event that it has come, */
    settle(s); /* the list that shows it */
    for (uint32_t i = 0; i < most; i++) {
        g = hand_on(g, r, i);
        assert_null(worker_hear(them, 0));
    }
    release(g);
    worker_expect_held(them);
    assert_true(them->token > token);
    assert_int_equal(recorder_count(r), most);
    worker_do(them, "released", "release write");
    g = recorded_grant(r, most);
    assert_true(zkr_grant_token(g) > them->token);
    for (uint32_t i = most + 1; i < 2 * most; i++)
        g = hand_on(g, r, i);
    release(g);
}

/* A bound of one, and a longer one, each several times. */
TEST(curator_waits_for_a_bounded_number_of_grants)
{
    AUTO(session) s = open_session();

    for (uint32_t most = 1; most <= 4; most += 3) {
        struct duo d = duo_on_new_path("mutex", &c.writer, &curator.writer);
        AUTO(mutex) m =
            NEW(mutex, s, d.path,
                OPTS(lockable, .retain_ms = 600000, .retain_max = most));

        release(acquire(m)); /* it stays */
        for (int i = 0; i < 3; i++)
            pass_by_curator(s, m, d.other, most);
    }
}

/* -- elections ------------------------------------------------------------- */

/* By the ids, which are their names. */
static void both_name_the_same_leader(const char *recipe)
{
    struct duo d = duo_on_new_path(recipe, &c.writer, &curator.writer);
    struct worker *const both[] = { d.holder, d.other };

    for (int i = 0; i < 2; i++) {
        worker_acquire(both[i], "write");
        for (int k = 0; k < 2; k++)
            worker_do(both[k], textf("leader %s", both[i]->name), "leader");
        worker_do(both[i], "released", "release write");
        wait_children(d.path, 0);
    }
}

TEST(c_and_curator_name_the_same_leader)
{
    both_name_the_same_leader("latch");
    both_name_the_same_leader("selector");
}

/* The leader is killed: the next one leads when the servers have ended its
 * session, and not before. */
static void the_next_leads(const char *recipe, const struct side *leader,
                           const struct side *next)
{
    struct duo d = duo_on_new_path(recipe, leader, next);

    worker_acquire(d.holder, "write");
    const char *node = textf("%s/%s", d.path, d.holder->node);
    acquire_behind(d.other, "write", d.path, d.holder->node);
    worker_kill(d.holder);
    assert_null(worker_hear(d.other, 100));
    assert_int_equal(admin_exists(admin, node, NULL), ZOK);
    worker_expect_held(d.other);
    assert_int_equal(admin_exists(admin, node, NULL), ZNONODE);
    worker_do(d.other, "released", "release write");
}

TEST(the_next_leads_when_the_leader_is_killed)
{
    the_next_leads("latch", &c.writer, &curator.writer);
    the_next_leads("latch", &curator.writer, &c.writer);
    the_next_leads("selector", &c.writer, &curator.writer);
    the_next_leads("selector", &curator.writer, &c.writer);
}

/* -- asking for a lock ------------------------------------------------------
 */

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
    struct side holds = { holder, "curator", mode };
    struct side asks = { asker, "curator", mode };
    struct duo d = duo_on_new_path(recipe, &holds, &asks);

    worker_do(d.holder, "listening", "listen");
    worker_acquire(d.holder, mode);
    worker_do(d.other, "revoked", "revoke %s/%s", d.path, d.holder->node);
    worker_expect(d.holder, "asked");
    assert_int_equal(count_children(d.path), 1);
    worker_do(d.holder, "released", "release %s", mode);
}

TEST_ROWS(request, requests, row)
{
    hears(row->recipe, "write", row->holder, row->asker);
    if (strcmp(row->recipe, "rw") == 0)
        hears(row->recipe, "read", row->holder, row->asker);
}
