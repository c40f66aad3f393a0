/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the clock: deadlines that are exact, never overflow, or never come.
 */
#include "base/clock.h"
#include "unit.h"

#define SECOND INT64_C(1000000000)

static int64_t monotonic(void)
{
    struct timespec ts;

    ok(clock_gettime(CLOCK_MONOTONIC, &ts));
    return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* On a machine that has not been asleep the clocks agree, so their values do
 * not show which one was read. */
static clockid_t asked;
static int64_t stopped; /* what all clocks say, or 0 */
WRAP(int, clock_gettime, (clockid_t clock, struct timespec *ts))
{
    asked = clock;
    if (stopped != 0) {
        *ts = zkr__clock_timespec(stopped);
        return 0;
    }
    return __real_clock_gettime(clock, ts);
}

/* The server went on counting while we were asleep. */
TEST(only_the_lease_counts_time_asleep_and_now_does_not)
{
    (void)zkr__clock_boot();
    assert_int_equal(asked, CLOCK_BOOTTIME);
    int64_t before = monotonic();
    int64_t now = zkr__clock_now(); /* as the condition variables do */
    assert_int_equal(asked, CLOCK_MONOTONIC);
    assert_in_range(now, before, monotonic());
}

TEST(deadline_is_so_many_milliseconds_from_now)
{
    static const int64_t delays_ms[] = { 0, 1, 999, 1000, 86400000 };

    for (size_t i = 0; i < COUNT(delays_ms); i++) {
        int64_t before = monotonic();
        int64_t deadline = zkr__clock_deadline(delays_ms[i]);
        int64_t after = monotonic();

        assert_in_range(deadline, before + delays_ms[i] * 1000000,
                        after + delays_ms[i] * 1000000);
    }
}

TEST(negative_and_overflow_are_never)
{
    int64_t last_ms = (INT64_MAX - monotonic()) / 1000000;

    assert_int_equal(zkr__clock_deadline(-1), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(-86400000), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(INT64_MIN), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(INT64_MAX), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(INT64_MAX / 1000000), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(last_ms + 1), ZKR__NEVER);
}

/* An hour below the limit, however slowly this test runs. */
TEST(long_deadlines_are_before_never)
{
    int64_t ms = (INT64_MAX - monotonic()) / 1000000 - 3600000;
    assert_in_range(zkr__clock_deadline(ms), ZKR__NEVER - 3601 * SECOND,
                    ZKR__NEVER - 1);
}

TEST(instant_becomes_a_timespec)
{
    static const struct {
        int64_t instant;
        int64_t sec;
        long nsec;
    } rows[] = {
        { 0, 0, 0 },
        { 1, 0, 1 },
        { SECOND - 1, 0, 999999999 },
        { SECOND, 1, 0 },
        { 5 * SECOND + 250 * ZKR__MS, 5, 250000000 },
        { ZKR__NEVER, sizeof(time_t) < 8 ? INT32_MAX : INT64_C(9223372036),
          854775807 },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct timespec ts = zkr__clock_timespec(rows[i].instant);

        assert_int_equal(ts.tv_sec, rows[i].sec);
        assert_int_equal(ts.tv_nsec, rows[i].nsec);
    }
}

TEST(the_rest_of_a_deadline_is_never_the_timeout_0)
{
    assert_int_equal(zkr__clock_left_ms(ZKR__NEVER), -1);
    assert_int_equal(zkr__clock_left_ms(zkr__clock_now()), 1);
    assert_int_equal(zkr__clock_left_ms(0), 1);
    stopped = 5 * SECOND;
    assert_int_equal(zkr__clock_left_ms(stopped + 7 * ZKR__MS), 7);
    assert_int_equal(zkr__clock_left_ms(stopped + 6 * ZKR__MS + 1), 7);
    stopped = 0;
    assert_in_range(zkr__clock_left_ms(zkr__clock_deadline(86400000)), 86000000,
                    86400000);
}
