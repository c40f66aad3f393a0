/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of a lock: for each rule, records that break it and no other. */
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
    PRINT(g->who, "%s", who);
}

/* A grant and its node, which goes when the grant ends. */
static void add(const char *who, bool shared, int64_t token, int64_t begin,
                int64_t end)
{
    add_node(who, shared, token, end);
    add_grant(who, shared, token, begin, end);
}

/* This rule is broken once, which the sentence says; no other is. */
static void finds(enum judge_rule rule, const char *who, int64_t number)
{
    static const char *const sentences[JUDGE_RULES] = {
        [JUDGE_OVERLAP] = "it overlaps an earlier grant, by",
        [JUDGE_CROWDED] = "the limit was reached when it was granted, by",
        [JUDGE_DISORDER] = "its token is not above an earlier one,",
        [JUDGE_TWICE] = "another grant has its token,",
        [JUDGE_UNKNOWN] = "the server has no such node,",
        [JUDGE_EARLY] = "it was granted before a node ahead had gone, by",
        [JUDGE_LATE] = "it was held after its node had gone, by",
        [JUDGE_PASSED] = "its node went before that of an earlier grant,",
        [JUDGE_LEFT] = "the node is still there, token",
        [JUDGE_STALE] = "it was accepted after a higher token,",
    };

    judge_lock(&records, &judgement);
    if (judgement.counts[rule] != 1 || judgement.violations != 1)
        fail_msg("%ld of this kind among %ld violations; the first: %s",
                 judgement.counts[rule], judgement.violations, judgement.first);
    assert_string_equal(
        judgement.first,
        textf("%s: %s %lld", who, sentences[rule], (long long)number));
}

static void finds_nothing(void)
{
    judge_lock(&records, &judgement);
    assert_string_equal(judgement.first, "");
    assert_int_equal(judgement.violations, 0);
}

/* Histories, each with the rule that it breaks, or none */

/* clang-format off */

#define NONE JUDGE_RULES
#define BREAKS(rule_, who_, n) .rule = JUDGE_##rule_, .who = who_, .number = n

/* An exclusive grant, and a shared one, with its token, begin and end; the same
 * that were handed on; nodes, with their token, and when they went. */
#define X(who, token, begin, end)      { who, false, token, begin, end, 0 }
#define S(who, token, begin, end)      { who, true, token, begin, end, 0 }
#define HX(who, token, begin, end, nth) { who, false, token, begin, end, nth }

enum truth { OWN_NODES, NOT_ASKED, SOME_NODES };

