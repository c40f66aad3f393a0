/* SPDX-License-Identifier: Apache-2.0 */
/* The number of this process: a child that was forked has another one, also
 * when its process id is the same. */
#pragma once

#include <stdbool.h>

/* Returns the number, which is not 0. An object keeps that of the process that
 * has made it. */
unsigned zkr__process_number(void);

/* Tells whether a number that an object has is that of this process. No system
 * call. */
bool zkr__process_is(unsigned number);
