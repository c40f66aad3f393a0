/* SPDX-License-Identifier: Apache-2.0 */
/* Users who enter a double barrier and leave it; and its oracle, which judges
 * by the nodes that are committed. */
#pragma once

#include "ensemble.h"
#include "world.h"

#define DOUBLE_PATH "/locks/both"

/* A user wants to meet others: from now on users come to the barrier. */
void enters_begin(void);
/* Tells whether there is a double barrier. */
bool enters_begun(void);
/* Tells whether it has fewer users than it is for. */
bool enters_wanted(void);

/* A user enters, and leaves, up to three times. */
void user_enters(struct process *p);

void enters_committed(int64_t version, const struct txn *txn);
