/* SPDX-License-Identifier: Apache-2.0 */
/* The client's log level, of which the process has one: it is raised while the
 * library must see each connection, and then restored.
 *
 * While it is raised, handles of the program that have no log callback print
 * more, too; so it is raised as seldom as possible. A level that the program
 * sets meanwhile stays, unless it is lower than needed. The gate (zk_gate.h) is
 * the lock for all of this: callers shut it first. */
#ifndef ZKR__ZK_LEVEL_H
#define ZKR__ZK_LEVEL_H

/* As long as a caller holds it, the client logs INFO, so that each connection
 * is seen at the gate. */
void zkr__level_hold(void);
void zkr__level_let_go(void);

#endif
