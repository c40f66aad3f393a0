/* SPDX-License-Identifier: Apache-2.0 */
/* Users who count, and who wait at a barrier; and the oracle of both, which
 * judges by the committed transactions. */
#ifndef SIM_GATHERS_H
#define SIM_GATHERS_H

#include "ensemble.h"
#include "world.h"

void gathers_reset(void);

/* A user adds to the counter, or sets the barrier, removes it, or waits. */
void user_gathers(struct process *p);

void gathers_committed(const struct txn *txn);
void gathers_end(void);

#endif
