/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of runs inside runs: whose they are, and who would wait for itself. */

#include "run/nested.h"
#include "texts.h"
#include "unit.h"

static struct nested around;

TEST(a_list_of_sessions_is_read)
{
    nested_read(&around, "0x10000a1b2c30001 0xffffffffffffffff");
    assert_int_equal(around.count, 2);
    assert_int_equal(around.sessions[0], 0x10000a1b2c30001);
    assert_int_equal(nested_innermost(&around), -1);
}

TEST(a_malformed_list_is_none)
{
    static const char *const texts[] = {
        "",         " ",    "0x",        "0x1,0x2", "x",
        "0x1 0x1g", "0x0",  "0x1  0x2",  "17",      "0x10000000000000000",
        "0x1\n0x2", "-0x1", "0x1 0x2 y", "0X1",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        nested_read(&around, texts[i]);
        if (around.count != 0)
            fail_msg("'%s' was read", texts[i]);
        assert_int_equal(nested_innermost(&around), 0);
    }
    nested_read(&around, NULL);
    assert_int_equal(around.count, 0);
}

TEST(a_written_text_is_read)
{
    char text[NESTED_TEXT_MAX];

    nested_read(&around, NULL);
    nested_write(&around, 0x12, text);
    assert_string_equal(text, "0x12");
    nested_read(&around, text);
    nested_write(&around, INT64_MIN, text);
    assert_string_equal(text, "0x12 0x8000000000000000");
    nested_read(&around, text);
    assert_int_equal(around.count, 2);
    assert_int_equal(nested_innermost(&around), INT64_MIN);
}

/* A shell keeps the variables of a lock that it has released. */
TEST(one_that_is_over_is_removed)
{
    nested_read(&around, "0x1 0x2 0x1 0x3");
    nested_remove(&around, 1);
    assert_int_equal(around.count, 2);
    assert_int_equal(around.sessions[0], 2);
    assert_int_equal(around.sessions[1], 3);
    nested_remove(&around, 1);
    assert_int_equal(nested_innermost(&around), 3);
    nested_remove(&around, 3);
    assert_int_equal(around.count, 1);
    assert_int_equal(nested_innermost(&around), 2);
}

/* A run that nests deeper forgets the outermost run, and no other. */
TEST(of_many_the_innermost_are_kept)
{
    char text[NESTED_TEXT_MAX] = "";

    for (int i = 1; i <= 3 * NESTED_MAX; i++) {
        nested_read(&around, text);
        nested_write(&around, -i, text);
    }
    nested_read(&around, text);
    assert_int_equal(around.count, NESTED_MAX);
    assert_int_equal(nested_innermost(&around), -3 * NESTED_MAX);
    assert_int_equal(around.sessions[0], -2 * NESTED_MAX - 1);
}

static struct zkr_participant node(const char *marker, int64_t session)
{
    bool shared =
        strcmp(marker, "__READ__") == 0 || strcmp(marker, "__rlock__") == 0;

    return (struct zkr_participant){
        .name = "",
        .marker = marker,
        .session_id = session,
        .kind = marker[0] == '\0' ? ZKR_PARTICIPANT_FOREIGN
                : shared          ? ZKR_PARTICIPANT_SHARED
                                  : ZKR_PARTICIPANT_EXCLUSIVE,
    };
}

#define AROUND 0x12

/* Tells whether a claim of that kind behind these would wait for AROUND. */
static bool waits(enum claim_kind kind, const struct zkr_participant *items,
                  size_t count)
{
    static struct wanted wanted = { .slots = 2 };
    struct zkr_participants list = { .items = items, .count = count };
    const struct zkr_participant *p;

    wanted.kind = kind;
    nested_read(&around, "0x11 0x12");
    p = nested_waits_for(&around, &list, &wanted);
    assert_true(p == NULL || p->session_id == AROUND);
    return p != NULL;
}

