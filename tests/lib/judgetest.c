/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of a lock: for each rule, records that break it and no other. */
#include "judge.h"
#include "test.h"

enum { MOST = 6 };

/* clang-format off */

#define NONE JUDGE_RULES
#define BREAKS(rule_, who_, n) .rule = JUDGE_##rule_, .who = who_, .number = n

/* An exclusive grant, and a shared one, with its token, begin and end; one that
 * was handed on; and one that names its node. */
#define X(who, token, begin, end) { who, false, token, 0, NULL, begin, end }
#define S(who, token, begin, end) { who, true, token, 0, NULL, begin, end }
#define HX(who, token, begin, end, nth) \
    { who, false, token, nth, NULL, begin, end }
#define XN(who, node, token, begin, end) \
    { who, false, token, 0, node, begin, end }

/* A node, with its token, and when it went; one of a session; and one that went
 * with that zxid. */
#define GONE(at) ((at) == JUDGE_NEVER ? JUDGE_NEVER : 100 + (at))
#define N(name, shared, token, gone_at) \
    { name, shared, 0, token, GONE(gone_at), gone_at }
#define NS(name, session, token, gone_at) \
    { name, false, session, token, GONE(gone_at), gone_at }
#define NZ(name, zxid, token, gone_at) \
    { name, false, 0, token, zxid, gone_at }

enum truth { OWN_NODES, NOT_ASKED, SOME_NODES };

