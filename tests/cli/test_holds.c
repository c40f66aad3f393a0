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
    static const char text[] = "0x10000a1b2c30001-0 0xffffffffffffffff-01ab";
    char written[HOLDS_TEXT_MAX];

    holds_read(&holds, text);
    assert_int_equal(holds.count, 2);
    assert_int_equal(hold_session(holds.ids[0]), 0x10000a1b2c30001);
    holds_write(&holds, written);
    assert_string_equal(written, text);
    holds_remove(&holds, 0);
    holds_add(&holds, "0x7-7");
    holds_write(&holds, written);
    assert_string_equal(written, "0xffffffffffffffff-01ab 0x7-7");
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
        "0x1-",
        "0x-1",
        "1-1",
        "0x1-1,",
        "0x1-1  ",
        " 0x1-1",
        "0x1-g",
        "0x1-1-1",
        "0x1\n-1",
        "0X1-1",
        "0x1-1 none",
        "0x12345678901234567-1",
        "0x1-1111111111111111111111111111111111111111111111111111111111",
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
    char id[HOLD_ID_MAX + 1];

    holds_read(&holds, NULL);
    for (int i = 1; i <= HOLDS_MAX + 3; i++) {
        PRINT(id, "0x%016x-%016x", i, i);
        holds_add(&holds, id);
    }
    assert_int_equal(holds.count, HOLDS_MAX);
    assert_int_equal(hold_session(holds.ids[0]), 4);
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
