/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of elections across clients: Curator's LeaderLatch and LeaderSelector,
 * and kazoo's Election. docs/interop.md has the table. */
#include "clients.h"

/* clang-format off */
static const struct pair pairs[] = {
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

static void names_leader(struct worker *w, const char *id)
{
    worker_do(w, textf("leader %s", id), "leader");
}

/* By the ids, which are their names. */
static void both_name_the_same_leader(const char *recipe)
{
    struct worker *workers[2];
    const char *path = pair_on_new_path(recipe, &c.writer, &curator.writer,
                                        &workers[0], &workers[1]);

    for (int i = 0; i < 2; i++) {
        worker_acquire(workers[i], "write");
        names_leader(workers[0], workers[i]->name);
        names_leader(workers[1], workers[i]->name);
        worker_do(workers[i], "released", "release write");
        wait_children(path, 0);
    }
}

TEST(c_and_curator_name_the_same_leader)
{
    both_name_the_same_leader("latch");
    both_name_the_same_leader("selector");
}

/* The leader is killed: the next one leads when the servers have ended its
 * session, and not before. */
static void the_next_leads(const char *recipe)
{
    const struct side *sides[] = { &c.writer, &curator.writer };

    for (int i = 0; i < 2; i++) {
        struct worker *leader;
        struct worker *next;
        const char *path =
            pair_on_new_path(recipe, sides[i], sides[1 - i], &leader, &next);

        worker_acquire(leader, "write");
        const char *node = textf("%s/%s", path, leader->node);
        acquire_behind(next, "write", path, leader->node);
        worker_kill(leader);
        assert_null(worker_hear(next, 100));
        assert_int_equal(admin_exists(admin, node, NULL), ZOK);
        worker_expect_held(next);
        assert_int_equal(admin_exists(admin, node, NULL), ZNONODE);
        worker_do(next, "released", "release write");
    }
}

TEST(the_next_leads_when_the_leader_is_killed)
{
    the_next_leads("latch");
    the_next_leads("selector");
}
