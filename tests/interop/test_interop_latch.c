/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of elections across clients: Curator's LeaderLatch and LeaderSelector,
 * and kazoo's Election. docs/interop.md has the table. */
#include "pair.h"

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
