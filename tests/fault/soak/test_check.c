/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the judgement of a soak, with hand-made histories that each break a
 * rule. */
#include <stdatomic.h>

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

/* A node of `lock`; INT64_MAX: it stays. */
static void add_life(int lock, const char *name, int64_t owner, int64_t token,
                     int64_t begin_ms, int64_t end_ms)
{
    struct history *h = &truth[lock];
    struct life life = { .owner = owner,
                         .begin = token,
                         .end = end_ms == INT64_MAX ? INT64_MAX : token + 1,
                         .begin_ms = begin_ms,
                         .end_ms = end_ms };

    (void)snprintf(life.name, sizeof(life.name), "%s", name);
    PUSH(h->lives, h->count, life);
}

/* One run of a client, with one grant from `begin` to `end`. */
static void add_grant(int run, int lock, bool writes, int64_t token,
                      int64_t begin, int64_t end, int64_t valid_until)
{
    const struct note notes[] = {
        at(NOTE_SESSION, begin - 10, ALICE + run, 1, 0),
        at(NOTE_INVOKE, begin - 5, lock, writes, 0),
        at(NOTE_GRANTED, begin, token, 0, valid_until),
        at(NOTE_RELEASE, end, 0, 0, 0),
        at(NOTE_RELEASED, end + 1, 0, 0, 0),
    };

    evidence_add(&evidence, run, notes, COUNT(notes));
}

/* Handed on, by the thread that is that run. */
static void add_handoff(int run, int64_t token, uint64_t handoff, int64_t begin,
                        int64_t end)
{
    const struct note notes[] = {
        at(NOTE_INVOKE, begin - 5, STAYS, 1, 0),
        at(NOTE_GRANTED, begin, token, (int64_t)handoff, LEASE_MS),
        at(NOTE_RELEASE, end, 0, 0, 0),
    };

    evidence_add(&evidence, run, notes, COUNT(notes));
}

#define EXCUSE(...)                                                            \
    PUSH(evidence.excuses, evidence.excuse_count,                              \
         (struct excuse){ __VA_ARGS__ })

/* Everything but what is expected to be broken. */
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

#define BREAKS(...) assert_broken(&(struct verdict){ __VA_ARGS__ })

TEST(turns_are_good)
{
    add_life(MUTEX, "lock-1", ALICE, 10, 995, 1101);
    add_life(MUTEX, "lock-2", BOB, 20, 1000, 1201);
    add_grant(0, MUTEX, true, 10, 1000, 1100, LEASE_MS);
    add_grant(1, MUTEX, true, 20, 1102, 1200, LEASE_MS);
    BREAKS(0);
    assert_int_equal(verdict.grants, 2);
    assert_int_equal(verdict.nodes, 2);
}

TEST(readers_share)
{
    add_life(RW, "__READ__1", ALICE, 10, 995, 1200);
    add_life(RW, "__READ__2", BOB, 20, 995, 1101);
    add_grant(0, RW, false, 10, 1000, 1200, LEASE_MS);
    add_grant(1, RW, false, 20, 1001, 1100, LEASE_MS);
    BREAKS(0);
}

/* Both say that they have it; the server ended the first node in between. */
TEST(claims_overlap)
{
    add_life(MUTEX, "lock-1", ALICE, 10, 995, 1101);
    add_life(MUTEX, "lock-2", BOB, 20, 1000, 1201);
    add_grant(0, MUTEX, true, 10, 1000, 1150, LEASE_MS);
    add_grant(1, MUTEX, true, 20, 1110, 1200, LEASE_MS);
    BREAKS(BROKEN(OVERLAP) = 1, BROKEN(LATE) = 1);
}

TEST(a_writer_overlaps_a_reader)
{
    add_life(RW, "__READ__1", ALICE, 10, 995, 1101);
    add_life(RW, "__WRIT__2", BOB, 20, 1000, 1201);
    add_grant(0, RW, false, 10, 1000, 1150, LEASE_MS);
    add_grant(1, RW, true, 20, 1110, 1200, LEASE_MS);
    BREAKS(BROKEN(OVERLAP) = 1, BROKEN(LATE) = 1);
}

/* Alice sleeps through the end of her session; her lease ended before. */
TEST(a_claim_ends_with_its_lease)
{
    add_life(MUTEX, "lock-1", ALICE, 10, 995, 1101);
    truth[MUTEX].lives[0].by_session = true;
    add_life(MUTEX, "lock-2", BOB, 20, 1000, 1201);
    add_grant(0, MUTEX, true, 10, 1000, 1300, 1090);
    add_grant(1, MUTEX, true, 20, 1102, 1200, LEASE_MS);
    BREAKS(0);
    assert_int_equal(verdict.margin_ms, 10);
}

