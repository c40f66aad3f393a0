/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of a lock: for each rule, records that break it and no other. */
#include <stdio.h>
#include <string.h>

#include "judge.h"
#include "test.h"

enum { MOST = 8 };

static struct judge_grant grants[MOST];
static struct judge_node nodes[MOST];
static struct judge_access accesses[MOST];
static struct judge_records records;
static struct judgement judgement;

static int set_up(void)
{
    records = (struct judge_records){
        .grants = grants, .nodes = nodes, .accesses = accesses, .timed = true
    };
    return 0;
}

FIXTURE(set_up, NULL)

static void add_node(const char *name, bool shared, int64_t token,
                     int64_t gone_at)
{
    bool stays = gone_at == JUDGE_NEVER;

    assert_true(records.node_count < MOST);
    nodes[records.node_count++] =
        (struct judge_node){ .name = name,
                             .shared = shared,
                             .token = token,
                             .gone = stays ? JUDGE_NEVER : 100 + gone_at,
                             .gone_at = gone_at };
}

static void add_grant(const char *who, bool shared, int64_t token,
                      int64_t begin, int64_t end)
{
    struct judge_grant *g = &grants[records.grant_count];

    assert_true(records.grant_count < MOST);
    records.grant_count++;
    *g = (struct judge_grant){
        .shared = shared, .token = token, .begin = begin, .end = end
    };
    (void)snprintf(g->who, sizeof(g->who), "%s", who);
}

/* A grant and its node, which goes when the grant ends. */
static void add(const char *who, bool shared, int64_t token, int64_t begin,
                int64_t end)
{
    add_node(who, shared, token, end);
    add_grant(who, shared, token, begin, end);
}

static void add_access(bool shared, int64_t token)
{
    assert_true(records.access_count < MOST);
    accesses[records.access_count++] =
        (struct judge_access){ .shared = shared, .token = token };
}

/* This rule is broken once, which the sentence says; no other is. */
static void finds(enum judge_rule rule, const char *sentence)
{
    judge_lock(&records, &judgement);
    if (judgement.counts[rule] != 1 || judgement.violations != 1)
        fail_msg("%ld of this kind among %ld violations; the first: %s",
                 judgement.counts[rule], judgement.violations, judgement.first);
    assert_string_equal(judgement.first, sentence);
}

static void finds_nothing(void)
{
    judge_lock(&records, &judgement);
    assert_string_equal(judgement.first, "");
    assert_int_equal(judgement.violations, 0);
}

/* Histories that are right */

TEST(nothing_is_right)
{
    finds_nothing();
}

TEST(turns_are_right)
{
    add("a", false, 1, 10, 20);
    add("b", false, 2, 20, 30);
    add("c", false, 3, 31, 40);
    finds_nothing();
}

TEST(shared_grants_may_be_held_together)
{
    add("a", false, 1, 10, 20);
    add("b", true, 2, 20, 50);
    add("c", true, 3, 20, 40);
    add("d", false, 4, 50, 60);
    finds_nothing();
}

/* Shared grants may come in any order, and end in any. */
TEST(shared_grants_have_no_order)
{
    add_node("a", true, 1, 40);
    add_node("b", true, 2, 30);
    add_grant("b", true, 2, 10, 30);
    add_grant("a", true, 1, 20, 40);
    add_access(true, 2);
    add_access(true, 1);
    finds_nothing();
}

TEST(the_order_of_the_records_does_not_matter)
{
    add_node("a", false, 1, 20);
    add_node("b", false, 2, 30);
    add_grant("b", false, 2, 20, 30);
    add_grant("a", false, 1, 10, 20);
    finds_nothing();
}

/* One node, and three who have it in turn. */
TEST(a_node_is_handed_on)
{
    add("a", false, 1, 10, 20);
    add_node("b", false, 2, 50);
    add_grant("b", false, 2, 20, 30);
    add_grant("c", false, 2, 30, 40);
    add_grant("d", false, 2, 40, 50);
    grants[2].handoff = 1;
    grants[3].handoff = 2;
    add("e", false, 3, 50, 60);
    finds_nothing();
}

/* Both were granted in their turn, and their session has ended. */
TEST(a_session_takes_two_nodes_with_it)
{
    add("a", false, 1, 10, 20);
    add_node("b", false, 2, 30);
    add_grant("b", false, 2, 20, 30);
    nodes[0].gone = nodes[1].gone;
    finds_nothing();
}

/* The record of "a" was late: its lock had gone to "b" by then. */
TEST(an_instant_says_only_that_it_was_granted)
{
    add_node("a", false, 1, 20);
    add_node("b", false, 2, 30);
    add_grant("a", false, 1, 26, 26);
    add_grant("b", false, 2, 25, 25);
    finds_nothing();
}

/* Histories that are wrong */

