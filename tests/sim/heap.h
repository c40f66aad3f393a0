/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of the library: counts its allocations, and makes some fail. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* One allocation in so many fails; 0: none does. */
extern uint32_t heap_scarce;

/* The allocation with that number, counted from now, fails; 0: none does. */
void heap_refuse(uint32_t nth);
/* Tells whether that allocation has failed. */
bool heap_has_refused(void);

/* Blocks that have not been freed. */
long heap_blocks(void);