TEST(without_a_lease_it_does_not)
{
    evidence.leased = false;
    evidence.truth = NULL;
    add_grant(0, MUTEX, true, 10, 1000, 1300, 0);
    add_grant(1, MUTEX, true, 20, 1102, 1200, 0);
    BREAKS(BROKEN(OVERLAP) = 1);
}

/* Nobody else was granted it, so only the log tells. */
TEST(a_lease_outlives_its_node)
{
    add_life(MUTEX, "lock-1", ALICE, 10, 995, 1101);
    add_grant(0, MUTEX, true, 10, 1000, 1300, 1110);
    BREAKS(BROKEN(LATE) = 1);
}

TEST(an_end_by_an_operator_is_excused)
{
    add_life(MUTEX, "lock-1", ALICE, 10, 995, 1101);
    add_life(MUTEX, "lock-2", BOB, 20, 1000, 1201);
    add_life(MUTEX, "lock-3", ALICE, 30, 1202, 1301);
    add_grant(0, MUTEX, true, 10, 1000, 1150, LEASE_MS);
    add_grant(1, MUTEX, true, 20, 1110, 1250, LEASE_MS);
    add_grant(0, MUTEX, true, 30, 1210, 1350, LEASE_MS);
    EXCUSE(.at = 1100 * MS, .token = 10, .lock = -1);
    EXCUSE(.at = 1200 * MS, .session = BOB, .lock = -1);
    EXCUSE(.at = 1300 * MS, .lock = MUTEX, .until = 1310 * MS);
    BREAKS(0);
}

/* It would excuse nobody else. */
TEST(an_excuse_is_for_one)
{
    add_life(MUTEX, "lock-1", ALICE, 10, 995, 1101);
    add_grant(0, MUTEX, true, 10, 1000, 1150, LEASE_MS);
    EXCUSE(.at = 1050 * MS, .session = BOB, .token = 20, .lock = RW,
           .until = 2000 * MS);
    BREAKS(BROKEN(LATE) = 1);
}

TEST(a_token_goes_back)
{
    add_life(MUTEX, "lock-2", BOB, 10, 900, 1201);
    add_life(MUTEX, "lock-1", ALICE, 20, 995, 1101);
    add_grant(0, MUTEX, true, 20, 1000, 1100, LEASE_MS);
    add_grant(1, MUTEX, true, 10, 1102, 1200, LEASE_MS);
    BREAKS(BROKEN(DISORDER) = 1, BROKEN(EARLY) = 1, BROKEN(PASSED) = 1);
}

TEST(a_token_comes_twice)
{
    add_life(MUTEX, "lock-1", ALICE, 10, 995, 1201);
    add_grant(0, MUTEX, true, 10, 1000, 1100, LEASE_MS);
    add_grant(1, MUTEX, true, 10, 1102, 1200, LEASE_MS);
    BREAKS(BROKEN(DISORDER) = 1, BROKEN(TWICE) = 1);
}

TEST(nobody_knows_the_token)
{
    add_grant(0, MUTEX, true, 10, 1000, 1100, LEASE_MS);
    BREAKS(BROKEN(UNKNOWN) = 1);
}

/* The first never claimed anything, and was still there. */
TEST(one_ahead_is_passed)
{
    add_life(MUTEX, "lock-1", ALICE, 10, 995, 1150);
    add_life(MUTEX, "lock-2", BOB, 20, 1000, 1201);
    add_grant(1, MUTEX, true, 20, 1102, 1200, LEASE_MS);
    BREAKS(BROKEN(EARLY) = 1);
}

TEST(a_reader_passes_readers)
{
    add_life(RW, "__READ__1", ALICE, 10, 995, 1150);
    add_life(RW, "__READ__2", BOB, 20, 1000, 1201);
    add_grant(1, RW, false, 20, 1102, 1200, LEASE_MS);
    BREAKS(0);
}

TEST(a_store_accepts_what_is_stale)
{
    static const struct access accepted[] = { { 10, 1 }, { 20, 1 }, { 10, 1 } };

    evidence.accepted[MUTEX] = accepted;
    evidence.accepted_count[MUTEX] = 3;
    BREAKS(BROKEN(STALE) = 1);
}

/* An older reader is stale only behind a writer. */
TEST(readers_come_in_any_order)
{
    static const struct access accepted[] = { { 10, 1 }, { 30, 0 }, { 20, 0 } };

    evidence.accepted[RW] = accepted;
    evidence.accepted_count[RW] = 3;
    BREAKS(0);
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
    BREAKS(.lost_updates = 1);
}

