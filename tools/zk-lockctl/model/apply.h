/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what a transaction does to the locks of a history. */
#ifndef MODEL_APPLY_H
#define MODEL_APPLY_H

#include "model/present.h"
#include "model/transaction.h"

/* All of it is one moment: who holds is told when it is over. False: a part of
 * it is not known. */
bool apply_txn(struct present *present, const struct txn *txn);

#endif
