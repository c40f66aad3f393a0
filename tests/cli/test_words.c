/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the words for numbers, times and owners, and of what options take:
 * durations, counts, paths, moments. */

#include "common/lockctl.h"
#include "common/words.h"
#include "model/lock_state.h"
#include "unit.h"

TEST(ages_are_short)
{
    static const struct {
        int64_t ms;
        const char *word;
    } vectors[] = {
        { -5000, "0.0s" },
        { 0, "0.0s" },
        { 49, "0.0s" },
        { 48250, "48.2s" },
        { 59999, "59.9s" },
        { 60000, "1m00s" },
        { 252000, "4m12s" },
        { 3599999, "59m59s" },
        { 3600000, "1h00m" },
        { 7500000, "2h05m" },
        { 86400000, "1d00h" },
        { 273600000, "3d04h" },
        { INT64_MAX, "106751991167d07h" },
    };
    char word[WORD_MAX];

    for (size_t i = 0; i < COUNT(vectors); i++)
        assert_string_equal(word_age(vectors[i].ms, word), vectors[i].word);
}

TEST(times_are_those_of_rfc_3339)
{
    char word[WORD_MAX];

    assert_string_equal(word_time(0, word), "1970-01-01T00:00:00.000Z");
    assert_string_equal(word_time(INT64_C(1795224598767), word),
                        "2026-11-21T01:29:58.767Z");
    assert_string_equal(word_time(-1, word), "");
    assert_string_equal(word_time(INT64_MAX, word), "");
}

TEST(tokens_are_read_as_they_are_written)
{
    static const int64_t ids[] = { 1, INT64_C(0x100000be8790000), INT64_MAX,
                                   INT64_MIN, -1 };
    /* clang-format off */
    static const char *const bad[] = {
        "", "0x", "x1", "0xg", "-", "+1", " 1", "1 ", "1x2", "0X1",
        "9223372036854775808", "-9223372036854775809", "--1", "-0x1",
        "0x10000000000000000",
    };
    /* clang-format on */
    char word[WORD_MAX];
    int64_t id = 0;

    for (size_t i = 0; i < COUNT(ids); i++) {
        errno = ERANGE; /* left by an earlier call */
        assert_true(word_read_token(word_token(ids[i], word), &id));
        assert_int_equal(id, ids[i]);
        assert_true(word_read_token(word_id(ids[i], word), &id));
        assert_int_equal(id, ids[i]);
    }
    assert_string_equal(word_token(INT64_C(0x100000006), word), "4294967302");
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(word_read_token(bad[i], &id));
    assert_true(word_read_token("0xaB", &id));
    assert_int_equal(id, 171);
}

TEST(durations_of_settings_are_short)
{
    static const struct {
        int64_t ms;
        const char *word;
    } vectors[] = {
        { 0, "0ms" },      { 999, "999ms" },   { 1000, "1s" },
        { 1500, "1.5s" },  { 59900, "59.9s" }, { 60000, "1m" },
        { 90000, "1.5m" },
    };
    char word[WORD_MAX];

    for (size_t i = 0; i < COUNT(vectors); i++)
        assert_string_equal(word_duration(vectors[i].ms, word),
                            vectors[i].word);
}

TEST(clocks_have_no_date)
{
    char word[WORD_MAX];

    assert_string_equal(word_clock(INT64_C(1795224598767), word), "01:29:58Z");
    assert_string_equal(word_clock(-1, word), "--:--:--Z");
}

static const struct {
    const char *name, *data, *word;
} owners[] = {
    { "of our record",
      "{\"library\":\"zkrecipes 0.1.0\",\"host\":\"vm\",\"pid\":4231,"
      "\"tid\":4232,\"program\":\"peek\"}",
      "vm:4231/4232 peek" },
    { "of a record without most",
      "{\"library\":\"zkrecipes 9\",\"pid\":\"x\",\"host\":[1]}", ":0" },
    { "of nothing", "", "" },
    { "of an address", "10.1.2.3", "10.1.2.3" },
    { "of another record", "{\"library\":\"zk\"}", "{\"library\":\"zk\"}" },
};

