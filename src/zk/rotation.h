/* SPDX-License-Identifier: Apache-2.0 */
/* The rotation of a list of servers: each in front once, the others behind. */
#pragma once

#include <stddef.h>

/* Of a server, with its port: names of DNS have up to 253 bytes. */
#define ZKR__SERVER_NAME_MAX 264

struct addrinfo;

/* Calls `fn` for each server of a list, of which `server` is the rest, with its
 * addresses, for streams; NULL: its name cannot be resolved now. Blocks for
 * name resolution. */
void zkr__servers_each(const char *servers,
                       void (*fn)(void *arg, const char *server,
                                  const struct addrinfo *addresses),
                       void *arg);

/* Returns the list with another server in front, to be freed, and how many such
 * lists there are: `number` counts modulo that. A name with several addresses
 * has a list for each of them, with that address before all names. NULL: out of
 * memory. */
char *zkr__servers_rotated(const char *servers, unsigned number,
                           size_t *ret_count);
