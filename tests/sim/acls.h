/* What ACLs permit: all, but for what an operator has taken away for a while.
 */
#ifndef SIM_ACLS_H
#define SIM_ACLS_H

#include <stdbool.h>
#include <stdint.h>

#include "tree.h"
#include "zk/zk.h"

void acls_reset(void);
/* As servers are since ZOOKEEPER-2590: EXISTS asks for READ, too. Before, for
 * nothing. */
void acls_be_strict(bool it_is);

/* Of all nodes of that depth, the root being 0; for the sessions of one
 * process, or -1: of all. When it is over, an operator ends the sessions that
 * were refused something and may have left nodes. */
void acls_deny(uint32_t permissions, int depth, int process, int64_t duration);
/* Something has been denied in this schedule. */
bool acls_used(void);

/* `leaves`: who is refused it may leave a node. */
bool acls_permit(int session, const struct node *n, uint32_t permission,
                 bool leaves);
/* The node may be read by a request of that type. */
bool acls_permit_read(int session, const struct node *n,
                      enum zkr__zk_type type);
/* What everybody may do with it. */
uint32_t acls_anyone(const struct node *n);

#endif
