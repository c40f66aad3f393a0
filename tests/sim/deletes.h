/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of deletes: judges whose nodes clients delete. */
#ifndef SIM_DELETES_H
#define SIM_DELETES_H

#include "oracle.h"

void deletes_reset(void);
/* From now on a process may break that node: its path, and its token. */
void deletes_break(int process, const char *path, int64_t token);
void deletes_committed(const struct attempt *attempts, const struct txn *txn);

#endif
