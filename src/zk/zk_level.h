/* The client's log level, which is one for the process: raised while the
 * library needs more than the program has asked for, and then put back.
 *
 * While it is raised, handles of the program that have no log callback print
 * more, too; so it is raised as seldom as can be. What the program sets
 * meanwhile stands, unless it is less than is needed. All of it behind the gate
 * (zk_gate.h), shut, which is a lock as good as any. */
#ifndef ZKR__ZK_LEVEL_H
#define ZKR__ZK_LEVEL_H

/* As long as somebody holds it, INFO is logged: a connection is seen at the
 * gate then. */
void zkr__level_hold(void);
void zkr__level_let_go(void);

/* What the log hook wants: an enum zkr_log_level, or less. */
void zkr__level_want(int level);

#endif
