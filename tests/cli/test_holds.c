/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what a command and a shell know of the locks around them: lists of
 * sessions and holds, and values in quotes. */

#include "common/shell.h"
#include "run/ids.h"
#include "texts.h"
#include "unit.h"

static struct ids ids;

#define SESSIONS "0x10000a1b2c30001 0xffffffffffffffff"
#define HOLDS                                                                  \
    "0x10000a1b2c30001-7d2-5-0 "                                               \
    "0xffffffffffffffff-1-a-1ab"

static void assert_written(const char *want)
{
    char written[IDS_TEXT_MAX];

    ids_write(&ids, written);
    assert_string_equal(written, want);
}

TEST(a_list_is_written_as_it_was_read)
{
    struct hold hold;

    ids_read(&ids, SESSIONS, id_is_session);
    assert_written(SESSIONS);
    assert_int_equal(ids.count, 2);
    assert_int_equal(id_session(ids.items[0]), 0x10000a1b2c30001);
    assert_int_equal(ids_last_session(&ids), -1);
    ids_read(&ids, HOLDS, id_is_hold);
    assert_written(HOLDS);
    assert_true(hold_read(&hold, ids.items[0]));
    assert_int_equal(hold.session, 0x10000a1b2c30001);
    assert_int_equal(hold.pid, 2002);
    assert_true(hold_read(&hold, ids.items[1]));
    assert_int_equal(hold.fd, 10);
    assert_true(ids_have(&ids, "0xffffffffffffffff-1-a-1ab"));
    assert_false(ids_have(&ids, "0x7-7-7-7"));
    ids_read(&ids, NULL, id_is_hold);
    assert_written("");
    assert_int_equal(ids_last_session(&ids), 0);
}

static const struct {
    const char *name;
    bool (*is_id)(const char *id);
    const char *texts[20];
} malformed[] = {
    { "sessions",
      id_is_session,
      { "", " ", "0x", "0x1,0x2", "x", "0x1 0x1g", "0x0", "0x1  0x2", "17",
        "0x10000000000000000", "0x1\n0x2", "-0x1", "0x1 0x2 y", "0X1",
        "0x1-1-1-1" } },
    { "holds",
      id_is_hold,
      { "",
        " ",
        "0x1",
        "0x1-1-1",
        "0x1-1-1-",
        "0x-1-1-1",
        "1-1-1-1",
        "0x1-1-1-1,",
        "0x1-1-1-1  ",
        " 0x1-1-1-1",
        "0x1-g-1-1",
        "0x1-1-1-1-1",
        "0x1\n-1-1-1",
        "0X1-1-1-1",
        "0x1--1-1-1",
        "0x1-1-1-01",
        "0x1-1-1-1 none",
        "0x12345678901234567-1-1-1",
        "0x1-123456789-1-1",
        "0x1-1-1-111111111111111111111111111111111111111111111111111111111" } },
};

TEST_ROWS(a_malformed_list_is_none, malformed, row)
{
    for (size_t i = 0; i < COUNT(row->texts); i++) {
        ids_read(&ids, row->texts[i], row->is_id);
        if (ids.count != 0)
            fail_msg("'%s' was read", row->texts[i]);
    }
}

/* A shell keeps the variables of a lock that it has released. */
TEST(one_that_is_over_is_removed)
{
    ids_read(&ids, "0x1 0x2 0x1 0x3", id_is_session);
    ids_remove(&ids, 1);
    assert_written("0x2 0x3");
    ids_remove(&ids, 1);
    ids_remove(&ids, 3);
    assert_written("0x2");
    ids_read(&ids, "0x1-1-1-1 0x2-2-2-2", id_is_hold);
    ids_remove(&ids, 1);
    ids_add(&ids, "0x7-7-7-7");
    assert_written("0x2-2-2-2 0x7-7-7-7");
}

/* A run that nests deeper forgets the outermost run, and no other. */
TEST(of_many_the_last_are_kept)
{
    char written[IDS_TEXT_MAX] = "";

    for (uint32_t i = 1; i <= 3 * IDS_MAX; i++) {
        const struct hold hold = { -(int64_t)i, UINT32_MAX, UINT32_MAX,
                                   UINT64_MAX };
        char id[ID_MAX];

        hold_write(&hold, id);
        ids_read(&ids, written, id_is_hold);
        ids_add(&ids, id);
        ids_write(&ids, written);
    }
    assert_int_equal(ids.count, IDS_MAX);
    assert_int_equal(ids_last_session(&ids), -3 * IDS_MAX);
    assert_int_equal(id_session(ids.items[0]), -2 * IDS_MAX - 1);
}

static void assert_quoted(const char *text, const char *want)
{
    char *word = shell_quote(text);

    assert_string_equal(word, want);
    free(word);
}

TEST(nothing_has_a_meaning_in_quotes)
{
    assert_quoted("", "''");
    assert_quoted("/locks/$(reboot) `x` \\ \"a\"\nb",
                  "'/locks/$(reboot) `x` \\ \"a\"\nb'");
    assert_quoted("it's", "'it'\\''s'");
    assert_quoted("a'", "'a'\\'''");
}