static const struct row {
    const char *name;
    struct judge_grant grants[MOST]; /* up to the first without a name */
    enum truth truth; /* each grant has its node, nobody knows, or `nodes` */
    struct judge_node nodes[MOST];
    struct judge_access accesses[MOST]; /* up to the first without a token */
    size_t limit;
    bool untimed;
    int64_t slack;
    enum judge_rule rule; /* that is broken once, and no other; or NONE */
    const char *who; /* of the sentence */
    int64_t number;
} rows[] = {
    { "nothing is right", .rule = NONE },
    { "turns are right", { X("a", 1, 10, 20), X("b", 2, 20, 30), X("c", 3, 31, 40) },
      .rule = NONE },
    { "shared grants may be held together",
      { X("a", 1, 10, 20), S("b", 2, 20, 50), S("c", 3, 20, 40), X("d", 4, 50, 60) },
      .rule = NONE },
    { "the order of the records does not matter", { X("b", 2, 20, 30), X("a", 1, 10, 20) },
      SOME_NODES, { N("a", false, 1, 20), N("b", false, 2, 30) }, .rule = NONE },
    /* The record of "a" was late: its lock had gone to "b" by then. */
    { "an instant says only that it was granted",
      { X("a", 1, 26, 26), X("b", 2, 25, 25) },
      SOME_NODES, { N("a", false, 1, 20), N("b", false, 2, 30) },
      .rule = NONE },
    { "the limit may be reached",
      { S("a", 1, 10, 50), S("b", 2, 20, 30), S("c", 3, 30, 40),
        S("d", 4, 45, 60), S("e", 5, 50, 70) },
      .limit = 2, .rule = NONE },
    { "shared grants have no order", /* they begin and end in any */
      { S("b", 2, 10, 30), S("a", 1, 20, 40) },
      SOME_NODES, { N("a", true, 1, 40), N("b", true, 2, 30) },
      { { true, 2 }, { true, 1 } }, .rule = NONE },
    { "a node is handed on", /* and three have it in turn */
      { X("a", 1, 10, 20), X("b", 2, 20, 30), HX("c", 2, 30, 40, 1),
        HX("d", 2, 40, 50, 2), X("e", 3, 50, 60) },
      SOME_NODES,
      { N("a", false, 1, 20), N("b", false, 2, 50), N("e", false, 3, 60) },
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
      SOME_NODES, { N("a", false, 1, 30) },
      BREAKS(OVERLAP, "b, exclusive, token 0x1", 2) },
    { "one too many hold it together",
      { S("a", 1, 10, 50), S("b", 2, 20, 30), S("c", 3, 28, 40), S("d", 4, 40, 60) },
      .limit = 2, BREAKS(CROWDED, "c, shared, token 0x3", 2) },
    { "a token goes back",
      { X("b", 2, 10, 20), X("a", 1, 20, 30) },
      NOT_ASKED, BREAKS(DISORDER, "a, exclusive, token 0x1", 2) },
    { "a shared token goes back behind an exclusive one",
      { X("b", 2, 10, 20), S("c", 3, 20, 30), S("a", 1, 20, 30) },
      NOT_ASKED, BREAKS(DISORDER, "a, shared, token 0x1", 2) },
    { "a handoff goes back",
      { HX("a", 1, 10, 20, 1), X("b", 1, 20, 30) },
      SOME_NODES, { N("a", false, 1, 30) },
      BREAKS(DISORDER, "b, exclusive, token 0x1", 1) },
    { "two grants have one token",
      { X("a", 1, 10, 10), X("b", 1, 11, 11) },
      SOME_NODES, { N("a", false, 1, 20) },
      BREAKS(TWICE, "b, exclusive, token 0x1", 10) },
    { "two grants have one handoff",
      { X("a", 1, 10, 10), HX("b", 1, 11, 11, 5), HX("c", 1, 12, 12, 5) },
      SOME_NODES, { N("a", false, 1, 20) },
      BREAKS(TWICE, "c, exclusive, token 0x1", 11) },
    { "no node has the token",
      { X("a", 1, 10, 20), X("b", 2, 20, 30) },
      SOME_NODES, { N("a", false, 1, 20) },
      BREAKS(UNKNOWN, "b, exclusive, token 0x2", 20) },
    { "the server has no node at all",
      { X("b", 2, 20, 30) }, SOME_NODES,
      BREAKS(UNKNOWN, "b, exclusive, token 0x2", 20) },
    /* "a" was never granted, or nobody wrote it down. */
    { "a node ahead is still there",
      { X("b", 2, 20, 30) },
      SOME_NODES, { N("a", false, 1, 25), N("b", false, 2, 30) },
      BREAKS(EARLY, "b, exclusive, token 0x2", 5) },
    { "it is held when its node has gone",
      { X("a", 1, 10, 24) },
      SOME_NODES, { N("a", false, 1, 20) },
      BREAKS(LATE, "a, exclusive, token 0x1", 4) },
    { "a node is left",
      { X("a", 1, 10, 20) },
      SOME_NODES, { N("a", false, 1, 20), N("b", true, 2, JUDGE_NEVER) },
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

    /* Both were granted in their turn, and their session has ended. */
    { "a session takes two nodes with it",
      { X("a", 1, 10, 20), X("b", 2, 20, 30) },
      SOME_NODES, { NZ("a", 130, 1, 20), NZ("b", 130, 2, 30) }, .rule = NONE },
    { "the node with the token has that name", { XN("a", "a", 1, 10, 20) }, .rule = NONE },
    { "the node with the token has another name",
      { XN("a", "b", 1, 10, 20) }, SOME_NODES, { N("a", false, 1, 20) },
      BREAKS(UNKNOWN, "a, exclusive, token 0x1", 10) },
    /* Claims of one session take the lock from each other before the node goes;
     * those of others do not. */
    { "a node ahead of the same session is still there",
      { X("b", 3, 20, 30) },
      SOME_NODES, { NS("z", 8, 1, 15), NS("a", 9, 2, 25), NS("b", 9, 3, 30) },
      .rule = NONE },
    { "one of another session is there as well",
      { X("b", 3, 20, 30) },
      SOME_NODES, { NS("z", 8, 1, 22), NS("a", 9, 2, 25), NS("b", 9, 3, 30) },
      BREAKS(EARLY, "b, exclusive, token 0x3", 2) },
    { "two of the same session are still there",
      { X("b", 3, 20, 30) },
      SOME_NODES, { NS("z", 9, 1, 22), NS("a", 9, 2, 25), NS("b", 9, 3, 30) },
      .rule = NONE },
    { "the other of two is of the same session",
      { X("b", 3, 20, 30) },
      SOME_NODES, { NS("z", 9, 1, 22), NS("a", 8, 2, 25), NS("b", 9, 3, 30) },
      BREAKS(EARLY, "b, exclusive, token 0x3", 5) },
    { "a shared node ahead of a shared one is still there",
      { S("b", 2, 20, 30) },
      SOME_NODES, { N("a", true, 1, 25), N("b", true, 2, 30) }, .rule = NONE },
    { "a shared node ahead is still there",
      { S("b", 2, 20, 30), X("c", 3, 29, 29) },
      SOME_NODES,
      { N("a", true, 1, 25), N("b", true, 2, 30), N("c", false, 3, 40) },
      BREAKS(EARLY, "c, exclusive, token 0x3", 1) },
    { "clocks may be off by the slack",
      { X("a", 1, 10, 16), X("b", 2, 16, 34) },
      SOME_NODES, { N("a", false, 1, 20), N("b", false, 2, 30) },
      .slack = 4, .rule = NONE },
    { "a clock is off by more before the grant",
      { X("a", 1, 10, 16), X("b", 2, 16, 33) },
      SOME_NODES, { N("a", false, 1, 20), N("b", false, 2, 30) },
      .slack = 3, BREAKS(EARLY, "b, exclusive, token 0x2", 4) },
    { "a clock is off by more after the grant",
      { X("a", 1, 10, 16), X("b", 2, 17, 34) },
      SOME_NODES, { N("a", false, 1, 20), N("b", false, 2, 30) },
      .slack = 3, BREAKS(LATE, "b, exclusive, token 0x2", 4) },
    /* The clocks have nothing in common; the order alone tells. */
    { "its node goes before that of an earlier grant",
      { X("a", 1, 10, 20), X("b", 2, 20, 30) },
      SOME_NODES, { NZ("a", 131, 1, 0), NZ("b", 130, 2, 0) },
      .untimed = true, BREAKS(PASSED, "b, exclusive, token 0x2", 131) },
};
/* clang-format on */

TEST_ROWS(history, rows, row)
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

    struct judge_node nodes[MOST];
    struct judge_records records = { .grants = row->grants,
                                     .nodes = row->nodes,
                                     .accesses = row->accesses,
                                     .limit = row->limit,
                                     .timed = !row->untimed,
                                     .slack = row->slack };
    struct judgement judgement;

    while (row->grants[records.grant_count].who[0] != '\0')
        records.grant_count++;
    while (row->accesses[records.access_count].token != 0)
        records.access_count++;
    while (row->nodes[records.node_count].name != NULL)
        records.node_count++;
    if (row->truth == NOT_ASKED)
        records.nodes = NULL;
    for (size_t i = 0; row->truth == OWN_NODES && i < records.grant_count;
         i++) {
        const struct judge_grant *g = &row->grants[i];

        nodes[i] = (struct judge_node)N(g->who, g->shared, g->token, g->end);
        records.nodes = nodes;
        records.node_count = i + 1;
    }
    judge_lock(&records, &judgement);
    assert_string_equal(judgement.first, row->rule == NONE
                                             ? ""
                                             : textf("%s: %s %lld", row->who,
                                                     sentences[row->rule],
                                                     (long long)row->number));
    assert_int_equal(judgement.violations, row->rule != NONE);
    assert_true(row->rule == NONE || judgement.counts[row->rule] == 1);
}

/* How it tells */

static void count_sentence(void *user, const char *sentence)
{
    assert_true(strlen(sentence) > 0);
    ++*(long *)user;
}

TEST(each_violation_is_told)
{
    static const struct judge_grant grants[] = { X("a", 3, 10, 20),
                                                 X("b", 2, 15, 40),
                                                 X("c", 1, 30, 50) };
    long told = 0;
    struct judge_records records = { .grants = grants,
                                     .grant_count = COUNT(grants),
                                     .tell = count_sentence,
                                     .user = &told };
    struct judgement judgement;

    judge_lock(&records, &judgement);
    assert_int_equal(told, 4);
    assert_int_equal(judgement.violations, 4);
    assert_int_equal(judgement.counts[JUDGE_OVERLAP], 2);
    assert_int_equal(judgement.counts[JUDGE_DISORDER], 2);
    assert_string_equal(judgement.first, "b, exclusive, token 0x2: it overlaps "
                                         "an earlier grant, by 5");
}
