/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of paths, and of text that is shown to people. */
#include "base/path.h"
#include "scope.h"
#include "unit.h"

#define NOT_UTF8 "is not valid UTF-8"
#define CONTROL  "contains a control character"
#define REFUSED  "contains a character that ZooKeeper refuses"

/* clang-format off */
/* Texts that have the same fault, or none. */
static const struct group {
    const char *name;
    const char *(*fault_of)(const char *);
    const char *fault;
    const char *inputs[16];
} groups[] = {
    { "text that people read is text", zkr__text_fault, NULL,
      { "", "nightly report, shard 3/8",
        "gr\xc3\xbc\xc3\x9f-e \xe2\x82\xac \xe6\x97\xa5\xe6\x9c\xac",
        "\xf0\x9f\x98\x80" } },
    { "overlong forms are not utf8", zkr__text_fault, NOT_UTF8,
      { "\xc0\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x80\xaf", "\xe0\x9f\xbf",
        "\xf0\x80\x80\xaf", "\xf0\x8f\xbf\xbf" } },
    { "surrogates are not utf8", zkr__text_fault, NOT_UTF8,
      { "\xed\xa0\x80", "\xed\xaf\xbf", "\xed\xb0\x80", "\xed\xbf\xbf",
        "\xed\xa0\xbd\xed\xb8\x80" } },
    { "nothing is behind 10ffff", zkr__text_fault, NOT_UTF8,
      { "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf7\xbf\xbf\xbf",
        "\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80", "\xfe", "\xff" } },
    { "truncated characters are not utf8", zkr__text_fault, NOT_UTF8,
      { "\xc3", "a\xc3", "\xe2\x82", "\xe2", "\xf0\x9f\x98", "\xf0\x9f", "\xf0",
        "\xe2\x82/", "\xc3(", "\xf0\x9f\x98z", "\x80", "\xbf\xbf", "\xc3\xc3",
        "\xc3\xa9\xa9" } },
    { "control characters are refused", zkr__text_fault, CONTROL,
      { "\x01", "a\tb", "a\n", "\x1b[31m", "\x1f", "\x7f", "\xc2\x80",
        "\xc2\x9f" } },
    { "private use and specials are refused", zkr__text_fault, REFUSED,
      { "\xee\x80\x80" /* U+E000 */, "\xef\xa3\xbf" /* U+F8FF */,
        "\xef\xbf\xb0" /* U+FFF0 */, "\xef\xbf\xbd" /* U+FFFD */,
        "\xef\xbf\xbf" /* U+FFFF */ } },
    { "good paths have no fault", zkr__path_fault, NULL,
      { "/", "/a", "/a/b/c", "/.a", "/a.", "/...", "/a/..b", "/a b/c", "/-",
        "/caf\xc3\xa9/\xe6\x97\xa5", "/~!@#$%", "/zookeeper/quota", "/a/b..",
        "/\\", "/\"quoted\"" } },
    { "a path is not empty", zkr__path_fault, "is empty", { "" } },
    { "a path begins with a slash", zkr__path_fault, "does not begin with '/'",
      { "a", "a/b", " /a", "./a" } },
    { "a path does not end with a slash", zkr__path_fault, "ends with '/'", { "/a/", "/a/b/" } },
    { "no two slashes follow each other", zkr__path_fault, "contains '//'",
      { "//", "//a", "/a//b", "/a//" } },
    { "no component is dots alone",
      zkr__path_fault, "contains a '.' or '..' component",
      { "/.", "/..", "/./a", "/a/../b", "/a/.", "/a/.." } },
    { "a path has no control character", zkr__path_fault, CONTROL, { "/a\n", "/a/\x7f" } },
    { "a path is utf8", zkr__path_fault, NOT_UTF8, { "/\xff", "/a/\xc3" } },
    { "a path has no refused character", zkr__path_fault, REFUSED, { "/\xee\x80\x80" } },
    /* The server is written in Java: a character after U+FFFF is two surrogates
     * to it, and PathUtils.validatePath refuses those. A label may have such a
     * character, a path may not. */
    { "a path has no character behind ffff", zkr__path_fault, REFUSED,
      { "/\xf0\x9f\x98\x80", "/a/\xf0\x90\x80\x80/b", "/\xf4\x8f\xbf\xbf" } },
};
/* clang-format on */

/* The input goes to the heap, in a block of exactly its size, so that a read
 * after its end is detected. */
TEST_ROWS(texts_have_their_fault, groups, g)
{
    for (size_t i = 0; i < COUNT(g->inputs) && g->inputs[i] != NULL; i++) {
        AUTO(text) input = strdup(g->inputs[i]);

        assert_non_null(input);
        const char *fault = g->fault_of(input);
        if (fault == NULL ? g->fault != NULL
                          : g->fault == NULL || strcmp(fault, g->fault) != 0)
            fail_msg("'%s': '%s', not '%s'", input,
                     fault == NULL ? "no fault" : fault,
                     g->fault == NULL ? "no fault" : g->fault);
    }
}

/* Encodes it as UTF-8 would be, surrogates too. */
static void encode(uint32_t c, char text[5])
{
    static const unsigned char heads[] = { 0, 0xc0, 0xe0, 0xf0 };
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

    text[0] = (char)(heads[more] | c >> 6 * more);
    for (int i = 1; i <= more; i++)
        text[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    text[more + 1] = '\0';
}

/* Source: PathUtils.validatePath of Java's server, for single UTF-16 units. */
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
