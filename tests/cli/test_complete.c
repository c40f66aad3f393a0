/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of completion, without a shell and without servers. */
#include "text/complete.h"
#include "texts.h"
#include "unit.h"

static const struct opt ls_options[] = {
    { .name = "held" },
    { .name = "depth", .value = "N" },
    { .name = NULL },
};
static const struct verb ls = { .name = "ls",
                                .takes = TAKES_PATH,
                                .options = ls_options };
static const struct opt run_options[] = {
    { .name = "wait", .letter = 'w', .value = "DURATION" },
    { .name = "and", .value = "LOCK" },
    { .name = "conflict-exit-code", .letter = 'E', .value = "CODE" },
    { .name = NULL },
};
static const struct verb run = {
    .name = "run",
    .takes = TAKES_FIRST,
    .options = run_options,
    .ends_at_argument = true,
};
static const char *const losses[] = { "term", NULL };
static const struct opt hold_options[] = {
    { .name = "on-loss", .value = "WHAT", .words = losses },
    { .name = "and", .value = "LOCK" },
    { .name = NULL },
};
static const struct verb hold = { .name = "hold",
                                  .takes = TAKES_FIRST,
                                  .options = hold_options };
static const struct verb watch = { .name = "watch", .takes = TAKES_PATHS };
static const char *const topics[] = { "exit-codes", NULL };
static void overview(void)
{
}
static const struct verb help = { .name = "help",
                                  .words = topics,
                                  .overview = overview };
static const char *const shells[] = { "bash", "zsh", NULL };
static const struct verb completion = { .name = "completion", .words = shells };
static const struct verb *const verbs[] = { &ls,   &run,        &hold, &watch,
                                            &help, &completion, NULL };

static struct complete find(const char *line)
{
    static char copy[256];
    char *words[16];
    char *rest = copy;
    int n = 0;

    assert_true(strlen(line) < sizeof(copy));
    strcpy(copy, line);
    while (rest != NULL && n < 16)
        words[n++] = strsep(&rest, " ");
    return complete_find(verbs, n, words);
}

TEST(the_first_word_is_a_verb)
{
    assert_int_equal(find("").kind, COMPLETE_VERB);
    assert_int_equal(find("l").kind, COMPLETE_VERB);
    assert_int_equal(find("-q l").kind, COMPLETE_VERB);
    assert_int_equal(find("--servers h:1 l").kind, COMPLETE_VERB);
    assert_int_equal(find("--servers=h:1 l").kind, COMPLETE_VERB);
    assert_int_equal(find("nonsense l").kind, COMPLETE_NOTHING);
    assert_int_equal(complete_find(verbs, 0, NULL).kind, COMPLETE_NOTHING);
}

TEST(a_dash_begins_an_option)
{
    assert_int_equal(find("-").kind, COMPLETE_OPTION);
    assert_null(find("-").verb);
    assert_int_equal(find("ls --he").kind, COMPLETE_OPTION);
    assert_ptr_equal(find("ls --he").verb, &ls);
    assert_int_equal(find("ls a --he").kind, COMPLETE_OPTION);
}

TEST(an_option_with_a_value_takes_the_next_word)
{
    assert_int_equal(find("ls --depth ").kind, COMPLETE_NOTHING);
    assert_int_equal(find("ls --depth -").kind, COMPLETE_NOTHING);
    assert_int_equal(find("ls --depth 3 ").kind, COMPLETE_LOCK);
    assert_int_equal(find("ls --depth=3 ").kind, COMPLETE_LOCK);
    assert_int_equal(find("ls --held ").kind, COMPLETE_LOCK);
    assert_int_equal(find("run -w 3s ").kind, COMPLETE_LOCK);
    assert_int_equal(find("run --conflict-exit-code 3 ").kind, COMPLETE_LOCK);
    assert_int_equal(find("ls -o ").kind, COMPLETE_VALUE);
    assert_string_equal(find("ls -o ").values[0], "table");
    assert_int_equal(find("ls --output js").kind, COMPLETE_VALUE);
    assert_int_equal(find("--output ").kind, COMPLETE_VALUE);
    assert_int_equal(find("ls --servers ").kind, COMPLETE_NOTHING);
}

TEST(locks_come_where_the_verb_takes_them)
{
    assert_int_equal(find("ls ").kind, COMPLETE_LOCK);
    assert_int_equal(find("ls a ").kind, COMPLETE_NOTHING);
    assert_int_equal(find("watch a b c ").kind, COMPLETE_LOCK);
    assert_int_equal(find("run -- ").kind, COMPLETE_LOCK);
    assert_int_equal(find("run a ").kind, COMPLETE_NOTHING);
    assert_int_equal(find("run a -- ").kind, COMPLETE_NOTHING);
    assert_int_equal(find("run --and ").kind, COMPLETE_LOCK);
    assert_int_equal(find("run --and a ").kind, COMPLETE_LOCK);
    assert_int_equal(find("run a --and ").kind, COMPLETE_LOCK);
    assert_int_equal(find("run a --and b --and ").kind, COMPLETE_LOCK);
    assert_int_equal(find("run a --and b ").kind, COMPLETE_NOTHING);
    assert_int_equal(find("hold ").kind, COMPLETE_LOCK);
    assert_int_equal(find("hold a --and ").kind, COMPLETE_LOCK);
    assert_int_equal(find("hold a ").kind, COMPLETE_NOTHING);
    assert_int_equal(find("hold --on-loss ").kind, COMPLETE_VALUE);
    assert_int_equal(find("run a make --and ").kind, COMPLETE_NOTHING);
    /* The options of the command are its own. */
    assert_int_equal(find("run a make -").kind, COMPLETE_NOTHING);
    assert_int_equal(find("help ").kind, COMPLETE_TOPIC);
    assert_int_equal(find("help ls ").kind, COMPLETE_NOTHING);
    assert_int_equal(find("completion z").kind, COMPLETE_VALUE);
}

TEST(the_ensemble_is_that_of_the_line)
{
    assert_string_equal(find("--servers h:1 ls ").settings[SETTING_SERVERS],
                        "h:1");
    assert_string_equal(find("ls --servers=h:1,i:2 ").settings[SETTING_SERVERS],
                        "h:1,i:2");
    assert_string_equal(
        find("ls --tls-ca /a --auth-file f ").settings[SETTING_TLS_CA], "/a");
    assert_string_equal(
        find("ls --tls-ca=/a --auth-file=f ").settings[SETTING_AUTH_FILE], "f");
    assert_null(find("ls ").settings[SETTING_SERVERS]);
}

TEST(text_with_a_meaning_to_a_shell_is_not_plain)
{
    static const char *const plain[] = { "/locks/a", "a-b_c.d:e@f%g+h,i",
                                         "gr\xc3\xbc\xc3\x9f" };
    static const char *const others[] = {
        "",     "-rf", "a b", "$(reboot)", "`reboot`", "a;b",   "a|b",
        "a&b",  "a>b", "a<b", "a\nb",      "a\tb",     "a'b",   "a\"b",
        "a\\b", "~",   "a*",  "a?",        "[a]",      "{a,b}", "a#b",
        "a!b",  "=a",  "(a)", "a^b",       "\x1b[2J",  "a\xff", "a\xe2\x80\xae",
    };

    for (size_t i = 0; i < COUNT(plain); i++)
        assert_true(complete_is_plain(plain[i]));
    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(complete_is_plain(others[i]));
}