TEST_ROWS(a_word_says_who, owners, row)
{
    struct zkr__known_owner owner;
    char word[24];

    zkr__owner_read(&owner, row->data, strlen(row->data));
    owner_word(&owner, row->data, strlen(row->data), word, sizeof(word));
    assert_string_equal(word, row->word);
}

TEST(words_are_escaped_and_cut)
{
    static const char evil[] = "\033]0;x\a\xff";
    struct zkr__known_owner owner;
    char word[12];

    zkr__owner_read(&owner, evil, sizeof(evil) - 1);
    owner_word(&owner, evil, sizeof(evil) - 1, word, sizeof(word));
    assert_string_equal(word, "\\x1B]0;x...");
}

/* clang-format off */
static const struct error {
    const char *name;
    int rc;
    int code;
} errors[] = {
#define ERROR(rc, code) { #rc, ZKR_##rc, code }
    ERROR(EINVAL, 64), ERROR(EPATH, 64), ERROR(ETOOLONG, 64), ERROR(EHOSTS, 69),
    ERROR(EREFUSED, 69), ERROR(ENOTZK, 69), ERROR(EUNREACHABLE, 69),
    ERROR(ZSSLCONNECTIONERROR, 69), ERROR(ZCONNECTIONLOSS, 69), ERROR(ECLOSED, 69),
    ERROR(ENOMEM, 70), ERROR(EPROTO, 70), ERROR(EEXHAUSTED, 73),
    ERROR(ZNOCHILDRENFOREPHEMERALS, 73), ERROR(ETIMEDOUT, 75), ERROR(EBUSY, 75),
    ERROR(ZNOAUTH, 77), ERROR(ZAUTHFAILED, 77),
    ERROR(ZSESSIONCLOSEDREQUIRESASLAUTH, 77), ERROR(ENOCHROOT, 78),
    ERROR(ENOTSUP, 78), ERROR(ELOST, 79),
};
/* clang-format on */

TEST_ROWS(an_error_of_the_library_has_a_code, errors, error)
{
    assert_int_equal(lockctl_fail_error(error->rc, ""), error->code);
    assert_int_equal(lockctl_failure()->cause, error->rc);
    assert_has(lockctl_failure()->message, zkr_strerror(error->rc));
}

/* --- what options take: -1 is nothing --- */

/* clang-format off */
static const struct text {
    const char *name;
    int64_t value;
} durations[] = {
    { "0", 0 }, { "1", 1000 }, { "500ms", 500 }, { "1.5s", 1500 },
    { ".5", 500 }, { "2m", 120000 }, { "1h", 3600000 }, { "0.4ms", 0 },
    { "0.5ms", 1 }, { "1000000000000ms", INT64_C(1000000000000) },
    { "1000000000001ms", -1 }, { "1000000001", -1 }, { "", -1 }, { "s", -1 },
    { ".", -1 }, { "1d", -1 }, { "1 s", -1 }, { "1s ", -1 }, { " 1", -1 },
    { "-1", -1 }, { "+1", -1 }, { "1e3", -1 }, { "0x1", -1 }, { "inf", -1 },
    { "nan", -1 }, { "1.2.3", -1 }, { "1h1m", -1 },
};
/* clang-format on */

TEST_ROWS(a_duration, durations, text)
{
    int64_t ms = -1;

    assert_int_equal(lockctl_parse_duration(text->name, &ms), text->value >= 0);
    assert_int_equal(ms, text->value);
}

static const struct text counts[] = {
    { "1", 1 },           { "0000000001", 1 },   { "2147483647", 2147483647 },
    { "2147483648", -1 }, { "00000000001", -1 }, { "0", -1 },
    { "", -1 },           { "-1", -1 },          { "+1", -1 },
    { " 1", -1 },         { "1x", -1 },
};

TEST_ROWS(a_count, counts, text)
{
    int64_t count = 0;

    if (text->value < 0)
        assert_false(lockctl_parse_count(text->name, &count));
    else
        assert_true(lockctl_parse_count(text->name, &count));
    if (text->value >= 0)
        assert_int_equal(count, text->value);
}

