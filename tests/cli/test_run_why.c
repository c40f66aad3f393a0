/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the options of a run, and of the label that is shown to others: the
 * library always accepts it. */

#include <signal.h>

#include "run/options.h"
#include "unit.h"
#include "verbs/verbs.h"

static char label[ZKR_LABEL_MAX + 1];

static const struct {
    const char *name, *text;
    const char *end; /* which is always there */
    const char *label;
} labels[] = {
    { "nothing", "", "", "" },
    { "a line", "release 42", "", "release 42" },
    { "characters of two bytes", "gr\xc3\xbc\xc3\x9f", "",
      "gr\xc3\xbc\xc3\x9f" },
    { "one of four bytes", "\xf0\x9f\x98\x80", "", "\xf0\x9f\x98\x80" },
    { "no format", "\"\\%s", "", "\"\\%s" },
    { "lines", "release 42\n\nfixes:\t7", "", "release 42  fixes: 7" },
    { "control characters", "a\x7f\xc2\x9f \xc2\xa0", "", "a   \xc2\xa0" },
    { "bytes of no text", "caf\xe9 \xed\xa0\x80 \xc0\xaf", "", "caf? ??? ??" },
    { "no characters", "\xee\x80\x80\xef\xa3\xbf\xef\xbf\xb0\xef\xbf\xbf", "",
      "????" },
    { "their neighbours", "\xed\x9f\xbf\xef\xa4\x80\xef\xbf\xaf", "",
      "\xed\x9f\xbf\xef\xa4\x80\xef\xbf\xaf" },
    { "an end", "nightly", " (4711)", "nightly (4711)" },
};

TEST_ROWS(a_label_is_one_line_of_text, labels, row)
{
    why_fit(row->text, row->end, label);
    assert_string_equal(label, row->label);
}

/* The label is cut at the byte limit, but not within a character, and the mark
 * has its place. */
TEST(a_long_line_is_cut_between_characters)
{
    static const char *const characters[] = { NULL, "y", "\xc3\xbc",
                                              "\xe2\x82\xac",
                                              "\xf0\x9f\x98\x80" };
    char text[5 * ZKR_LABEL_MAX];

    for (size_t len = 1; len <= 4; len++) {
        (void)memset(text, 'x', ZKR_LABEL_MAX - len);
        (void)strcpy(text + ZKR_LABEL_MAX - len, characters[len]);
        why_fit(text, "", label);
        assert_string_equal(label, text);
        (void)strcat(text, "z");
        why_fit(text, "", label);
        assert_int_equal(strlen(label), len < 4 ? ZKR_LABEL_MAX : 127);
        assert_string_equal(label + strlen(label) - 5, "xx...");
        for (size_t i = 0; i <= ZKR_LABEL_MAX; i++) /* after 0 .. len "x" */
            (void)strcpy(text + len - 1 + i * len, characters[len]);
        why_fit(text, "", label);
        assert_true(strlen(label) > ZKR_LABEL_MAX - len);
        assert_string_equal(label + strlen(label) - len - 3,
                            strcat(strcpy(text, characters[len]), "..."));
    }
}

TEST(the_end_is_always_there)
{
    char text[ZKR_LABEL_MAX];

    (void)memset(text, 'x', sizeof(text));
    text[ZKR_LABEL_MAX - 1] = '\0';
    why_fit(text, " (4711)", label);
    assert_int_equal(strlen(label), ZKR_LABEL_MAX);
    assert_string_equal(label + ZKR_LABEL_MAX - 9, ".. (4711)");
}

static struct lockctl ctl;
static struct run_opts opts;

static void parse(const char *words)
{
    static char text[256];
    char *argv[32] = { NULL };
    int argc = 0;

    for (char *w = strtok(strcpy(text, words), " "); w != NULL;
         w = strtok(NULL, " "))
        argv[argc++] = w;
    ctl = (struct lockctl){ .timeout_ms = 5000 };
    ok(run_parse(&ctl, verbs_find("run"), CLAIM_MUTEX, argc, argv, &opts));
    assert_string_equal(opts.wanted.paths[0], "/locks/x");
}

TEST(defaults_of_a_run_are_those_of_the_manual)
{
    parse("run x true");
    assert_int_equal(opts.wait_ms, -1);
    assert_int_equal(opts.not_acquired_code, 75);
    assert_int_equal(opts.lost_code, 79);
    assert_int_equal(opts.last, SIGKILL);
    assert_int_equal(opts.policy.grace_ms, -1);
    assert_int_equal(opts.kill_after_ms, 30000);
    assert_int_equal(opts.on_revoke, REVOKE_IGNORE);
    assert_false(opts.keep_daemons);
    assert_int_equal(ctl.session_timeout_ms, 10000);
    parse("run -w 2m -n -E 8 --lost-exit-code 9 --kill-grace 1s "
          "--kill-after 1m --on-revoke term --keep-daemons "
          "--session-timeout 2s x true");
    assert_int_equal(opts.wait_ms, 0);
    assert_int_equal(opts.not_acquired_code, 8);
    assert_int_equal(opts.lost_code, 9);
    assert_int_equal(opts.policy.grace_ms, 1000);
    assert_int_equal(opts.kill_after_ms, 60000);
    assert_int_equal(opts.on_revoke, REVOKE_TERM);
    assert_true(opts.keep_daemons);
    assert_int_equal(ctl.session_timeout_ms, 2000);
    parse("run -n -w 2m x true");
    assert_int_equal(opts.wait_ms, 120000);
}
