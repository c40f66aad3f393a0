/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of retry policies: which delays, how many, until when. */
#include "base/error.h"
#include "session/retry.h"
#include "unit.h"

static struct zkr_retry load(struct zkr_retry policy)
{
    ok(zkr__retry_load(&policy));
    return policy;
}

static void assert_refused(struct zkr_retry policy, const char *why)
{
    assert_int_equal(zkr__retry_load(&policy), ZKR_EINVAL);
    assert_non_null(strstr(zkr_error_detail(), "retry policy"));
    assert_non_null(strstr(zkr_error_detail(), why));
}

static void loads_as(struct zkr_retry policy, struct zkr_retry expected)
{
    policy = load(policy);
    assert_memory_equal(&policy, &expected, sizeof(policy));
}

TEST(all_zero_is_the_default_policy)
{
    loads_as((struct zkr_retry){ 0 },
             (struct zkr_retry){ ZKR_RETRY_EXPONENTIAL, 20, 2000, 0, 0 });
}

TEST(default_kind_keeps_what_is_set)
{
    loads_as((struct zkr_retry){ ZKR_RETRY_DEFAULT, 5, 7, 8, 9 },
             (struct zkr_retry){ ZKR_RETRY_EXPONENTIAL, 5, 7, 8, 9 });
}

TEST(a_loaded_policy_loads_again_unchanged)
{
    struct zkr_retry once = load((struct zkr_retry){ 0 });
    struct zkr_retry twice = load(once);

    assert_memory_equal(&once, &twice, sizeof(once));
}

TEST(initializers_make_the_policies_they_name)
{
    loads_as(ZKR_RETRY_N_TIMES_INIT(3, 50),
             (struct zkr_retry){ ZKR_RETRY_FIXED, 50, 2000, 3, 0 });
    loads_as(ZKR_RETRY_FOREVER_INIT(9),
             (struct zkr_retry){ ZKR_RETRY_FIXED, 9, 2000, 0, 0 });
    loads_as(ZKR_RETRY_UNTIL_INIT(1000, 10),
             (struct zkr_retry){ ZKR_RETRY_FIXED, 10, 2000, 0, 1000 });
    loads_as(ZKR_RETRY_EXPONENTIAL_INIT(10, 400, 6),
             (struct zkr_retry){ ZKR_RETRY_EXPONENTIAL, 10, 400, 6, 0 });
    assert_int_equal(load(ZKR_RETRY_NONE_INIT).kind, ZKR_RETRY_NONE);
}

TEST(policy_without_a_pause_is_refused)
{
    assert_refused((struct zkr_retry){ .kind = ZKR_RETRY_FIXED }, "base_ms");
    assert_refused(
        (struct zkr_retry){ .kind = ZKR_RETRY_EXPONENTIAL, .cap_ms = 100 },
        "base_ms");
}

TEST(unknown_kind_is_refused)
{
    assert_refused((struct zkr_retry){ .kind = 4, .base_ms = 1 }, "kind is 4");
    assert_refused((struct zkr_retry){ .kind = UINT32_MAX, .base_ms = 1 },
                   "kind is 4294967295");
}

TEST(none_never_retries)
{
    struct zkr_retry p = load(ZKR_RETRY_NONE_INIT);
    uint32_t delay = 77;

    assert_false(zkr__retry_next(&p, 0, 0, 0, &delay));
    assert_int_equal(delay, 77);
}

/* A lock node that may exist is deleted whatever the policy says. */
TEST(none_has_delays_for_what_must_be_done)
{
    struct zkr_retry p = load(ZKR_RETRY_NONE_INIT);

    assert_int_equal(zkr__retry_delay(&p, 0, 0), 20);
    assert_int_equal(zkr__retry_delay(&p, 1, 0), 40);
    assert_int_equal(zkr__retry_delay(&p, 1000, 0), 2000);
    p = load((struct zkr_retry){ .kind = ZKR_RETRY_NONE, .base_ms = 5 });
    assert_int_equal(zkr__retry_delay(&p, 0, 0), 5);
}

TEST(fixed_delay_has_no_jitter_and_no_cap)
{
    struct zkr_retry p = load(ZKR_RETRY_FOREVER_INIT(5000));
    uint64_t random = UINT64_C(0xfeed);

    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(zkr__retry_delay(&p, i, unit_random(&random)), 5000);
}

