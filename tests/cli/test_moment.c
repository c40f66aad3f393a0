/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the moments that people write. */

#include "common/words.h"
#include "unit.h"

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
