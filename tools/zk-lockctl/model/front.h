/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which contenders of a lock begin to hold when others have come or gone.
 *
 * The rule is that of roster.h, and only those are shown to it whose turn it
 * may be: a queue may be long, and may change often. */
#pragma once

#include "model/past.h"

typedef void hold_fn(struct stay *stay, void *user);

/* Calls `fn` for each that holds and has not held before. False: out of
 * memory. */
bool front_settle(struct past *past, hold_fn *fn, void *user);
