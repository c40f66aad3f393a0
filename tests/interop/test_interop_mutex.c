/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the mutex across clients: who excludes whom, with one holder and one
 * contender of each pair of clients on one path. docs/interop.md has the
 * table. */
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