static const struct row {
    const char *name;
    struct {
        const char *who;
        bool shared;
        int64_t token, begin, end;
        uint64_t handoff;
    } grants[6]; /* up to the first without a name */
    enum truth truth; /* each grant has its node, nobody knows, or `nodes` */
    struct {
        const char *name;
        bool shared;
        int64_t token, gone_at;
    } nodes[4];
    struct {
        bool shared;
        int64_t token;
    } accesses[5]; /* up to the first without a token */
    size_t limit;
    enum judge_rule rule;
    const char *who; /* of the sentence */
    int64_t number;
} rows[] = {
    { "nothing is right", .rule = NONE },
    { "turns are right",
      { X("a", 1, 10, 20), X("b", 2, 20, 30), X("c", 3, 31, 40) },
      .rule = NONE },
    { "shared grants may be held together",
      { X("a", 1, 10, 20), S("b", 2, 20, 50), S("c", 3, 20, 40),
        X("d", 4, 50, 60) },
      .rule = NONE },
    { "the order of the records does not matter",
      { X("b", 2, 20, 30), X("a", 1, 10, 20) },
      SOME_NODES, { { "a", false, 1, 20 }, { "b", false, 2, 30 } },
      .rule = NONE },
    /* The record of "a" was late: its lock had gone to "b" by then. */
    { "an instant says only that it was granted",
      { X("a", 1, 26, 26), X("b", 2, 25, 25) },
      SOME_NODES, { { "a", false, 1, 20 }, { "b", false, 2, 30 } },
      .rule = NONE },
    { "the limit may be reached",
      { S("a", 1, 10, 50), S("b", 2, 20, 30), S("c", 3, 30, 40),
        S("d", 4, 45, 60), S("e", 5, 50, 70) },
      .limit = 2, .rule = NONE },
    { "shared grants have no order", /* they begin and end in any */
      { S("b", 2, 10, 30), S("a", 1, 20, 40) },
      SOME_NODES, { { "a", true, 1, 40 }, { "b", true, 2, 30 } },
      { { true, 2 }, { true, 1 } }, .rule = NONE },
    { "a node is handed on", /* and three have it in turn */
      { X("a", 1, 10, 20), X("b", 2, 20, 30), HX("c", 2, 30, 40, 1),
        HX("d", 2, 40, 50, 2), X("e", 3, 50, 60) },
      SOME_NODES,
      { { "a", false, 1, 20 }, { "b", false, 2, 50 }, { "e", false, 3, 60 } },
      .rule = NONE },

    { "two hold it together",
      { X("a", 1, 10, 20), X("b", 2, 18, 30) },
      NOT_ASKED, BREAKS(OVERLAP, "b, exclusive, token 0x2", 2) },
    { "a grant that does not end overlaps the next",
      { X("a", 1, 10, JUDGE_NEVER), X("b", 2, 20, 30) },
      NOT_ASKED,
      BREAKS(OVERLAP, "b, exclusive, token 0x2", 9223372036854775787) },
    { "a shared grant overlaps an exclusive one",
      { X("a", 1, 10, 20), S("b", 2, 17, 30) },
      NOT_ASKED, BREAKS(OVERLAP, "b, shared, token 0x2", 3) },
    { "an exclusive grant overlaps a shared one",
      { S("a", 1, 10, 40), S("b", 2, 11, 20), X("c", 3, 39, 50) },
      NOT_ASKED, BREAKS(OVERLAP, "c, exclusive, token 0x3", 1) },
    { "two have one node together",
      { X("a", 1, 10, 20), HX("b", 1, 18, 30, 1) },
      SOME_NODES, { { "a", false, 1, 30 } },
      BREAKS(OVERLAP, "b, exclusive, token 0x1", 2) },
    { "one too many hold it together",
      { S("a", 1, 10, 50), S("b", 2, 20, 30), S("c", 3, 28, 40),
        S("d", 4, 40, 60) },
      .limit = 2, BREAKS(CROWDED, "c, shared, token 0x3", 2) },
    { "a token goes back",
      { X("b", 2, 10, 20), X("a", 1, 20, 30) },
      NOT_ASKED, BREAKS(DISORDER, "a, exclusive, token 0x1", 2) },
    { "a shared token goes back behind an exclusive one",
      { X("b", 2, 10, 20), S("c", 3, 20, 30), S("a", 1, 20, 30) },
      NOT_ASKED, BREAKS(DISORDER, "a, shared, token 0x1", 2) },
    { "a handoff goes back",
      { HX("a", 1, 10, 20, 1), X("b", 1, 20, 30) },
      SOME_NODES, { { "a", false, 1, 30 } },
      BREAKS(DISORDER, "b, exclusive, token 0x1", 1) },
    { "two grants have one token",
      { X("a", 1, 10, 10), X("b", 1, 11, 11) },
      SOME_NODES, { { "a", false, 1, 20 } },
      BREAKS(TWICE, "b, exclusive, token 0x1", 10) },
    { "two grants have one handoff",
      { X("a", 1, 10, 10), HX("b", 1, 11, 11, 5), HX("c", 1, 12, 12, 5) },
      SOME_NODES, { { "a", false, 1, 20 } },
      BREAKS(TWICE, "c, exclusive, token 0x1", 11) },
    { "no node has the token",
      { X("a", 1, 10, 20), X("b", 2, 20, 30) },
      SOME_NODES, { { "a", false, 1, 20 } },
      BREAKS(UNKNOWN, "b, exclusive, token 0x2", 20) },
    { "the server has no node at all",
      { X("b", 2, 20, 30) }, SOME_NODES,
      BREAKS(UNKNOWN, "b, exclusive, token 0x2", 20) },
    /* "a" was never granted, or nobody wrote it down. */
    { "a node ahead is still there",
      { X("b", 2, 20, 30) },
      SOME_NODES, { { "a", false, 1, 25 }, { "b", false, 2, 30 } },
      BREAKS(EARLY, "b, exclusive, token 0x2", 5) },
    { "it is held when its node has gone",
      { X("a", 1, 10, 24) },
      SOME_NODES, { { "a", false, 1, 20 } },
      BREAKS(LATE, "a, exclusive, token 0x1", 4) },
    { "a node is left",
      { X("a", 1, 10, 20) },
      SOME_NODES, { { "a", false, 1, 20 }, { "b", true, 2, JUDGE_NEVER } },
      BREAKS(LEFT, "b, shared, token 0x2", 2) },

    { "an access is stale",
      .accesses = { { false, 1 }, { false, 3 }, { false, 3 }, { false, 2 } },
      BREAKS(STALE, "an access, exclusive, token 0x2", 3) },
    { "a shared access is not stale behind a shared one",
      .accesses = { { false, 2 }, { true, 4 }, { true, 3 } }, .rule = NONE },
    { "a shared access is stale behind an exclusive one",
      .accesses = { { false, 2 }, { true, 4 }, { true, 3 }, { true, 1 } },
      BREAKS(STALE, "an access, shared, token 0x1", 2) },
    { "an exclusive access is stale behind a shared one",
      .accesses = { { true, 4 }, { false, 3 } },
      BREAKS(STALE, "an access, exclusive, token 0x3", 4) },
};
/* clang-format on */

