/* What else users do: beside acquiring and giving back. */
#ifndef SIM_USERS_H
#define SIM_USERS_H

#include "oracle.h"

/* writing.c: guarded writes, one to three. */
void user_writes(const struct process *p, const struct attempt *a,
                 zkr_grant *grant);

/* looking.c: who takes part, where locks are; asking for one, and breaking it.
 */
void user_looks_on(const struct process *p);

#endif
