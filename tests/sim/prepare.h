/* SPDX-License-Identifier: Apache-2.0 */
/* The leader's side of requests and sessions. */
#ifndef SIM_PREPARE_H
#define SIM_PREPARE_H

#include "ensemble.h"

/* Make a transaction of a request, and propose it. */
void leader_prepare(struct request *r);
/* It is committed. */
void txn_committed(int64_t version);

void session_touch(int session);
/* A new leader knows nothing of who is alive. */
void sessions_begin(void);
/* The leader is about to stop: it closes what it has polled before. */
void sessions_close_polled(void);

#endif
