/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what hold leaves in a shell: the list of holds, and values in
 * quotes. */

#include "common/shell.h"
#include "run/shell_holds.h"
#include "texts.h"
#include "unit.h"

static struct holds holds;

TEST(a_list_is_written_as_it_was_read)
{
    static const char text[] = "0x10000a1b2c30001-7d2-5-0 "
                               "0xffffffffffffffff-1-a-1ab";
    static const struct hold seven = { 7, 7, 7, 7 };
    char written[HOLDS_TEXT_MAX];

    holds_read(&holds, text);
    assert_int_equal(holds.count, 2);
    assert_int_equal(holds.items[0].session, 0x10000a1b2c30001);
    assert_int_equal(holds.items[0].pid, 2002);
    assert_int_equal(holds.items[1].fd, 10);
    holds_write(&holds, written);
    assert_string_equal(written, text);
    assert_true(holds_have(&holds, &holds.items[1]));
    holds_remove(&holds, 0);
    assert_false(holds_have(&holds, &seven));
    holds_add(&holds, &seven);
    holds_write(&holds, written);
    assert_string_equal(written, "0xffffffffffffffff-1-a-1ab 0x7-7-7-7");
    holds_read(&holds, NULL);
    holds_write(&holds, written);
    assert_string_equal(written, "");
}

TEST(a_malformed_list_is_none)
{
    static const char *const texts[] = {
        "",
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
        "0x1-1-1-111111111111111111111111111111111111111111111111111111111",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        holds_read(&holds, texts[i]);
        if (holds.count != 0)
            fail_msg("'%s' was read", texts[i]);
    }
}

TEST(of_many_the_newest_are_kept)
{
    char written[HOLDS_TEXT_MAX];

    holds_read(&holds, NULL);
    for (uint32_t i = 1; i <= HOLDS_MAX + 3; i++) {
        const struct hold hold = { UINT64_MAX - i, UINT32_MAX, UINT32_MAX,
                                   UINT64_MAX };

        holds_add(&holds, &hold);
    }
    assert_int_equal(holds.count, HOLDS_MAX);
    assert_int_equal(holds.items[0].session, UINT64_MAX - 4);
    holds_write(&holds, written);
    holds_read(&holds, written);
    assert_int_equal(holds.count, HOLDS_MAX);
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
