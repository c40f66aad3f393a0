/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates a forked process, as far as the library can tell. */
#ifndef SIM_CHILD_H
#define SIM_CHILD_H

#include <stdbool.h>

void child_reset(void);

/* From now on we are the child, or the parent again. */
void child_pretend(bool child);

#endif
