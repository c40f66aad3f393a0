/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the clock: deadlines that are exact, never overflow, or never come.
 */
#include <time.h>

#include "base/clock.h"
#include "unit.h"

#define SECOND INT64_C(1000000000)

static int64_t monotonic(void)
{
    struct timespec ts;

    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &ts), 0);
    return ts.tv_sec * SECOND + ts.tv_nsec;
}

/* On a machine that has not been asleep the clocks agree, so their values do
 * not show which one was read. */
static clockid_t asked;

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
    asked = clock;
    return __real_clock_gettime(clock, ts);
}

/* The server went on counting while we were asleep. */
static void only_the_lease_counts_time_asleep(void **state)
{
    (void)state;
    (void)zkr__clock_boot();
    assert_int_equal(asked, CLOCK_BOOTTIME);
    (void)zkr__clock_now(); /* as the condition variables do */
    assert_int_equal(asked, CLOCK_MONOTONIC);
}

static void now_is_on_the_monotonic_clock(void **state)
{
    int64_t before = monotonic();
    int64_t now = zkr__clock_now();
    int64_t after = monotonic();

    (void)state;
    assert_in_range(now, before, after);
}

static void deadline_is_so_many_milliseconds_from_now(void **state)
{
    static const int64_t delays_ms[] = { 0, 1, 999, 1000, 86400000 };

    (void)state;
    for (size_t i = 0; i < COUNT(delays_ms); i++) {
        int64_t before = monotonic();
        int64_t deadline = zkr__clock_deadline(delays_ms[i]);
        int64_t after = monotonic();

        assert_in_range(deadline, before + delays_ms[i] * 1000000,
                        after + delays_ms[i] * 1000000);
    }
}

static void negative_is_never(void **state)
{
    (void)state;
    assert_int_equal(zkr__clock_deadline(-1), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(-86400000), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(INT64_MIN), ZKR__NEVER);
}

static void overflow_is_never(void **state)
{
    int64_t last_ms = (INT64_MAX - monotonic()) / 1000000;

    (void)state;
    assert_int_equal(zkr__clock_deadline(INT64_MAX), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(INT64_MAX / 1000000), ZKR__NEVER);
    assert_int_equal(zkr__clock_deadline(last_ms + 1), ZKR__NEVER);
}

/* An hour below the limit, however slowly this test runs. */
static void long_deadlines_are_before_never(void **state)
{
    int64_t ms = (INT64_MAX - monotonic()) / 1000000 - 3600000;
    int64_t deadline = zkr__clock_deadline(ms);

    (void)state;
    assert_true(deadline < ZKR__NEVER);
    assert_true(deadline > ZKR__NEVER - 3601 * SECOND);
}

static void instant_becomes_a_timespec(void **state)
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
        { ZKR__NEVER, INT64_C(9223372036), 854775807 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct timespec ts = zkr__clock_timespec(rows[i].instant);

        assert_int_equal(ts.tv_sec, rows[i].sec);
        assert_int_equal(ts.tv_nsec, rows[i].nsec);
    }
}

static void the_rest_of_a_deadline_is_never_the_timeout_0(void **state)
{
    (void)state;
    assert_int_equal(zkr__clock_left_ms(ZKR__NEVER), -1);
    assert_int_equal(zkr__clock_left_ms(zkr__clock_now()), 1);
    assert_int_equal(zkr__clock_left_ms(0), 1);
    assert_in_range(zkr__clock_left_ms(zkr__clock_deadline(86400000)), 86000000,
                    86400000);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_lease_counts_time_asleep),
        cmocka_unit_test(now_is_on_the_monotonic_clock),
        cmocka_unit_test(deadline_is_so_many_milliseconds_from_now),
        cmocka_unit_test(negative_is_never),
        cmocka_unit_test(overflow_is_never),
        cmocka_unit_test(long_deadlines_are_before_never),
        cmocka_unit_test(instant_becomes_a_timespec),
        cmocka_unit_test(the_rest_of_a_deadline_is_never_the_timeout_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
