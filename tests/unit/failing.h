/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the n-th call of the library that may fail do so. */
#pragma once

#include <stdbool.h>

/* From now on, until failing_stop(), count calls; the one with that number,
 * from 1, and those that follow it at that distance (0: none), fail with that
 * errno. */
void failing_start(int first, int apart, int error);
/* Returns how many calls there were. */
int failing_stop(void);
/* Returns the name of the last call that has failed, or "nothing". */
const char *failing_last(void);

/* Counts the blocks of memory and the address lists that the library has not
 * freed. */
long failing_blocks(void);
/* Counts the descriptors of this process. */
int failing_descriptors(void);
