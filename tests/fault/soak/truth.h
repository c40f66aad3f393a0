/* SPDX-License-Identifier: Apache-2.0 */
/* The truth: merges the transaction logs of all servers, which show what really
 * happened to the nodes. */
#pragma once

#include "history.h"
#include "soak.h"

struct truth {
    struct history locks[LOCKS];
    long transactions; /* transactions on nodes of locks, and on sessions */
    long disputed;     /* in the log of only one server, so not believed */
};

/* A transaction is believed when two of the three have it: what a leader wrote
 * before it was cut off may never have been committed. The clocks of servers
 * may have been set by days meanwhile; `near_ms` is CLOCK_REALTIME of some time
 * in the last half day. False when a log cannot be read. */
bool truth_read(struct server *const *servers, int count, int64_t near_ms,
                struct truth *ret);
void truth_free(struct truth *t);