TEST_ROWS(history, rows, row)
{
    for (size_t i = 0; row->grants[i].who != NULL; i++) {
        add_grant(row->grants[i].who, row->grants[i].shared,
                  row->grants[i].token, row->grants[i].begin,
                  row->grants[i].end);
        grants[i].handoff = row->grants[i].handoff;
        if (row->truth == OWN_NODES)
            add_node(grants[i].who, grants[i].shared, grants[i].token,
                     grants[i].end);
    }
    for (size_t i = 0; i < COUNT(row->nodes) && row->nodes[i].name != NULL; i++)
        add_node(row->nodes[i].name, row->nodes[i].shared, row->nodes[i].token,
                 row->nodes[i].gone_at);
    for (size_t i = 0; row->accesses[i].token != 0; i++)
        accesses[records.access_count++] =
            (struct judge_access){ row->accesses[i].shared,
                                   row->accesses[i].token };
    if (row->truth == NOT_ASKED)
        records.nodes = NULL;
    records.limit = row->limit;
    if (row->rule == NONE)
        finds_nothing();
    else
        finds(row->rule, row->who, row->number);
}

/* Histories that change as they are judged */

/* Both were granted in their turn, and their session has ended. */
TEST(a_session_takes_two_nodes_with_it)
{
    add("a", false, 1, 10, 20);
    add_node("b", false, 2, 30);
    add_grant("b", false, 2, 20, 30);
    nodes[0].gone = nodes[1].gone;
    finds_nothing();
}

TEST(the_node_with_the_token_has_another_name)
{
    add("a", false, 1, 10, 20);
    grants[0].node = "a";
    finds_nothing();
    grants[0].node = "b";
    finds(JUDGE_UNKNOWN, "a, exclusive, token 0x1", 10);
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
    finds(JUDGE_EARLY, "b, exclusive, token 0x3", 2);
    nodes[0].session = 9;
    finds_nothing();
    nodes[1].session = 8;
    finds(JUDGE_EARLY, "b, exclusive, token 0x3", 5);
}

TEST(a_shared_node_ahead_is_still_there)
{
    add_node("a", true, 1, 25);
    add("b", true, 2, 20, 30);
    finds_nothing();
    add("c", false, 3, 29, 40);
    grants[1].begin = grants[1].end = 29;
    finds(JUDGE_EARLY, "c, exclusive, token 0x3", 1);
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
    finds(JUDGE_PASSED, "b, exclusive, token 0x2", 131);
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
