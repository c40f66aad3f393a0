/* What ACLs permit: all, but for what an operator has taken away for a while.
 */
#ifndef SIM_ACLS_H
#define SIM_ACLS_H

#include <stdbool.h>
#include <stdint.h>

#include "tree.h"

void acls_reset(void);

/* Of all nodes of that depth, the root being 0; for the sessions of one
 * process, or -1: of all. When it is over, an operator ends the sessions that
 * were refused something and may have left nodes. */
void acls_deny(uint32_t permissions, int depth, int process, int64_t duration);
/* Something has been denied in this schedule. */
bool acls_used(void);

/* `leaves`: who is refused it may leave a node. */
bool acls_permit(int session, const struct node *n, uint32_t permission,
                 bool leaves);
/* What everybody may do with it. */
uint32_t acls_anyone(const struct node *n);

#endif
