/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the rule of the library who of some nodes contends, and who holds. */
#ifndef MODEL_ARRANGE_H
#define MODEL_ARRANGE_H

#include <stdbool.h>

#include <zkrecipes/participants.h>

/* Sets marker, kind, sequence and holds of nodes of one lock, by their name,
 * token and session, and leaves them in their order. The names of nodes of a
 * semaphore begin with "leases/" or "locks/". False: out of memory. */
bool arrange(struct zkr_participant *items, size_t count);

#endif
