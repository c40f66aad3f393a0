/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as the data of a node: Java's, the most significant byte first. */
#include "protocol/number.h"

bool zkr__number_fits(int64_t number, size_t size)
{
    return size == 8 || (number >= INT32_MIN && number <= INT32_MAX);
}

void zkr__number_format(char data[ZKR__NUMBER_MAX], int64_t number, size_t size)
{
    uint64_t bits = (uint64_t)number;

    for (size_t i = size; i > 0; i--) {
        data[i - 1] = (char)(unsigned char)bits;
        bits >>= 8;
    }
}

bool zkr__number_parse(const char *data, size_t len, size_t size,
                       int64_t *ret_number)
{
    bool negative = len > 0 && ((unsigned char)data[0] & 0x80) != 0;
    uint64_t bits = negative ? UINT64_MAX : 0;

    if (len != 0 && len != size)
        return false;
    for (size_t i = 0; i < len; i++)
        bits = bits << 8 | (unsigned char)data[i];
    *ret_number = (int64_t)bits;
    return true;
}
