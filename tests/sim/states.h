/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of states: judges what sessions and grants report while nothing is
 * under way. */
#ifndef SIM_STATES_H
#define SIM_STATES_H

void states_reset(void);

/* To be called when every thread and every client has done what it can do at
 * this instant. */
void states_quiet(void);

#endif
