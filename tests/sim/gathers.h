/* SPDX-License-Identifier: Apache-2.0 */
/* Users who count, and who wait at a barrier; and the oracle of both, which
 * judges by the committed transactions. */
#pragma once

#include "ensemble.h"
#include "world.h"

/* A user adds to the counter, or sets the barrier, removes it, or waits, or
 * wants to meet others at the double barrier. */
void user_gathers(struct process *p);

/* The result of a call of one of them must be one of those that are
 * documented. */
void gathers_check(const struct process *p, const char *what, int rc);

void gathers_committed(const struct txn *txn);
void gathers_end(void);
