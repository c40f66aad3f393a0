/* SPDX-License-Identifier: Apache-2.0 */
/* The examinations that doctor makes of one lock, each in a file. Pure. */
#ifndef MODEL_DOCTOR_PARTS_H
#define MODEL_DOCTOR_PARTS_H

#include "model/findings.h"
#include "model/server_words.h"

/* doctor_nodes.c: nodes that spoil the queue, and numbers that run out. */
void doctor_look_at_nodes(struct findings *findings, const struct lock *lock);
/* doctor_ages.c: it is held, or there is no permit, for this long. */
void doctor_look_at_ages(struct findings *findings, const struct lock *lock,
                         int64_t older_ms);
/* doctor_clients.c: holders that are not connected, and waiters that will not
 * wake up, as far as the servers tell. */
void doctor_look_at_clients(struct findings *findings, const struct lock *lock,
                            const struct servers *servers);

#endif