TEST(exponential_doubles_up_to_the_cap)
{
    static const uint32_t expected[] = { 20, 40, 80, 160, 320, 500, 500, 500 };
    struct zkr_retry p = load(ZKR_RETRY_EXPONENTIAL_INIT(20, 500, 0));

    for (uint32_t i = 0; i < COUNT(expected); i++)
        assert_int_equal(zkr__retry_delay(&p, i, 0), expected[i]);
    assert_int_equal(zkr__retry_delay(&p, UINT32_MAX, 0), 500);
}

TEST(cap_below_base_is_the_delay)
{
    struct zkr_retry p = load(ZKR_RETRY_EXPONENTIAL_INIT(300, 100, 0));

    assert_int_equal(zkr__retry_delay(&p, 0, 0), 100);
    assert_int_equal(zkr__retry_delay(&p, 9, 0), 100);
}

TEST(the_largest_numbers_do_not_overflow)
{
    struct zkr_retry p =
        load(ZKR_RETRY_EXPONENTIAL_INIT(UINT32_MAX - 1, UINT32_MAX, 0));

    assert_int_equal(zkr__retry_delay(&p, 0, 0), UINT32_MAX - 1);
    assert_int_equal(zkr__retry_delay(&p, 1, 0), UINT32_MAX);
    assert_int_equal(zkr__retry_delay(&p, UINT32_MAX, 0), UINT32_MAX);
    assert_in_range(zkr__retry_delay(&p, 1, UINT64_MAX), UINT32_MAX / 2,
                    UINT32_MAX);
}

/* Every delay between half and the whole is drawn, and no other. */
TEST(jitter_is_between_half_and_whole)
{
    struct zkr_retry p = load(ZKR_RETRY_EXPONENTIAL_INIT(25, 25, 0));
    uint64_t random = UINT64_C(0xbead);
    unsigned seen[26] = { 0 };

    for (size_t i = 0; i < 10000; i++) {
        uint32_t delay = zkr__retry_delay(&p, 0, unit_random(&random));

        assert_in_range(delay, 13, 25);
        seen[delay]++;
    }
    for (size_t i = 13; i <= 25; i++)
        assert_true(seen[i] > 500); /* 769 on average */
}

TEST(shortest_delay_is_never_zero)
{
    struct zkr_retry p = load(ZKR_RETRY_EXPONENTIAL_INIT(1, 1, 0));

    for (uint64_t random = 0; random < 10; random++)
        assert_int_equal(zkr__retry_delay(&p, 0, random), 1);
}

TEST(retries_are_counted_after_the_first_attempt)
{
    struct zkr_retry p = load(ZKR_RETRY_N_TIMES_INIT(3, 50));
    uint32_t delay = 0;

    for (uint32_t retries = 0; retries < 3; retries++) {
        assert_true(zkr__retry_next(&p, retries, 0, 0, &delay));
        assert_int_equal(delay, 50);
    }
    delay = 77;
    assert_false(zkr__retry_next(&p, 3, 0, 0, &delay));
    assert_false(zkr__retry_next(&p, UINT32_MAX, 0, 0, &delay));
    assert_int_equal(delay, 77);
}

TEST(elapsed_time_ends_the_retries)
{
    struct zkr_retry p = load(ZKR_RETRY_UNTIL_INIT(1000, 10));
    uint32_t delay = 0;

    assert_true(zkr__retry_next(&p, 1000000, 999, 0, &delay));
    assert_int_equal(delay, 10);
    delay = 77;
    assert_false(zkr__retry_next(&p, 0, 1000, 0, &delay));
    assert_false(zkr__retry_next(&p, 0, UINT64_MAX, 0, &delay));
    assert_int_equal(delay, 77);
}

TEST(whichever_limit_comes_first_ends_the_retries)
{
    struct zkr_retry p = load((struct zkr_retry){ .kind = ZKR_RETRY_FIXED,
                                                  .base_ms = 1,
                                                  .max_retries = 5,
                                                  .max_elapsed_ms = 100 });
    uint32_t delay;

    assert_true(zkr__retry_next(&p, 4, 99, 0, &delay));
    assert_false(zkr__retry_next(&p, 5, 0, 0, &delay));
    assert_false(zkr__retry_next(&p, 0, 100, 0, &delay));
}

TEST(zero_limits_are_no_limits)
{
    struct zkr_retry p = load((struct zkr_retry){ 0 });
    uint32_t delay = 0;

    assert_true(zkr__retry_next(&p, UINT32_MAX, UINT64_MAX, 0, &delay));
    assert_int_equal(delay, 2000);
}
