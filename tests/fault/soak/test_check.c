/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the judgement of a soak, with hand-made histories that each break a
 * rule; judgetest.c has more for each rule. */
#include "check.h"
#include "spawn.h"
#include "test.h"

enum { MUTEX = 0, RW = 2, STAYS = 4, ALICE = 101, BOB = 102 };

/* Instants and lives are in ms here; a lease is longer than anything. */
#define LEASE_MS 1000000

#define BROKEN(rule) .broken.counts[JUDGE_##rule]

static struct evidence evidence;
static struct history truth[LOCKS];
static struct verdict verdict;

static int set_up(void)
{
    evidence = (struct evidence){ .truth = truth, .leased = true };
    memset(truth, 0, sizeof(truth));
    return 0;
}

static int tear_down(void)
{
    evidence_free(&evidence);
    for (int i = 0; i < LOCKS; i++)
        free(truth[i].lives);
    return 0;
}

FIXTURE(set_up, tear_down)

static struct note at(char kind, int64_t ms, int64_t a, int64_t b, int64_t c)
{
    return (struct note){ .kind = kind, .at = ms * MS, .a = a, .b = b, .c = c };
}

/* This is broken, and nothing else. */
static void assert_broken(const struct verdict *expected)
{
    check(&evidence, &verdict);
    for (int i = 0; i < JUDGE_RULES; i++) {
        if (verdict.broken.counts[i] != expected->broken.counts[i])
            fail_msg("rule %d is broken %ld times, not %ld; the first: %s", i,
                     verdict.broken.counts[i], expected->broken.counts[i],
                     verdict.broken.first);
    }
    assert_int_equal(verdict.lost_updates, expected->lost_updates);
    assert_int_equal(verdict.orphans, expected->orphans);
}

/* -- histories */

/* clang-format off */

/* A node of that session, with its token, begin and end in ms. */
#define OF(session, name, token, begin, end, by_session) \
    { name, session, token, (end) == INT64_MAX ? INT64_MAX : (token) + 1, \
      begin, end, by_session }
#define A(name, token, begin, end) OF(ALICE, name, token, begin, end, false)
#define B(name, token, begin, end) OF(BOB, name, token, begin, end, false)
/* A grant of that run to write, or to read, with its token, begin and end;
 * whose lease ends then; that was handed on. */
#define W(run, token, begin, end) { run, false, token, begin, end, LEASE_MS, 0 }
#define R(run, token, begin, end) { run, true, token, begin, end, LEASE_MS, 0 }
#define L(run, token, begin, end, until) \
    { run, false, token, begin, end, until, 0 }
#define H(run, token, begin, end, nth) \
    { run, false, token, begin, end, LEASE_MS, nth }
#define F(begin, end) { (begin) * MS, (end) * MS, false } /* a fault */

