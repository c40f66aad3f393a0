/* SPDX-License-Identifier: Apache-2.0 */
/* ACLs of the simulated ensemble: everything is permitted, except what an
 * operator has denied for a while. */
#pragma once

#include "tree.h"
#include "zk/zk.h"

/* Whether EXISTS needs READ, as with servers since ZOOKEEPER-2590. Before, it
 * needed no permission. */
void acls_be_strict(bool it_is);

/* Denies a permission on all nodes of that depth (the root is 0), for the
 * sessions of one process, or of all (-1). When it is over, an operator ends
 * the sessions that were refused something and may have left nodes. */
void acls_deny(uint32_t permissions, int depth, int process, int64_t duration);
/* Something has been denied in this schedule. */
bool acls_used(void);

/* `leaves`: a client that is refused it may leave a node. */
bool acls_permit(int session, const struct node *n, uint32_t permission,
                 bool leaves);
/* The node may be read by a request of that type. */
bool acls_permit_read(int session, const struct node *n,
                      enum zkr__zk_type type);
/* Returns the permissions of everybody on it. */
uint32_t acls_anyone(const struct node *n);
