/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP connection on which requests and answers take turns, with a time limit
 * for each answer. */
#pragma once

#include "rival.h"

#include <stddef.h>

struct wire {
    char host[HOST_SIZE];
    int port;
    int fd; /* -1: not connected */
    size_t used;
    size_t next; /* of what has arrived, how much is read */
    char buffer[8192];
};

void wire_init(struct wire *wire, const char *host, int port);
bool wire_connect(struct wire *wire, int64_t deadline_ms);
void wire_drop(struct wire *wire);

/* Connects first where needed. After false there is no connection. */
bool wire_send(struct wire *wire, const char *data, size_t len,
               int64_t deadline_ms);

/* The next line, without its end; valid until the next call. */
const char *wire_line(struct wire *wire, int64_t deadline_ms);
bool wire_bytes(struct wire *wire, char *data, size_t len, int64_t deadline_ms);
