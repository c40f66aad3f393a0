/* SPDX-License-Identifier: Apache-2.0 */
/* Asks whether all servers refuse a connection. It looks names up, too, which
 * the library does not do a second time: a name server may not answer, and the
 * calls of the library have deadlines. */
#ifndef COMMON_REACH_H
#define COMMON_REACH_H

#include <stdbool.h>
#include <stdint.h>

/* Returns true when each address of each server in the list refuses a
 * connection now, and false when that is not known after `timeout_ms`. A name
 * server may make it take longer. */
bool reach_all_refuse(const char *servers, int64_t timeout_ms);

#endif
