/* Making a server believe that a directory has seen many children. */
#ifndef TEST_SEED_H
#define TEST_SEED_H

#include <stdint.h>

#include "server.h"

/* Append a transaction to the log of a server that has been killed: the
 * creation of the persistent node `child`, which takes the counter of its
 * parent to `counter`. `zxid` must be above the last that the server had. When
 * it has been restarted, the next sequential child gets about that number.
 * 0, or -1. */
int seed_sequence(const struct server *s, int64_t zxid, const char *child,
                  int32_t counter);

/* The last transaction of a running server; -1 on failure. */
int64_t seed_last_zxid(const struct server *s);

#endif
