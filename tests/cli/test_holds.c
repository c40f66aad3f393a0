/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what a command and a shell know of the locks around them: the list
 * of runs and holds, and values in quotes. */

#include "common/escape.h"
#include "run/desk.h"
#include "unit.h"

static struct around around;

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

static void assert_word(char *word, const char *want)
{
    assert_string_equal(word, want);
    free(word);
}

TEST(nothing_has_a_meaning_in_quotes)
{
    assert_word(shell_quote(""), "''");
    assert_word(shell_quote("/locks/$(reboot) `x` \\ \"a\"\nb"),
                "'/locks/$(reboot) `x` \\ \"a\"\nb'");
    assert_word(shell_quote("it's"), "'it'\\''s'");
    assert_word(shell_quote("a'"), "'a'\\'''");
    assert_word(shell_path("/a\t1"), "$'/a\\0111'"); /* not \111 */
}
