/* SPDX-License-Identifier: Apache-2.0 */
/* A plain TCP connection with time limits, for talking to a server directly. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

/* Connect to "127.0.0.1:2181" (numbers only).  Every later read and write on
 * the descriptor gives up after `timeout_ms`.  -1 on failure, with errno. */
int net_connect(const char *host_port, int timeout_ms);

/* Returns a descriptor that takes connections at a free port of 127.0.0.1, and
 * the address of that; -1 on failure, with errno. */
enum { NET_ADDRESS = 32 };
int net_listen(char host_port[static NET_ADDRESS]);

/* Send all bytes in one call; false on error or time-out. */
bool net_send(int fd, const void *bytes, size_t size);

/* Read until the other side hangs up and keep the first `size` bytes.  The
 * number kept, or -1 on time-out. */
ssize_t net_receive(int fd, void *bytes, size_t size);