TEST(two_hold_it_together)
{
    records.nodes = NULL;
    add_grant("a", false, 1, 10, 20);
    add_grant("b", false, 2, 18, 30);
    finds(JUDGE_OVERLAP, "b, exclusive, token 0x2: it overlaps an earlier "
                         "grant, by 2");
}

TEST(a_shared_grant_overlaps_an_exclusive_one)
{
    records.nodes = NULL;
    add_grant("a", false, 1, 10, 20);
    add_grant("b", true, 2, 17, 30);
    finds(JUDGE_OVERLAP, "b, shared, token 0x2: it overlaps an earlier "
                         "grant, by 3");
}

TEST(an_exclusive_grant_overlaps_a_shared_one)
{
    records.nodes = NULL;
    add_grant("a", true, 1, 10, 40);
    add_grant("b", true, 2, 11, 20);
    add_grant("c", false, 3, 39, 50);
    finds(JUDGE_OVERLAP, "c, exclusive, token 0x3: it overlaps an earlier "
                         "grant, by 1");
}

TEST(a_grant_that_does_not_end_overlaps_the_next)
{
    records.nodes = NULL;
    add_grant("a", false, 1, 10, JUDGE_NEVER);
    add_grant("b", false, 2, 20, 30);
    judge_lock(&records, &judgement);
    assert_int_equal(judgement.counts[JUDGE_OVERLAP], 1);
    assert_int_equal(judgement.violations, 1);
}

TEST(the_limit_may_be_reached)
{
    records.limit = 2;
    add("a", true, 1, 10, 50);
    add("b", true, 2, 20, 30);
    add("c", true, 3, 30, 40);
    add("d", true, 4, 45, 60);
    add("e", true, 5, 50, 70);
    finds_nothing();
}

TEST(one_too_many_hold_it_together)
{
    records.limit = 2;
    add("a", true, 1, 10, 50);
    add("b", true, 2, 20, 30);
    add("c", true, 3, 28, 40);
    add("d", true, 4, 40, 60);
    finds(JUDGE_CROWDED, "c, shared, token 0x3: the limit was reached when it "
                         "was granted, by 2");
}

TEST(a_token_goes_back)
{
    records.nodes = NULL;
    add_grant("b", false, 2, 10, 20);
    add_grant("a", false, 1, 20, 30);
    finds(JUDGE_DISORDER, "a, exclusive, token 0x1: its token is not above an "
                          "earlier one, 2");
}

TEST(a_shared_token_goes_back_behind_an_exclusive_one)
{
    records.nodes = NULL;
    add_grant("b", false, 2, 10, 20);
    add_grant("c", true, 3, 20, 30);
    add_grant("a", true, 1, 20, 30);
    finds(JUDGE_DISORDER, "a, shared, token 0x1: its token is not above an "
                          "earlier one, 2");
}

TEST(two_grants_have_one_token)
{
    add_node("a", false, 1, 20);
    add_grant("a", false, 1, 10, 10);
    add_grant("b", false, 1, 11, 11);
    finds(JUDGE_TWICE, "b, exclusive, token 0x1: another grant has its token, "
                       "10");
}

TEST(two_have_one_node_together)
{
    add_node("a", false, 1, 30);
    add_grant("a", false, 1, 10, 20);
    add_grant("b", false, 1, 18, 30);
    grants[1].handoff = 1;
    finds(JUDGE_OVERLAP, "b, exclusive, token 0x1: it overlaps an earlier "
                         "grant, by 2");
}

TEST(a_handoff_goes_back)
{
    add_node("a", false, 1, 30);
    add_grant("a", false, 1, 10, 20);
    add_grant("b", false, 1, 20, 30);
    grants[0].handoff = 1;
    finds(JUDGE_DISORDER, "b, exclusive, token 0x1: its token is not above an "
                          "earlier one, 1");
}

TEST(two_grants_have_one_handoff)
{
    add_node("a", false, 1, 20);
    add_grant("a", false, 1, 10, 10);
    add_grant("b", false, 1, 11, 11);
    add_grant("c", false, 1, 12, 12);
    grants[1].handoff = grants[2].handoff = 5;
    finds(JUDGE_TWICE, "c, exclusive, token 0x1: another grant has its token, "
                       "11");
}

TEST(no_node_has_the_token)
{
    add("a", false, 1, 10, 20);
    add_grant("b", false, 2, 20, 30);
    finds(JUDGE_UNKNOWN, "b, exclusive, token 0x2: the server has no such "
                         "node, 20");
}

TEST(the_server_has_no_node_at_all)
{
    add_grant("b", false, 2, 20, 30);
    finds(JUDGE_UNKNOWN, "b, exclusive, token 0x2: the server has no such "
                         "node, 20");
}

TEST(the_node_with_the_token_has_another_name)
{
    add("a", false, 1, 10, 20);
    grants[0].node = "a";
    finds_nothing();
    grants[0].node = "b";
    finds(JUDGE_UNKNOWN, "a, exclusive, token 0x1: the server has no such "
                         "node, 10");
}

