/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of paths, and of text that is shown to people. */
#include "base/path.h"
#include "scope.h"
#include "unit.h"

#define NOT_UTF8 "is not valid UTF-8"
#define CONTROL  "contains a control character"
#define REFUSED  "contains a character that ZooKeeper refuses"

struct row {
    const char *input;
    const char *fault; /* NULL when there is none */
};

/* The input goes to the heap, in a block of exactly its size, so that a read
 * after its end is detected. */
static void assert_faults(const char *(*fault_of)(const char *),
                          const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        AUTO(text) input = strdup(rows[i].input);

        assert_non_null(input);
        const char *fault = fault_of(input);
        if (fault == NULL
                ? rows[i].fault != NULL
                : rows[i].fault == NULL || strcmp(fault, rows[i].fault) != 0)
            fail_msg("row %zu, '%s': '%s', not '%s'", i, input,
                     fault == NULL ? "no fault" : fault,
                     rows[i].fault == NULL ? "no fault" : rows[i].fault);
    }
}

/* Encodes it as UTF-8 would be, surrogates too. */
static void encode(uint32_t c, char text[5])
{
    size_t len = 0;

    if (c < 0x80) {
        text[len++] = (char)c;
    } else if (c < 0x800) {
        text[len++] = (char)(0xc0 | c >> 6);
        text[len++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        text[len++] = (char)(0xe0 | c >> 12);
        text[len++] = (char)(0x80 | (c >> 6 & 0x3f));
        text[len++] = (char)(0x80 | (c & 0x3f));
    } else {
        text[len++] = (char)(0xf0 | c >> 18);
        text[len++] = (char)(0x80 | (c >> 12 & 0x3f));
        text[len++] = (char)(0x80 | (c >> 6 & 0x3f));
        text[len++] = (char)(0x80 | (c & 0x3f));
    }
    text[len] = '\0';
}

TEST(text_that_people_read_is_text)
{
    static const struct row rows[] = {
        { "", NULL },
        { "nightly report, shard 3/8", NULL },
        { "gr\xc3\xbc\xc3\x9f-e \xe2\x82\xac \xe6\x97\xa5\xe6\x9c\xac", NULL },
        { "\xf0\x9f\x98\x80", NULL },
    };

    assert_faults(zkr__text_fault, rows, COUNT(rows));
}

TEST(first_and_last_of_each_length_are_text)
{
    static const struct row rows[] = {
        { "\x20", NULL },             /* U+0020 */
        { "\x7e", NULL },             /* U+007E */
        { "\xc2\xa0", NULL },         /* U+00A0 */
        { "\xdf\xbf", NULL },         /* U+07FF */
        { "\xe0\xa0\x80", NULL },     /* U+0800 */
        { "\xed\x9f\xbf", NULL },     /* U+D7FF */
        { "\xef\xa4\x80", NULL },     /* U+F900 */
        { "\xef\xbf\xaf", NULL },     /* U+FFEF */
        { "\xf0\x90\x80\x80", NULL }, /* U+10000 */
        { "\xf4\x8f\xbf\xbf", NULL }, /* U+10FFFF */
    };

    assert_faults(zkr__text_fault, rows, COUNT(rows));
}

TEST(overlong_forms_are_not_utf8)
{
    static const struct row rows[] = {
        { "\xc0\x80", NOT_UTF8 },         { "\xc0\xaf", NOT_UTF8 },
        { "\xc1\xbf", NOT_UTF8 },         { "\xe0\x80\xaf", NOT_UTF8 },
        { "\xe0\x9f\xbf", NOT_UTF8 },     { "\xf0\x80\x80\xaf", NOT_UTF8 },
        { "\xf0\x8f\xbf\xbf", NOT_UTF8 },
    };

    assert_faults(zkr__text_fault, rows, COUNT(rows));
}

TEST(surrogates_are_not_utf8)
{
    static const struct row rows[] = {
        { "\xed\xa0\x80", NOT_UTF8 },
        { "\xed\xaf\xbf", NOT_UTF8 },
        { "\xed\xb0\x80", NOT_UTF8 },
        { "\xed\xbf\xbf", NOT_UTF8 },
        { "\xed\xa0\xbd\xed\xb8\x80", NOT_UTF8 },
    };

    assert_faults(zkr__text_fault, rows, COUNT(rows));
}

TEST(nothing_is_behind_10ffff)
{
    static const struct row rows[] = {
        { "\xf4\x90\x80\x80", NOT_UTF8 },
        { "\xf5\x80\x80\x80", NOT_UTF8 },
        { "\xf7\xbf\xbf\xbf", NOT_UTF8 },
        { "\xf8\x88\x80\x80\x80", NOT_UTF8 },
        { "\xfc\x84\x80\x80\x80\x80", NOT_UTF8 },
        { "\xfe", NOT_UTF8 },
        { "\xff", NOT_UTF8 },
    };

    assert_faults(zkr__text_fault, rows, COUNT(rows));
}

TEST(truncated_characters_are_not_utf8)
{
    static const struct row rows[] = {
        { "\xc3", NOT_UTF8 },         { "a\xc3", NOT_UTF8 },
        { "\xe2\x82", NOT_UTF8 },     { "\xe2", NOT_UTF8 },
        { "\xf0\x9f\x98", NOT_UTF8 }, { "\xf0\x9f", NOT_UTF8 },
        { "\xf0", NOT_UTF8 },         { "\xe2\x82/", NOT_UTF8 },
        { "\xc3(", NOT_UTF8 },        { "\xf0\x9f\x98z", NOT_UTF8 },
        { "\x80", NOT_UTF8 },         { "\xbf\xbf", NOT_UTF8 },
        { "\xc3\xc3", NOT_UTF8 },     { "\xc3\xa9\xa9", NOT_UTF8 },
    };

    assert_faults(zkr__text_fault, rows, COUNT(rows));
}

TEST(control_characters_are_refused)
{
    static const struct row rows[] = {
        { "\x01", CONTROL },     { "a\tb", CONTROL },     { "a\n", CONTROL },
        { "\x1b[31m", CONTROL }, { "\x1f", CONTROL },     { "\x7f", CONTROL },
        { "\xc2\x80", CONTROL }, { "\xc2\x9f", CONTROL },
    };

    assert_faults(zkr__text_fault, rows, COUNT(rows));
}

TEST(private_use_and_specials_are_refused)
{
    static const struct row rows[] = {
        { "\xee\x80\x80", REFUSED }, /* U+E000 */
        { "\xef\xa3\xbf", REFUSED }, /* U+F8FF */
        { "\xef\xbf\xb0", REFUSED }, /* U+FFF0 */
        { "\xef\xbf\xbd", REFUSED }, /* U+FFFD */
        { "\xef\xbf\xbf", REFUSED }, /* U+FFFF */
    };

    assert_faults(zkr__text_fault, rows, COUNT(rows));
}

/* Source: PathUtils.validatePath of the Java server, for characters of one
 * UTF-16 unit. */
TEST(every_character_is_judged_as_the_server_does)
{
    for (uint32_t c = 1; c <= 0x10ffff; c++) {
        bool fine =
            !(c <= 0x1f || (c >= 0x7f && c <= 0x9f) ||
              (c >= 0xd800 && c <= 0xf8ff) || (c >= 0xfff0 && c <= 0xffff));
        char text[5];

        encode(c, text);
        if ((zkr__text_fault(text) == NULL) != fine)
            fail_msg("U+%04X: %s", (unsigned)c,
                     fine ? "refused" : "not refused");
    }
}

TEST(good_paths_have_no_fault)
{
    static const struct row rows[] = {
        { "/", NULL },          { "/a", NULL },
        { "/a/b/c", NULL },     { "/.a", NULL },
        { "/a.", NULL },        { "/...", NULL },
        { "/a/..b", NULL },     { "/a b/c", NULL },
        { "/-", NULL },         { "/caf\xc3\xa9/\xe6\x97\xa5", NULL },
        { "/~!@#$%", NULL },    { "/zookeeper/quota", NULL },
        { "/a/b..", NULL },     { "/\\", NULL },
        { "/\"quoted\"", NULL }
    };

    assert_faults(zkr__path_fault, rows, COUNT(rows));
}

TEST(bad_paths_are_told_why)
{
    static const struct row rows[] = {
        { "", "is empty" },
        { "a", "does not begin with '/'" },
        { "a/b", "does not begin with '/'" },
        { " /a", "does not begin with '/'" },
        { "./a", "does not begin with '/'" },
        { "/a/", "ends with '/'" },
        { "/a/b/", "ends with '/'" },
        { "//", "contains '//'" },
        { "//a", "contains '//'" },
        { "/a//b", "contains '//'" },
        { "/a//", "contains '//'" },
        { "/.", "contains a '.' or '..' component" },
        { "/..", "contains a '.' or '..' component" },
        { "/./a", "contains a '.' or '..' component" },
        { "/a/../b", "contains a '.' or '..' component" },
        { "/a/.", "contains a '.' or '..' component" },
        { "/a/..", "contains a '.' or '..' component" },
        { "/a\n", CONTROL },
        { "/a/\x7f", CONTROL },
        { "/\xff", NOT_UTF8 },
        { "/a/\xc3", NOT_UTF8 },
        { "/\xee\x80\x80", REFUSED },
    };

    assert_faults(zkr__path_fault, rows, COUNT(rows));
}

/* The server is written in Java: a character after U+FFFF is two surrogates to
 * it, and PathUtils.validatePath refuses those. A label may have such a
 * character, a path may not. */
TEST(a_path_has_no_character_behind_ffff)
{
    static const struct row rows[] = {
        { "/\xf0\x9f\x98\x80", REFUSED },
        { "/a/\xf0\x90\x80\x80/b", REFUSED },
        { "/\xf4\x8f\xbf\xbf", REFUSED },
    };

    assert_faults(zkr__path_fault, rows, COUNT(rows));
}

TEST(parent_and_child_are_joined)
{
    static const char *const rows[][3] = {
        { "/", "b", "/b" },
        { "/a", "b", "/a/b" },
        { "/a/b", "c-0000000001", "/a/b/c-0000000001" },
        { "", "b", "/b" },
        { "/a", "", "/a/" },
        { "/%s", "%n", "/%s/%n" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        AUTO(text) path = zkr__path_join(rows[i][0], rows[i][1]);

        assert_non_null(path);
        assert_string_equal(path, rows[i][2]);
    }
}

TEST(child_name_is_one_component)
{
    static const char *const good[] = {
        "a", "lock-0000000001", "...", ".a", "a.", "-", " ", "\xff"
    };
    static const char *const bad[] = { "", ".", "..", "/", "a/b", "/a", "a/" };

    for (size_t i = 0; i < COUNT(good); i++)
        assert_true(zkr__path_is_child_name(good[i]));
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(zkr__path_is_child_name(bad[i]));
}

TEST(a_path_is_within_itself_and_those_above)
{
    assert_true(zkr__path_is_within("/a", "/a"));
    assert_true(zkr__path_is_within("/a/b", "/a"));
    assert_true(zkr__path_is_within("/a", "/"));
    assert_false(zkr__path_is_within("/ab", "/a"));
    assert_false(zkr__path_is_within("/a", "/a/b"));
    assert_false(zkr__path_is_within("/b", "/a"));
}

TEST(name_is_the_last_component)
{
    assert_string_equal(zkr__path_name("/a/b"), "b");
    assert_string_equal(zkr__path_name("/b"), "b");
    assert_string_equal(zkr__path_name("b"), "b");
    assert_string_equal(zkr__path_name("/"), "");
    assert_string_equal(zkr__path_name("/a/"), "");
}