static const struct row {
    const char *name;
    int lock;
    struct life lives[3]; /* up to the first without a name */
    struct {
        int run;
        bool reads;
        int64_t token;
        int64_t begin, end;
        int64_t valid_until;
        uint64_t handoff;
    } grants[4]; /* up to the first without a token */
    struct excuse excuses[3]; /* up to the first without an instant */
    struct window faults[2];
    bool gives_up; /* Alice asks at 995, and gives up at 1100 */
    bool trusts;   /* without a lease, and without the logs */
    struct verdict expected;
} rows[] = {
    { "turns are good", .lock = MUTEX, { A("lock-1", 10, 995, 1101), B("lock-2", 20, 1000, 1201) },
      { W(0, 10, 1000, 1100), W(1, 20, 1102, 1200) } },
    { "readers share", .lock = RW, { A("__READ__1", 10, 995, 1200), B("__READ__2", 20, 995, 1101) },
      { R(0, 10, 1000, 1200), R(1, 20, 1001, 1100) } },
    /* Both say that they have it; the server ended the first node before. */
    { "claims overlap", MUTEX, { A("lock-1", 10, 995, 1101), B("lock-2", 20, 1000, 1201) },
      { W(0, 10, 1000, 1150), W(1, 20, 1110, 1200) },
      .expected = { BROKEN(OVERLAP) = 1, BROKEN(LATE) = 1 } },
    { "a writer overlaps a reader", RW,
      { A("__READ__1", 10, 995, 1101), B("__WRIT__2", 20, 1000, 1201) },
      { R(0, 10, 1000, 1150), W(1, 20, 1110, 1200) },
      .expected = { BROKEN(OVERLAP) = 1, BROKEN(LATE) = 1 } },
    /* Alice sleeps through the end of her session; her lease ended before. */
    { "a claim ends with its lease", MUTEX,
      { OF(ALICE, "lock-1", 10, 995, 1101, true), B("lock-2", 20, 1000, 1201) },
      { L(0, 10, 1000, 1300, 1090), W(1, 20, 1102, 1200) }, .expected.margin_ms = 10 },
    { "without a lease it does not", MUTEX, .trusts = true,
      .grants = { L(0, 10, 1000, 1300, 1090), W(1, 20, 1102, 1200) },
      .expected = { BROKEN(OVERLAP) = 1 } },
    /* Nobody else was granted it, so only the log tells. */
    { "a lease outlives its node", MUTEX, { A("lock-1", 10, 995, 1101) },
      { L(0, 10, 1000, 1300, 1110) }, .expected = { BROKEN(LATE) = 1 } },
    /* It was reported after its lease was over, and claims nothing. */
    { "a grant comes too late", MUTEX, { A("lock-1", 10, 995, 1101), B("lock-2", 20, 1000, 1500) },
      { L(0, 10, 1200, 1300, 1090), W(1, 20, 1102, 1250) }, .expected.empty = 1 },
    { "an end by an operator is excused", .lock = MUTEX,
      { A("lock-1", 10, 995, 1101), B("lock-2", 20, 1000, 1201), A("lock-3", 30, 1202, 1301) },
      { W(0, 10, 1000, 1150), W(1, 20, 1110, 1250), W(0, 30, 1210, 1350) },
      { { .at = 1100 * MS, .token = 10, .lock = -1 },
        { .at = 1200 * MS, .session = BOB, .lock = -1 },
        { .at = 1300 * MS, .lock = MUTEX, .until = 1310 * MS } } },
    { "an excuse is for one", MUTEX, /* and this would be for another */
      { A("lock-1", 10, 995, 1101) }, { W(0, 10, 1000, 1150) },
      { { 1050 * MS, BOB, 20, RW, 2000 * MS } }, .expected = { BROKEN(LATE) = 1 } },
    { "a token goes back", MUTEX, { B("lock-2", 10, 900, 1201), A("lock-1", 20, 995, 1101) },
      { W(0, 20, 1000, 1100), W(1, 10, 1102, 1200) },
      .expected = { BROKEN(DISORDER) = 1, BROKEN(EARLY) = 1,
                    BROKEN(PASSED) = 1 } },
    { "nobody knows the token", MUTEX, .grants = { W(0, 10, 1000, 1100) },
      .expected = { BROKEN(UNKNOWN) = 1 } },

    { "a node is handed on", STAYS, /* by the thread that is run 2, and back */
      { A("lock-1", 10, 995, 1401), B("lock-2", 20, 1000, 1501) },
      { W(0, 10, 1000, 1100), H(2, 10, 1101, 1200, 1),
        H(0, 10, 1200, 1300, 2), W(1, 20, 1402, 1500) }, .expected.handed_on = 2 },
    { "two threads have one node", STAYS, /* and one has it for no time */
      { A("lock-1", 10, 995, 1201) },
      { W(0, 10, 1000, 1100), H(2, 10, 1099, 1200, 1), H(0, 10, 1200, 1200, 1) },
      .expected = { BROKEN(OVERLAP) = 1, .handed_on = 2, .empty = 1 } },
    { "two threads have one hand-off", STAYS, { A("lock-1", 10, 995, 1201) },
      { W(0, 10, 1000, 1100), H(2, 10, 1100, 1200, 1), H(0, 10, 1200, 1201, 1) },
      .expected = { BROKEN(DISORDER) = 1, BROKEN(TWICE) = 1,
                    .handed_on = 2 } },
    /* The client does not know yet that its node has gone with its parent. */
    { "an excuse is for the node that stays", STAYS,
      { A("lock-1", 10, 995, 1110), B("lock-2", 20, 1120, 1201) },
      { W(0, 10, 1000, 1100), H(2, 10, 1120, 1150, 1), W(1, 20, 1130, 1200) },
      { { .at = 1105 * MS, .lock = STAYS, .until = 1111 * MS } },
      .expected = { .handed_on = 1, .empty = 1 } },
    /* Time begins when the last of its grants is over; the lock has stayed. */
    { "a node that stays goes in time", STAYS,
      { A("lock-1", 10, 995, 1290 + RETAIN_MS + 2 * SESSION_MS) },
      { W(0, 10, 1000, 1100), H(2, 10, 1200, 1300, 1) }, .expected.handed_on = 1 },
    { "a node that stays is an orphan", STAYS,
      { A("lock-1", 10, 995, 1310 + RETAIN_MS + 2 * SESSION_MS) },
      { W(0, 10, 1000, 1100), H(2, 10, 1200, 1300, 1) },
      .expected = { .handed_on = 1, .orphans = 1 } },

    { "a node goes in time", MUTEX, .gives_up = true,
      .lives = { A("lock-1", 10, 996, 1090 + 2 * SESSION_MS) } },
    { "a node is an orphan", MUTEX, .gives_up = true,
      .lives = { A("lock-1", 10, 996, 1110 + 2 * SESSION_MS) }, .expected.orphans = 1 },
    { "a node is left", MUTEX, .gives_up = true, .lives = { A("lock-1", 10, 996, INT64_MAX) },
      .expected = { .orphans = 1, BROKEN(LEFT) = 1 } },
    /* Time begins when the last fault has healed. */
    { "a fault delays what is due", MUTEX, .gives_up = true,
      .faults = { F(1000, 2000), F(3000, 9000) },
      .lives = { A("lock-1", 10, 996, 8990 + 2 * SESSION_MS) } },
    { "a fault does not delay it for ever", MUTEX, .gives_up = true,
      .faults = { F(1000, 2000), F(3000, 9000) },
      .lives = { A("lock-1", 10, 996, 9010 + 2 * SESSION_MS) }, .expected.orphans = 1 },
};
/* clang-format on */