/* clang-format off */
static const struct path {
    const char *name;
    const char *path; /* NULL: refused */
} paths[] = {
    { "o", "/locks/o" }, { "o/", "/locks/o" }, { "oo", "/locks/oo" },
    { "ooo", NULL }, { "/", "/" }, { "/a", "/a" }, { "/a/", "/a" },
    { "/a/b/c/d", "/a/b/c/d" }, { "/a/b/c/d/", "/a/b/c/d" },
    { "/a/b/c/d/e", NULL }, { "", NULL },
};
/* clang-format on */

TEST_ROWS(a_path, paths, text)
{
    char path[10];
    bool taken = lockctl_parse_path(text->name, path, sizeof(path));

    assert_int_equal(taken, text->path != NULL);
    if (taken)
        assert_string_equal(path, text->path);
}

/* --- moments that people write --- */

/* 2026-11-23T07:00:00Z, in a zone one hour east of Greenwich, in summer two. */
#define NOW 1795417200000

static void go_to(const char *zone)
{
    (void)setenv("TZ", zone, 1);
    tzset();
}

static int setup(void)
{
    go_to("XXX-1YYY");
    return 0;
}

FIXTURE(setup, NULL)

static void assert_moment(const char *text, int64_t expected)
{
    int64_t ms = 0;

    if (!moment_read(text, NOW, &ms))
        fail_msg("'%s' is no moment", text);
    if (ms != expected)
        fail_msg("'%s' is %lld, not %lld", text, (long long)ms,
                 (long long)expected);
}

TEST(a_duration_is_before_now)
{
    assert_moment("1h", NOW - 3600000);
    assert_moment("500ms", NOW - 500);
}

TEST(a_time_of_day_is_the_last_one)
{
    assert_moment("07:30", NOW - 30 * 60000);
    assert_moment("08:00", NOW);
    assert_moment("08:00:01", NOW + 1000 - 86400000);
    assert_moment("06:59:59.5Z", NOW - 500);
    assert_moment("07:01Z", NOW + 60000 - 86400000);
    assert_moment("23:30+02:00", NOW - 34200000);
    assert_moment("00:00", NOW - 8 * 3600000);
    assert_moment("23:59:60", NOW - 8 * 3600000);
    /* It is tomorrow already there, and yesterday still. */
    assert_moment("00:30+18:00", NOW - 1800000);
    assert_moment("22:30-08:00", NOW - 1800000);
}

TEST(a_day_is_one_of_its_zone)
{
    go_to("XXX-23");
    assert_moment("05:30", NOW - 1800000);
    go_to("XXX+23");
    assert_moment("06:30Z", NOW - 1800000);
}

TEST(a_date_has_a_time_and_a_zone)
{
    assert_moment("2026-07-01 09:00", NOW - 145 * INT64_C(86400000));
    assert_moment("2026-11-23", NOW - 8 * 3600000);
    assert_moment("2026-11-23 08:00", NOW);
    assert_moment("2026-11-23T08:00:00.25", NOW + 250);
    assert_moment("2026-11-23T07:00:00.767Z", NOW + 767);
    assert_moment("2026-11-23T02:00:00-05:00", NOW);
    assert_moment("2026-11-23T01:30:00-05:30", NOW);
    assert_moment("2026-11-23T07:00:00.1239Z", NOW + 123);
    assert_moment("2026-12-31T00:00Z", NOW + 37 * INT64_C(86400000) + 61200000);
    assert_moment("1970-01-01T00:00Z", 0);
}

TEST(other_texts_are_refused)
{
    /* clang-format off */
    static const char *const texts[] = {
        "", "yesterday", "25:00", "12:60", "2026-13-01", "2026-11-23T",
        "2026-11-23T7:00", "07:00x", "07:00+1", "-1h", "2026-11-23Z07:00",
        "1969-01-01", "2026-00-01", "2026-11-00", "2026-11-32", "24:00",
        "23:59:61", "07:00:0", "07:00.5", "07:00+0100", "07:00+01:0",
        "2026-11-23T07:00:00.Z",
    };
    /* clang-format on */

    for (size_t i = 0; i < COUNT(texts); i++) {
        int64_t ms;

        if (moment_read(texts[i], NOW, &ms))
            fail_msg("'%s' is taken", texts[i]);
    }
}
