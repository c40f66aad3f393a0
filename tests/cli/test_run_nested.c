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

#define AROUND 0x12

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
    const struct zkr_participant *p;
    char markers[3][16];
    char text[3][16];
    int count =
        sscanf(claim->nodes, "%15s %15s %15s", text[0], text[1], text[2]);

    for (int i = 0; i < count; i++)
        items[list.count++] = node(text[i], markers[i]);
    nested_read(&around, "0x11 0x12");
    p = nested_waits_for(&around, &list, &wanted);
    assert_int_equal(p != NULL, claim->waits);
    assert_true(p == NULL || p->session_id == AROUND);
}
