/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of retry policies: which delays, how many, until when. */
#include "session/retry.h"
#include "unit.h"

static struct zkr_retry load(struct zkr_retry policy)
{
    ok(zkr__retry_load(&policy));
    return policy;
}

static void assert_refused(struct zkr_retry policy, const char *why)
{
    tells(zkr__retry_load(&policy), ZKR_EINVAL, "retry policy");
    assert_has(zkr_error_detail(), why);
}

static void loads_as(struct zkr_retry policy, struct zkr_retry expected)
{
    policy = load(policy);
    assert_memory_equal(&policy, &expected, sizeof(policy));
    policy = load(policy); /* nothing is changed then */
    assert_memory_equal(&policy, &expected, sizeof(policy));
}

TEST(each_policy_keeps_what_is_set)
{
    loads_as((struct zkr_retry){ 0 },
             (struct zkr_retry){ ZKR_RETRY_EXPONENTIAL, 20, 2000, 0, 0 });
    loads_as((struct zkr_retry){ ZKR_RETRY_DEFAULT, 5, 7, 8, 9 },
             (struct zkr_retry){ ZKR_RETRY_EXPONENTIAL, 5, 7, 8, 9 });
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

TEST(policy_without_a_pause_or_of_unknown_kind_is_refused)
{
    assert_refused((struct zkr_retry){ .kind = ZKR_RETRY_FIXED }, "base_ms");
    assert_refused(
        (struct zkr_retry){ .kind = ZKR_RETRY_EXPONENTIAL, .cap_ms = 100 },
        "base_ms");
    assert_refused((struct zkr_retry){ .kind = 4, .base_ms = 1 }, "kind is 4");
    assert_refused((struct zkr_retry){ .kind = UINT32_MAX, .base_ms = 1 },
                   "kind is 4294967295");
}

TEST(delays_grow_up_to_the_cap)
{
    const struct {
        struct zkr_retry policy;
        uint32_t retries, delay;
    } rows[] = {
        /* A lock node that may exist is deleted whatever the policy says. */
        { ZKR_RETRY_NONE_INIT, 0, 20 },
        { ZKR_RETRY_NONE_INIT, 1, 40 },
        { ZKR_RETRY_NONE_INIT, 1000, 2000 },
        { { .kind = ZKR_RETRY_NONE, .base_ms = 5 }, 0, 5 },
        { ZKR_RETRY_FOREVER_INIT(5000), 0, 5000 }, /* no cap */
        { ZKR_RETRY_FOREVER_INIT(5000), 99, 5000 },
        { ZKR_RETRY_EXPONENTIAL_INIT(20, 500, 0), 0, 20 },
        { ZKR_RETRY_EXPONENTIAL_INIT(20, 500, 0), 1, 40 },
        { ZKR_RETRY_EXPONENTIAL_INIT(20, 500, 0), 2, 80 },
        { ZKR_RETRY_EXPONENTIAL_INIT(20, 500, 0), 3, 160 },
        { ZKR_RETRY_EXPONENTIAL_INIT(20, 500, 0), 4, 320 },
        { ZKR_RETRY_EXPONENTIAL_INIT(20, 500, 0), 5, 500 },
        { ZKR_RETRY_EXPONENTIAL_INIT(20, 500, 0), 6, 500 },
        { ZKR_RETRY_EXPONENTIAL_INIT(20, 500, 0), UINT32_MAX, 500 },
        { ZKR_RETRY_EXPONENTIAL_INIT(300, 100, 0), 0, 100 },
        { ZKR_RETRY_EXPONENTIAL_INIT(300, 100, 0), 9, 100 },
        { ZKR_RETRY_EXPONENTIAL_INIT(UINT32_MAX - 1, UINT32_MAX, 0), 0,
          UINT32_MAX - 1 },
        { ZKR_RETRY_EXPONENTIAL_INIT(UINT32_MAX - 1, UINT32_MAX, 0), 1,
          UINT32_MAX },
        { ZKR_RETRY_EXPONENTIAL_INIT(UINT32_MAX - 1, UINT32_MAX, 0), UINT32_MAX,
          UINT32_MAX },
        { ZKR_RETRY_EXPONENTIAL_INIT(1, 1, 0), 0, 1 }, /* never zero */
    };
    uint64_t random = UINT64_C(0xfeed);

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct zkr_retry p = load(rows[i].policy);
        uint32_t delay = rows[i].delay,
                 least = p.kind == ZKR_RETRY_FIXED ? delay : (delay + 1) / 2;

        assert_int_equal(zkr__retry_delay(&p, rows[i].retries, 0), delay);
        for (int j = 0; j < 100; j++)
            assert_in_range(
                zkr__retry_delay(&p, rows[i].retries, unit_random(&random)),
                least, delay);
        assert_in_range(zkr__retry_delay(&p, rows[i].retries, UINT64_MAX),
                        least, delay);
    }
}

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

TEST(limits_end_the_retries)
{
    const struct {
        struct zkr_retry policy;
        uint32_t retries;
        uint64_t elapsed_ms;
        uint32_t delay; /* 0: it is over */
    } rows[] = {
        { ZKR_RETRY_NONE_INIT, 0, 0, 0 },
        { ZKR_RETRY_N_TIMES_INIT(3, 50), 0, 0, 50 },
        { ZKR_RETRY_N_TIMES_INIT(3, 50), 1, 0, 50 },
        { ZKR_RETRY_N_TIMES_INIT(3, 50), 2, 0, 50 },
        { ZKR_RETRY_N_TIMES_INIT(3, 50), 3, 0, 0 },
        { ZKR_RETRY_N_TIMES_INIT(3, 50), UINT32_MAX, 0, 0 },
        { ZKR_RETRY_UNTIL_INIT(1000, 10), 1000000, 999, 10 },
        { ZKR_RETRY_UNTIL_INIT(1000, 10), 0, 1000, 0 },
        { ZKR_RETRY_UNTIL_INIT(1000, 10), 0, UINT64_MAX, 0 },
        { { ZKR_RETRY_FIXED, 1, 0, 5, 100 }, 4, 99, 1 }, /* the first of both */
        { { ZKR_RETRY_FIXED, 1, 0, 5, 100 }, 5, 0, 0 },
        { { ZKR_RETRY_FIXED, 1, 0, 5, 100 }, 0, 100, 0 },
        { { 0 }, UINT32_MAX, UINT64_MAX, 2000 }, /* zero is no limit */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct zkr_retry p = load(rows[i].policy);
        uint32_t delay = 77;
        bool goes_on =
            zkr__retry_next(&p, rows[i].retries, rows[i].elapsed_ms, 0, &delay);

        assert_int_equal(goes_on, rows[i].delay != 0);
        assert_int_equal(delay, goes_on ? rows[i].delay : 77);
    }
}
