/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the escaping of text of others before it reaches a terminal. */

#include "common/escape.h"
#include "unit.h"

static void is(const char *text, size_t len, const char *want)
{
    char out[256];
    size_t n = escape_text(text, len, out, sizeof(out));

    assert_string_equal(out, want);
    assert_int_equal(n, strlen(want));
}

#define IS(text, want) is(text, sizeof(text) - 1, want)

TEST(harmless_text_is_kept)
{
    IS("", "");
    IS("deploy.sh \"release 42\" ~!", "deploy.sh \"release 42\" ~!");
    IS("gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x94\x92",
       "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x94\x92");
}

TEST(control_characters_become_numbers)
{
    IS("a\nb\r\t", "a\\x0Ab\\x0D\\x09");
    IS("\x1b[2J\x1b]0;title\a", "\\x1B[2J\\x1B]0;title\\x07");
    IS("\0\x7f", "\\x00\\x7F");
    IS("\xc2\x9b", "\\xC2\\x9B"); /* CSI as one character of C1 */
}

static size_t encode(uint32_t code, char text[5])
{
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = n; i-- > 1; code >>= 6)
        text[i] = (char)(0x80 | (code & 0x3f));
    text[0] = (char)(lead[n] | code);
    text[n] = '\0';
    return n;
}

/* Of all characters these, and those that UTF-8 does not have, are escaped. */
TEST(each_character_is_harmless_or_escaped)
{
    static const uint32_t harmful[][2] = {
        { 0, 0x1f },        { 0x7f, 0x9f },
        { 0xad, 0xad },     { 0x61c, 0x61c },
        { 0x200b, 0x200f }, { 0x2028, 0x202e },
        { 0x2060, 0x206f }, { 0xd800, 0xdfff },
        { 0xfeff, 0xfeff }, { 0x110000, 0x1fffff },
    };
    size_t k = 0;

    for (uint32_t code = 0; code <= 0x110000; code++) {
        char text[5];
        char out[32];
        size_t n = encode(code, text);
        bool kept = escape_text(text, n, out, sizeof(out)) == n &&
                    memcmp(text, out, n) == 0;

        k += code > harmful[k][1];
        if (code != '\\' && kept != (code < harmful[k][0]))
            fail_msg("U+%04x: %d, %s", code, kept, out);
    }
}

TEST(bytes_that_are_not_utf8_become_numbers)
{
    is("\xe6\xbc\xa2", 2, "\\xE6\\xBC"); /* it goes on behind the end */
    IS("\xf8\x90\x80\x80", "\\xF8\\x90\\x80\\x80");
    IS("\xe0\x9f\xbf", "\\xE0\\x9F\\xBF");
    IS("\xf0\x8f\xbf\xbf", "\\xF0\\x8F\\xBF\\xBF");
    IS("\xc1\xbf", "\\xC1\\xBF");
    IS("\xff\x80z", "\\xFF\\x80z");
    IS("\xc0\xaf", "\\xC0\\xAF");                   /* not the shortest */
    IS("\xe0\x80\x8a", "\\xE0\\x80\\x8A");          /* a hidden newline */
    IS("\xed\xa0\x80", "\\xED\\xA0\\x80");          /* a surrogate */
    IS("\xf4\x90\x80\x80", "\\xF4\\x90\\x80\\x80"); /* past U+10FFFF */
    IS("\xe6\xbc", "\\xE6\\xBC");                   /* cut */
    IS("\xe6z", "\\xE6z");
}

/* Escaped, because the text "\x1B" would look like an escape otherwise. */
TEST(a_backslash_is_doubled)
{
    IS("\\x1B", "\\\\x1B");
}

TEST(too_long_a_text_ends_in_dots)
{
    char out[16];

    memset(out, 'z', sizeof(out));
    assert_int_equal(escape_text("0123456789", 10, out, 11), 10);
    assert_string_equal(out, "0123456789");
    assert_int_equal(escape_text("0123456789", 10, out, 10), 9);
    assert_string_equal(out, "012345...");
    /* A text is never cut within a character, nor within the escape of one. */
    assert_int_equal(escape_text("a\nbcdefgh", 9, out, 8), 4);
    assert_string_equal(out, "a...");
    assert_int_equal(escape_text("a\xe6\xbc\xa2zzzzz", 9, out, 7), 4);
    assert_string_equal(out, "a...");
}

TEST(no_room_is_no_overrun)
{
    char out[8];

    for (size_t size = 0; size < 6; size++) {
        memset(out, 'z', sizeof(out));
        (void)escape_text("\x1b\x1b", 2, out, size);
        assert_int_equal(out[size], 'z');
        if (size > 0)
            assert_true(strlen(out) < size);
    }
}

static void word_is(char *word, const char *want)
{
    assert_string_equal(word, want);
    free(word);
}

TEST(words_for_a_shell_are_quoted_where_they_must)
{
    word_is(shell_quote(""), "''");
    word_is(shell_quote("a'b'"), "'a'\\''b'\\'''");
    word_is(shell_path("/aZ09_-.:@,=+"), "/aZ09_-.:@,=+");
    word_is(shell_path("/a b~"), "$'/a\\040b\\176'");
    word_is(shell_path("\xc3\xbc"), "$'\\303\\274'");
    word_is(shell_path("/a\t1"), "$'/a\\0111'"); /* not \111 */
    word_is(shell_quote("/locks/$(reboot) `x` \\ \"a\"\nb"),
            "'/locks/$(reboot) `x` \\ \"a\"\nb'");
    word_is(shell_quote("it's"), "'it'\\''s'");
    word_is(shell_quote("a'"), "'a'\\'''");
}

TEST(without_utf8_only_ascii_is_kept)
{
    escape_keep_utf8(false);
    IS("~\xc3\xbc", "~\\xC3\\xBC");
    escape_keep_utf8(true);
}
