/* What sessions and grants must say of themselves while nothing is under way.
 */
#ifndef SIM_STATES_H
#define SIM_STATES_H

void states_reset(void);

/* Every thread and every client has done what it can do at this instant. */
void states_quiet(void);

#endif
