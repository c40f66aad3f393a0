/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a server believe that a directory has had many children. */
#pragma once

#include "server.h"

/* Append a transaction to the log of a server that has been killed: the
 * creation of the persistent node `child`, which takes the counter of its
 * parent to `counter`. `zxid` is the next, or one of a later epoch; servers
 * since 3.9.5 refuse to start with a gap. When it has been restarted, the next
 * sequential child gets about that number. 0, or -1. */
int seed_sequence(const struct server *s, int64_t zxid, const char *child,
                  int32_t counter);

/* Returns the zxid after the last one in the log of a server that has been
 * killed, or 0 when the log cannot be read. */
int64_t seed_next_zxid(const struct server *s);

/* Returns the last zxid of a running server, or -1 on failure. */
int64_t seed_last_zxid(const struct server *s);
