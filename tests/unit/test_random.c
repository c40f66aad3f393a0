/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of random numbers: UUIDs of version 4, no bit that never changes. */
#include "base/random.h"
#include "unit.h"

enum { UUIDS = 100000 };

static char uuids[UUIDS][ZKR__UUID_LEN + 1];

static int draw_uuids(void)
{
    for (size_t i = 0; i < UUIDS; i++)
        zkr__random_uuid(uuids[i]);
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_fixed(size_t place)
{
    return place == 8 || place == 13 || place == 14 || place == 18 ||
           place == 19 || place == 23;
}

/* 8-4-4-4-12 lower-case digits; version 4, variant 10. */
TEST(uuid_is_canonical_version_4)
{
    for (size_t i = 0; i < UUIDS; i++) {
        assert_int_equal(strlen(uuids[i]), ZKR__UUID_LEN);
        for (size_t j = 0; j < ZKR__UUID_LEN; j++) {
            const char *allowed = j == 8 || j == 13 || j == 18 || j == 23 ? "-"
                                  : j == 14                               ? "4"
                                  : j == 19 ? "89ab"
                                            : "0123456789abcdef";

            assert_non_null(strchr(allowed, uuids[i][j]));
        }
    }
}

/* Chance of a false alarm: 32 * 16 * (15/16)^100000, which is none. */
TEST(every_digit_takes_every_value)
{
    static const char digits[] = "0123456789abcdef-";

    for (size_t j = 0; j < ZKR__UUID_LEN; j++) {
        unsigned values = 0;
        unsigned seen = 0;

        for (size_t i = 0; i < UUIDS; i++)
            values |= 1u << (strchr(digits, uuids[i][j]) - digits);
        for (; values != 0; values &= values - 1)
            seen++;
        assert_int_equal(seen, j == 19 ? 4 : is_fixed(j) ? 1 : 16);
    }
}

/* Every byte is random, and appears in one place only. */
TEST(no_two_digits_are_always_equal)
{
    for (size_t j = 0; j < ZKR__UUID_LEN; j++) {
        for (size_t k = j + 1; k < ZKR__UUID_LEN; k++) {
            size_t i = 0;

            while (i < UUIDS && uuids[i][j] == uuids[i][k])
                i++;
            if (i == UUIDS && !is_fixed(j) && !is_fixed(k))
                fail_msg("digits %zu and %zu are the same", j, k);
        }
    }
}

TEST(uuids_are_unique)
{
    qsort(uuids, UUIDS, sizeof(uuids[0]), by_text);
    for (size_t i = 1; i < UUIDS; i++)
        assert_string_not_equal(uuids[i - 1], uuids[i]);
}

TEST(every_bit_of_a_number_changes_and_none_is_repeated)
{
    uint64_t ones = 0, zeros = 0, last = zkr__random();

    for (size_t i = 0; i < 1000; i++) {
        uint64_t value = zkr__random();

        assert_int_not_equal(value, last);
        last = value;
        ones |= value;
        zeros |= ~value;
    }
    assert_int_equal(ones, UINT64_MAX);
    assert_int_equal(zeros, UINT64_MAX);
}

int main(void)
{
    return test_run_between(draw_uuids, NULL);
}