/* "a" was never granted, or nobody wrote it down. */
TEST(a_node_ahead_is_still_there)
{
    add_node("a", false, 1, 25);
    add("b", false, 2, 20, 30);
    finds(JUDGE_EARLY, "b, exclusive, token 0x2: it was granted before a node "
                       "ahead had gone, by 5");
}

/* Claims of one session take the lock from each other before the node goes;
 * those of others do not. */
TEST(a_node_ahead_of_the_same_session_is_still_there)
{
    add_node("z", false, 1, 15);
    add_node("a", false, 2, 25);
    add("b", false, 3, 20, 30);
    nodes[0].session = 8;
    nodes[1].session = nodes[2].session = 9;
    finds_nothing();
    nodes[0].gone_at = 22;
    finds(JUDGE_EARLY, "b, exclusive, token 0x3: it was granted before a node "
                       "ahead had gone, by 2");
    nodes[0].session = 9;
    finds_nothing();
    nodes[1].session = 8;
    finds(JUDGE_EARLY, "b, exclusive, token 0x3: it was granted before a node "
                       "ahead had gone, by 5");
}

TEST(a_shared_node_ahead_is_still_there)
{
    add_node("a", true, 1, 25);
    add("b", true, 2, 20, 30);
    finds_nothing();
    add("c", false, 3, 29, 40);
    grants[1].begin = grants[1].end = 29;
    finds(JUDGE_EARLY, "c, exclusive, token 0x3: it was granted before a node "
                       "ahead had gone, by 1");
}

TEST(it_is_held_when_its_node_has_gone)
{
    add_node("a", false, 1, 20);
    add_grant("a", false, 1, 10, 24);
    finds(JUDGE_LATE, "a, exclusive, token 0x1: it was held after its node had "
                      "gone, by 4");
}

TEST(clocks_may_be_off_by_the_slack)
{
    add_node("a", false, 1, 20);
    add_node("b", false, 2, 30);
    add_grant("a", false, 1, 10, 16);
    add_grant("b", false, 2, 16, 34);
    records.slack = 4;
    finds_nothing();
    records.slack = 3;
    judge_lock(&records, &judgement);
    assert_int_equal(judgement.counts[JUDGE_EARLY], 1);
    assert_int_equal(judgement.counts[JUDGE_LATE], 1);
    assert_int_equal(judgement.violations, 2);
}

/* The clocks have nothing in common; the order alone tells. */
TEST(its_node_goes_before_that_of_an_earlier_grant)
{
    add("a", false, 1, 10, 20);
    add("b", false, 2, 20, 30);
    nodes[0].gone = nodes[1].gone + 1;
    nodes[0].gone_at = nodes[1].gone_at = 0;
    records.timed = false;
    finds(JUDGE_PASSED, "b, exclusive, token 0x2: its node went before that of "
                        "an earlier grant, 131");
}

TEST(a_node_is_left)
{
    add("a", false, 1, 10, 20);
    add_node("b", true, 2, JUDGE_NEVER);
    finds(JUDGE_LEFT, "b, shared, token 0x2: the node is still there, token 2");
}

TEST(an_access_is_stale)
{
    add_access(false, 1);
    add_access(false, 3);
    add_access(false, 3);
    add_access(false, 2);
    finds(JUDGE_STALE, "an access, exclusive, token 0x2: it was accepted after "
                       "a higher token, 3");
}

TEST(a_shared_access_is_stale_behind_an_exclusive_one)
{
    add_access(false, 2);
    add_access(true, 4);
    add_access(true, 3);
    finds_nothing();
    add_access(true, 1);
    finds(JUDGE_STALE, "an access, shared, token 0x1: it was accepted after a "
                       "higher token, 2");
}

TEST(an_exclusive_access_is_stale_behind_a_shared_one)
{
    add_access(true, 4);
    add_access(false, 3);
    finds(JUDGE_STALE, "an access, exclusive, token 0x3: it was accepted after "
                       "a higher token, 4");
}

/* How it tells */

static void count_sentence(void *user, const char *sentence)
{
    assert_true(strlen(sentence) > 0);
    ++*(long *)user;
}

TEST(each_violation_is_told)
{
    long told = 0;

    records.nodes = NULL;
    records.tell = count_sentence;
    records.user = &told;
    add_grant("a", false, 3, 10, 20);
    add_grant("b", false, 2, 15, 40);
    add_grant("c", false, 1, 30, 50);
    judge_lock(&records, &judgement);
    assert_int_equal(told, 4);
    assert_int_equal(judgement.violations, 4);
    assert_int_equal(judgement.counts[JUDGE_OVERLAP], 2);
    assert_int_equal(judgement.counts[JUDGE_DISORDER], 2);
    assert_string_equal(judgement.first, "b, exclusive, token 0x2: it overlaps "
                                         "an earlier grant, by 5");
}
