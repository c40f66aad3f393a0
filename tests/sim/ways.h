/* SPDX-License-Identifier: Apache-2.0 */
/* Ways: how often claims move for the reasons that only a line gives them, so
 * that a run tells whether its schedules meet them. */
#ifndef SIM_WAYS_H
#define SIM_WAYS_H

#define WAYS 12

const char *ways_name(int way);

/* A claim has moved for that reason. */
void ways_taken(const char *why);

#endif
