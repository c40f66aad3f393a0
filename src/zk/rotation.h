/* SPDX-License-Identifier: Apache-2.0 */
/* The rotation of a list of servers: each in front once, the others behind. */
#ifndef ZKR__ROTATION_H
#define ZKR__ROTATION_H

#include <stddef.h>

struct addrinfo;

/* `server` is "host:port". Returns NULL when the name cannot be resolved now;
 * else the caller frees the addresses, for streams. */
struct addrinfo *zkr__resolve(const char *server);

/* Returns the list with another server in front, to be freed, and how many such
 * lists there are: `number` counts modulo that. A name with several addresses
 * has a list for each of them, with that address before all names. NULL: out of
 * memory. Blocks for name resolution. */
char *zkr__servers_rotated(const char *servers, unsigned number,
                           size_t *ret_count);

#endif
