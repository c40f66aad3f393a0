/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of numbers as the data of a node: those of Java, byte for byte, and
 * nothing else. */
#include "protocol/number.h"
#include "unit.h"

struct row {
    int64_t number;
    size_t size;
    const char *data;
};

static const struct row rows[] = {
    { 0, 8, "\0\0\0\0\0\0\0\0" },
    { 7, 4, "\0\0\0\7" },
    { -1, 4, "\xff\xff\xff\xff" },
    { -1, 8, "\xff\xff\xff\xff\xff\xff\xff\xff" },
    { INT32_MAX, 4, "\x7f\xff\xff\xff" },
    { INT32_MIN, 4, "\x80\0\0\0" },
    { INT64_C(0x0102030405060708), 8, "\1\2\3\4\5\6\7\x8" },
    { INT64_MAX, 8, "\x7f\xff\xff\xff\xff\xff\xff\xff" },
    { INT64_MIN, 8, "\x80\0\0\0\0\0\0\0" },
};

TEST(numbers_are_those_of_java)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char data[ZKR__NUMBER_MAX];
        int64_t number = 1;

        zkr__number_format(data, rows[i].number, rows[i].size);
        assert_memory_equal(data, rows[i].data, rows[i].size);
        assert_true(
            zkr__number_parse(data, rows[i].size, rows[i].size, &number));
        assert_true(number == rows[i].number);
    }
}

TEST(other_lengths_are_no_numbers)
{
    const char data[16] = { 1 };
    int64_t number = 5;

    for (size_t len = 1; len < sizeof(data); len++) {
        assert_int_equal(zkr__number_parse(data, len, 8, &number), len == 8);
        assert_int_equal(zkr__number_parse(data, len, 4, &number), len == 4);
    }
    assert_true(zkr__number_parse(NULL, 0, 8, &number));
    assert_true(number == 0);
}

TEST(four_bytes_hold_32_bits)
{
    assert_true(zkr__number_fits(INT64_MIN, 8));
    assert_true(zkr__number_fits(INT32_MAX, 4));
    assert_true(zkr__number_fits(INT32_MIN, 4));
    assert_false(zkr__number_fits(INT64_C(1) + INT32_MAX, 4));
    assert_false(zkr__number_fits(INT64_C(-1) + INT32_MIN, 4));
}