TEST(a_node_is_handed_on)
{
    add_life(STAYS, "lock-1", ALICE, 10, 995, 1401);
    add_life(STAYS, "lock-2", BOB, 20, 1000, 1501);
    add_grant(0, STAYS, true, 10, 1000, 1100, LEASE_MS);
    add_handoff(2, 10, 1, 1101, 1200);
    add_handoff(0, 10, 2, 1200, 1300);
    add_grant(1, STAYS, true, 20, 1402, 1500, LEASE_MS);
    BREAKS(0);
    assert_int_equal(verdict.handed_on, 2);
}

TEST(two_threads_have_one_node)
{
    add_life(STAYS, "lock-1", ALICE, 10, 995, 1201);
    add_grant(0, STAYS, true, 10, 1000, 1100, LEASE_MS);
    add_handoff(2, 10, 1, 1099, 1200);
    add_handoff(0, 10, 1, 1200, 1200);
    BREAKS(BROKEN(OVERLAP) = 1);
    assert_int_equal(verdict.empty, 1);
    add_handoff(0, 10, 1, 1200, 1201);
    BREAKS(BROKEN(OVERLAP) = 1, BROKEN(DISORDER) = 1, BROKEN(TWICE) = 1);
}

/* Time begins when the last of its grants is over, and the lock has stayed. */
TEST(a_node_that_stays_is_an_orphan)
{
    add_life(STAYS, "lock-1", ALICE, 10, 995,
             1300 + RETAIN_MS + 2 * SESSION_MS - 10);
    add_grant(0, STAYS, true, 10, 1000, 1100, LEASE_MS);
    add_handoff(2, 10, 1, 1200, 1300);
    BREAKS(0);
    truth[STAYS].lives[0].end_ms += 20;
    BREAKS(.orphans = 1);
}

/* The client does not know yet that its node has gone with the directory. */
TEST(an_excuse_is_for_the_node_that_stays)
{
    add_life(STAYS, "lock-1", ALICE, 10, 995, 1110);
    add_life(STAYS, "lock-2", BOB, 20, 1120, 1201);
    add_grant(0, STAYS, true, 10, 1000, 1100, LEASE_MS);
    add_handoff(2, 10, 1, 1120, 1150);
    add_grant(1, STAYS, true, 20, 1130, 1200, LEASE_MS);
    EXCUSE(.at = 1105 * MS, .lock = STAYS, .until = 1111 * MS);
    BREAKS(0);
}

/* Given up at 1100, and gone after that many ms. */
static void give_up(int64_t gone_after)
{
    const struct note notes[] = { at(NOTE_SESSION, 990, ALICE, 1, 0),
                                  at(NOTE_INVOKE, 995, MUTEX, 1, 0),
                                  at(NOTE_FAILED, 1100, 1, 0, 0) };

    evidence_add(&evidence, 0, notes, 3);
    add_life(MUTEX, "lock-1", ALICE, 10, 996,
             gone_after == INT64_MAX ? INT64_MAX : 1100 + gone_after);
}

TEST(a_node_is_an_orphan)
{
    give_up(2 * SESSION_MS + 10);
    BREAKS(.orphans = 1);
}

TEST(a_node_goes_in_time)
{
    give_up(2 * SESSION_MS - 10);
    BREAKS(0);
}

/* Time begins when the last fault has healed. */
TEST(a_fault_delays_what_is_due)
{
    PUSH(evidence.faults, evidence.fault_count,
         (struct window){ 1000 * MS, 2000 * MS, false });
    PUSH(evidence.faults, evidence.fault_count,
         (struct window){ 3000 * MS, 9000 * MS, false });
    give_up(9000 - 1100 + 2 * SESSION_MS - 10);
    BREAKS(0);
    truth[MUTEX].lives[0].end_ms += 20;
    BREAKS(.orphans = 1);
}

TEST(a_node_is_left)
{
    give_up(INT64_MAX);
    BREAKS(.orphans = 1, BROKEN(LEFT) = 1);
}

/* A grant that was reported after its lease was over claims nothing. */
TEST(a_grant_comes_too_late)
{
    add_life(MUTEX, "lock-1", ALICE, 10, 995, 1101);
    add_life(MUTEX, "lock-2", BOB, 20, 1000, 1500);
    add_grant(0, MUTEX, true, 10, 1200, 1300, 1090);
    add_grant(1, MUTEX, true, 20, 1102, 1250, LEASE_MS);
    BREAKS(0);
    assert_int_equal(verdict.empty, 1);
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
    assert_true(resource_create(dir, 0));
    assert_true(resource_open(&store, dir, 0, true));
    pthread_t other = thread_start(access_often, NULL);
    access_often(NULL);
    thread_join(other);
    struct access *all = resource_accepted(&store, &count);
    assert_true(count > 0);
    for (size_t i = 1; i < count; i++)
        assert_true(all[i - 1].token < all[i].token);
    free(all);
    resource_close(&store);
    guard_finish(&guard);
}
