/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the clock: deadlines that are exact, never overflow, or never come;
 * and of the timers: the timer that is due first comes first, also after others
 * were taken out. */
#include "base/clock.h"
#include "base/timer.h"
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

static void on_time(struct zkr__timer *timer)
{
}

static void on_other_time(struct zkr__timer *timer)
{
}

TEST(extreme_instants_are_in_order)
{
    static const int64_t instants[] = { INT64_MAX, 0, INT64_MIN, INT64_MAX - 1,
                                        -1 };
    static const size_t order[] = { 2, 4, 1, 3, 0 };
    struct zkr__timers timers = { NULL };
    struct zkr__timer t[COUNT(instants)] = { { 0 } };

    for (size_t i = 0; i < COUNT(instants); i++)
        zkr__timer_arm(&timers, &t[i], instants[i], on_time);
    for (size_t i = 0; i < COUNT(order); i++)
        assert_ptr_equal(zkr__timers_pop(&timers, INT64_MAX), &t[order[i]]);
}

/* The model is the sorted list of the instants of all armed timers. Timers of
 * the same instant have no order. */
enum { TIMERS = 64 };

struct model {
    int64_t sorted[TIMERS];
    size_t count;
};

static void model_remove(struct model *m, int64_t instant)
{
    size_t i = 0;

    while (i < m->count && m->sorted[i] != instant)
        i++;
    assert_true(i < m->count);
    for (m->count--; i < m->count; i++)
        m->sorted[i] = m->sorted[i + 1];
}

/* A timer of an odd instant has the other function. */
static void pops_the_first(struct zkr__timers *timers, struct model *m,
                           int64_t now)
{
    const struct zkr__timer *popped = zkr__timers_pop(timers, now);

    assert_non_null(popped);
    assert_false(zkr__timer_is_armed(popped));
    assert_int_equal(popped->instant, m->sorted[0]);
    assert_ptr_equal(popped->fn,
                     popped->instant % 2 == 0 ? on_time : on_other_time);
    model_remove(m, popped->instant);
}

TEST(thirty_thousand_operations_agree_with_a_sorted_array)
{
    struct zkr__timers timers = { NULL };
    struct zkr__timer t[TIMERS] = { { 0 } };
    struct model model = { .count = 0 };
    uint64_t random = UINT64_C(0x7155);
    size_t pops = 0, in_time = 0, again = 0;

    for (size_t i = 0; i < 30000; i++) {
        struct zkr__timer *timer = &t[unit_random(&random) % TIMERS];
        int64_t instant = (int64_t)(unit_random(&random) % 200);

        if (unit_random(&random) % 4 == 0) {
            if (model.count == 0 || model.sorted[0] > instant) {
                assert_null(zkr__timers_pop(&timers, instant));
            } else {
                in_time += model.sorted[0] == instant;
                pops_the_first(&timers, &model, instant);
                pops++;
            }
        } else if (zkr__timer_is_armed(timer)) {
            model_remove(&model, timer->instant);
            zkr__timer_disarm(&timers, timer);
            assert_false(zkr__timer_is_armed(timer));
        } else {
            size_t at = model.count++;

            for (; at > 0 && model.sorted[at - 1] > instant; at--)
                model.sorted[at] = model.sorted[at - 1];
            model.sorted[at] = instant;
            again += timer->fn != NULL;
            zkr__timer_disarm(&timers, timer); /* which is harmless */
            zkr__timer_arm(&timers, timer, instant,
                           instant % 2 == 0 ? on_time : on_other_time);
            assert_true(zkr__timer_is_armed(timer));
        }
        assert_int_equal(zkr__timers_next(&timers),
                         model.count > 0 ? model.sorted[0] : ZKR__NEVER);
    }
    assert_true(pops > 500 && in_time > 10 && again > 500);
    while (model.count > 0)
        pops_the_first(&timers, &model, INT64_MAX);
    assert_null(zkr__timers_pop(&timers, INT64_MAX));
}
