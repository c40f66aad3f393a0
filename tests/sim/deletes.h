/* Whose nodes clients delete. */
#ifndef SIM_DELETES_H
#define SIM_DELETES_H

#include "oracle.h"

void deletes_reset(void);
void deletes_committed(const struct attempt *attempts, const struct txn *txn);

#endif
