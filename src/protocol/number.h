/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as the data of a node: Java's, the most significant byte first.
 * Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZKR__NUMBER_MAX 8 /* bytes */

/* Tells whether the number fits in `size` bytes, which is 4 or 8. */
bool zkr__number_fits(int64_t number, size_t size);

/* Writes `size` bytes. The number fits. */
void zkr__number_format(char data[ZKR__NUMBER_MAX], int64_t number,
                        size_t size);

/* Returns false when the data is not a number of `size` bytes. No data is 0. */
bool zkr__number_parse(const char *data, size_t len, size_t size,
                       int64_t *ret_number);
