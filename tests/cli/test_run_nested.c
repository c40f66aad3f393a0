/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of runs inside runs: who would wait for itself, and what a command and
 * a shell know of the locks around them. */

#include "run/run.h"
#include "unit.h"

#define AROUND 0x12

static struct around around;

/* A claim of that kind behind these nodes. A node is a marker and its session,
 * one digit or @: AROUND. A lease with a ? behind it does not hold. */
static const struct {
    const char *name;
    enum claim_kind kind;
    bool waits;
    const char *nodes;
} claims[] = {
    { "a mutex around", CLAIM_MUTEX, true, "lock-@ lock-7" },
    { "a mutex second", CLAIM_MUTEX, true, "lock-7 lock-@" },
    { "mutexes of others", CLAIM_MUTEX, false, "lock-7 __lock__8" },
    { "a foreign node", CLAIM_MUTEX, false, "@" },
    { "a node of another recipe", CLAIM_MUTEX, false, "x-@" },
    { "nobody", CLAIM_MUTEX, false, "" },
    /* as the recipes see each other */
    { "a mutex, a writer around", CLAIM_MUTEX, false, "__WRIT__@" },
    { "a mutex, a reader around", CLAIM_MUTEX, false, "__READ__@" },
    { "a reader, a mutex around", CLAIM_READ, true, "lock-@" },
    { "a writer, a mutex around", CLAIM_WRITE, true, "lock-@" },
    { "a reader joins a reader", CLAIM_READ, false, "__READ__@" },
    { "a reader joins readers", CLAIM_READ, false, "__READ__@ __READ__7" },
    { "a reader, a writer around", CLAIM_READ, true, "__WRIT__@" },
    { "a writer, a reader around", CLAIM_WRITE, true, "__READ__@" },
    { "a writer, a writer around", CLAIM_WRITE, true, "__WRIT__@" },
    /* the claim would wait for the one between, and that for the reader */
    { "a writer between readers", CLAIM_READ, true, "__READ__@ __WRIT__7" },
    { "a mutex between", CLAIM_READ, true, "__READ__@ __READ__7 __lock__8" },
    { "a writer before readers", CLAIM_READ, false, "__WRIT__7 __READ__@" },
    { "a foreign node between", CLAIM_READ, false, "__READ__@ 7" },
    { "another recipe between", CLAIM_READ, false, "__READ__@ x-7" },
    { "a leader around", CLAIM_LEADER, true, "latch-@" },
    { "another leader", CLAIM_LEADER, false, "latch-7" },
    { "a leader, a mutex around", CLAIM_LEADER, false, "lock-@" },
    { "a mutex, a leader around", CLAIM_MUTEX, false, "latch-@" },
    /* leases of others end by themselves */
    { "all leases around", CLAIM_SEMAPHORE, true, "lease-@ lease-@" },
    { "a lease of another", CLAIM_SEMAPHORE, false, "lease-@ lease-7" },
    { "one that does not hold", CLAIM_SEMAPHORE, false, "lease-@ lease-@?" },
    { "a lease is free", CLAIM_SEMAPHORE, false, "lease-@" },
    { "a queue around", CLAIM_SEMAPHORE, false, "lock-@ lock-@" },
    { "a mutex, a lease around", CLAIM_MUTEX, false, "lease-@" },
};

/* Reads "lock-@": its marker is written to `marker`. */
static struct zkr_participant node(const char *text, char *marker)
{
    bool is_lease = strncmp(text, "lease-", 6) == 0;
    size_t length = strcspn(text, "@78");

    (void)strcpy(marker, text);
    marker[length] = '\0';
    return (struct zkr_participant){
        .name = is_lease ? "leases/lease-" : "",
        .marker = marker,
        .session_id = text[length] == '@' ? AROUND : text[length] - '0',
        .holds = is_lease && text[length + 1] != '?',
        .kind = length == 0                       ? ZKR_PARTICIPANT_FOREIGN
                : strcmp(marker, "__READ__") == 0 ? ZKR_PARTICIPANT_SHARED
                                                  : ZKR_PARTICIPANT_EXCLUSIVE,
    };
}

TEST_ROWS(a_claim_waits_for_a_run_around, claims, claim)
{
    struct wanted wanted = { .kind = claim->kind, .slots = 2 };
    struct zkr_participant items[3];
    struct zkr_participants list = { .items = items };
    char markers[3][16];
    char text[3][16];
    int count =
        sscanf(claim->nodes, "%15s %15s %15s", text[0], text[1], text[2]);

    for (int i = 0; i < count; i++)
        items[list.count++] = node(text[i], markers[i]);
    around_read(&around, "0x11 0x12-7-5");
    const struct zkr_participant *p = run_waits_for(&around, &list, &wanted);
    assert_int_equal(p != NULL, claim->waits);
    assert_true(p == NULL || p->session_id == AROUND);
}

/* --- the list of runs and holds --- */

static void assert_written(const char *want)
{
    char written[AROUND_TEXT_MAX];

    around_write(&around, written);
    assert_string_equal(written, want);
}

TEST(a_list_is_written_as_it_was_read)
{
    static const char list[] = "0x10000a1b2c30001-7d2-a 0xffffffffffffffff";

    around_read(&around, list);
    assert_written(list);
    assert_int_equal(around.count, 2);
    assert_int_equal(around.items[0].session, 0x10000a1b2c30001);
    assert_int_equal(around.items[0].pid, 2002);
    assert_int_equal(around.items[0].fd, 10);
    assert_true(around_has(&around, -1));
    assert_false(around_has(&around, 7));
    around_read(&around, NULL);
    assert_written("");
}

TEST(a_malformed_list_is_none)
{
    /* clang-format off */
    static const char *const texts[] = {
        "", " ", "0x", "0x1,0x2", "x", "0x1 0x1g", "0x0", "0x1  0x2", "17",
        "0x10000000000000000", "0x1\n0x2", "-0x1", "0x1 0x2 y", "0X1", "0x1 ",
        " 0x1", "0x1-1", "0x1-1-", "0x-1-1", "0x1-1-1-1", "0x1-g-1", "0x1-0-1",
        "0x1--1-1", "0x1-1-01", "0x1-1-1 none", "0x1-123456789-1",
    };
    /* clang-format on */

    for (size_t i = 0; i < COUNT(texts); i++) {
        around_read(&around, texts[i]);
        if (around.count != 0)
            fail_msg("'%s' was read", texts[i]);
    }
}

/* A shell keeps the variables of a lock that it has released. */
TEST(one_that_is_over_is_removed)
{
    around_read(&around, "0x1 0x2-2-2 0x3");
    around_remove(&around, 1);
    around_remove(&around, 1);
    around_add(&around, (struct around_item){ 7, 7, 7 });
    assert_written("0x1 0x7-7-7");
}

/* A run that nests deeper forgets the outermost run, and no other. */
TEST(of_many_the_last_are_kept)
{
    char written[AROUND_TEXT_MAX] = "";

    for (int64_t i = 1; i <= 3 * AROUND_MAX; i++) {
        around_read(&around, written);
        around_add(&around, (struct around_item){ -i, UINT32_MAX, UINT32_MAX });
        around_write(&around, written);
    }
    assert_int_equal(around.count, AROUND_MAX);
    assert_int_equal(around.items[AROUND_MAX - 1].session, -3 * AROUND_MAX);
    assert_int_equal(around.items[0].session, -2 * AROUND_MAX - 1);
}