TEST_ROWS(history, rows, row)
{
    const struct note gives_up[] = { at(NOTE_SESSION, 990, ALICE, 1, 0),
                                     at(NOTE_INVOKE, 995, row->lock, 1, 0),
                                     at(NOTE_FAILED, 1100, 1, 0, 0) };
    struct history *h = &truth[row->lock];
    long grants = 0;

    for (size_t i = 0; i < COUNT(row->lives) && row->lives[i].owner != 0; i++)
        PUSH(h->lives, h->count, row->lives[i]);
    for (size_t i = 0; i < COUNT(row->grants) && row->grants[i].token != 0;
         i++, grants++) {
        int64_t begin = row->grants[i].begin, end = row->grants[i].end;
        const struct note notes[] = {
            at(NOTE_SESSION, begin - 10, ALICE + row->grants[i].run, 1, 0),
            at(NOTE_INVOKE, begin - 5, row->lock, !row->grants[i].reads, 0),
            at(NOTE_GRANTED, begin, row->grants[i].token,
               (int64_t)row->grants[i].handoff, row->grants[i].valid_until),
            at(NOTE_RELEASE, end, 0, 0, 0),
            at(NOTE_RELEASED, end + 1, 0, 0, 0),
        };

        evidence_add(&evidence, row->grants[i].run, notes, COUNT(notes));
    }
    for (size_t i = 0; i < COUNT(row->excuses) && row->excuses[i].at != 0; i++)
        PUSH(evidence.excuses, evidence.excuse_count, row->excuses[i]);
    for (size_t i = 0; i < COUNT(row->faults) && row->faults[i].end != 0; i++)
        PUSH(evidence.faults, evidence.fault_count, row->faults[i]);
    if (row->gives_up)
        evidence_add(&evidence, 0, gives_up, COUNT(gives_up));
    if (row->trusts) {
        evidence.leased = false;
        evidence.truth = NULL;
    }
    assert_broken(&row->expected);
    assert_int_equal(verdict.grants, grants);
    assert_int_equal(verdict.nodes, h->count);
    assert_int_equal(verdict.handed_on, row->expected.handed_on);
    assert_int_equal(verdict.empty, row->expected.empty);
    if (row->expected.margin_ms != 0)
        assert_int_equal(verdict.margin_ms, row->expected.margin_ms);
}

/* -- what is no history of nodes */

TEST(a_store_accepts_what_is_stale)
{
    static const struct judge_access accepted[] = { { false, 10 },
                                                    { false, 20 },
                                                    { false, 10 } };

    evidence.accepted[MUTEX] = accepted;
    evidence.accepted_count[MUTEX] = 3;
    assert_broken(&(struct verdict){ BROKEN(STALE) = 1 });
}

TEST(two_write_the_same)
{
    const struct note first[] = { at(NOTE_INVOKE, 1, MUTEX, 1, 0),
                                  at(NOTE_UPDATE, 2, 7, 10, 0) };
    const struct note second[] = { at(NOTE_INVOKE, 1, MUTEX, 1, 0),
                                   at(NOTE_UPDATE, 3, 7, 20, 0) };
    const struct note other[] = { at(NOTE_INVOKE, 1, RW, 1, 0),
                                  at(NOTE_UPDATE, 3, 7, 20, 0) };

    evidence_add(&evidence, 0, first, 2);
    evidence_add(&evidence, 1, second, 2);
    evidence_add(&evidence, 2, other, 2);
    assert_broken(&(struct verdict){ .lost_updates = 1 });
}

/* The store itself */

enum { ACCESSES = 2000 };

static struct resource store;
static atomic_long last_token;

static void *access_often(void *arg)
{
    for (int i = 0; i < ACCESSES; i++)
        (void)resource_access(&store, true,
                              atomic_fetch_add(&last_token, 1) + 1, 0);
    return NULL;
}

/* The two threads of a client passed the fence in one order and came to the
 * store in the other: a lock of fcntl() is between processes only. */
TEST(threads_access_a_store_in_the_order_of_the_fence)
{
    char dir[] = "/dev/shm/zkrecipes-store-XXXXXX";
    struct guard guard;
    size_t count;

    atomic_store(&last_token, 0);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(guard_start(&guard, dir), 0);
    store = resource_open(dir, 0, true);
    pthread_t other = thread_start(access_often, NULL);
    access_often(NULL);
    thread_join(other);
    struct judge_access *all = resource_accepted(&store, &count);
    assert_true(count > 0);
    for (size_t i = 1; i < count; i++)
        assert_true(all[i - 1].token < all[i].token);
    free(all);
    resource_close(&store);
    guard_finish(&guard);
}