#define WAITS(kind, ...)                                                       \
    waits(kind, (struct zkr_participant[]){ __VA_ARGS__ },                     \
          COUNT(((struct zkr_participant[]){ __VA_ARGS__ })))

TEST(a_mutex_that_is_held_around_is_waited_for)
{
    assert_true(WAITS(CLAIM_MUTEX, node("lock-", AROUND), node("lock-", 7)));
    assert_true(WAITS(CLAIM_MUTEX, node("lock-", 7), node("lock-", AROUND)));
    assert_false(WAITS(CLAIM_MUTEX, node("lock-", 7), node("__lock__", 8)));
    assert_false(WAITS(CLAIM_MUTEX, node("", AROUND)));
    assert_false(WAITS(CLAIM_MUTEX, node("x-", AROUND)));
    assert_false(waits(CLAIM_MUTEX, NULL, 0));
}

/* As the recipes see each other. */
TEST(a_mutex_and_a_read_write_lock)
{
    assert_false(WAITS(CLAIM_MUTEX, node("__WRIT__", AROUND)));
    assert_false(WAITS(CLAIM_MUTEX, node("__READ__", AROUND)));
    assert_true(WAITS(CLAIM_READ, node("lock-", AROUND)));
    assert_true(WAITS(CLAIM_WRITE, node("lock-", AROUND)));
}

TEST(a_reader_joins_a_reader_around)
{
    assert_false(WAITS(CLAIM_READ, node("__READ__", AROUND)));
    assert_false(
        WAITS(CLAIM_READ, node("__READ__", AROUND), node("__READ__", 7)));
    assert_true(WAITS(CLAIM_READ, node("__WRIT__", AROUND)));
    assert_true(WAITS(CLAIM_WRITE, node("__READ__", AROUND)));
    assert_true(WAITS(CLAIM_WRITE, node("__WRIT__", AROUND)));
}

/* The claim would wait for the writer, and the writer for the reader around
 * it. */
TEST(a_writer_in_between_keeps_a_reader_out)
{
    assert_true(
        WAITS(CLAIM_READ, node("__READ__", AROUND), node("__WRIT__", 7)));
    assert_true(WAITS(CLAIM_READ, node("__READ__", AROUND), node("__READ__", 7),
                      node("__lock__", 8)));
    assert_false(
        WAITS(CLAIM_READ, node("__WRIT__", 7), node("__READ__", AROUND)));
    assert_false(WAITS(CLAIM_READ, node("__READ__", AROUND), node("", 7)));
    assert_false(WAITS(CLAIM_READ, node("__READ__", AROUND), node("x-", 7)));
}

TEST(a_leader_around_is_waited_for)
{
    assert_true(WAITS(CLAIM_LEADER, node("latch-", AROUND)));
    assert_false(WAITS(CLAIM_LEADER, node("latch-", 7)));
    assert_false(WAITS(CLAIM_LEADER, node("lock-", AROUND)));
    assert_false(WAITS(CLAIM_MUTEX, node("latch-", AROUND)));
}

static struct zkr_participant lease(int64_t session, bool holds)
{
    struct zkr_participant p = node("lease-", session);

    p.name = "leases/lease-";
    p.holds = holds;
    return p;
}

/* Leases of others end by themselves. */
TEST(a_semaphore_is_waited_for_when_all_leases_are_around)
{
    assert_true(
        WAITS(CLAIM_SEMAPHORE, lease(AROUND, true), lease(AROUND, true)));
    assert_false(WAITS(CLAIM_SEMAPHORE, lease(AROUND, true), lease(7, true)));
    assert_false(
        WAITS(CLAIM_SEMAPHORE, lease(AROUND, true), lease(AROUND, false)));
    assert_false(WAITS(CLAIM_SEMAPHORE, lease(AROUND, true)));
    assert_false(
        WAITS(CLAIM_SEMAPHORE, node("lock-", AROUND), node("lock-", AROUND)));
    assert_false(WAITS(CLAIM_MUTEX, lease(AROUND, true)));
}
