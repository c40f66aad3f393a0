/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of the harness share these: a server, an admin client of it, and
 * plain clients. */
#pragma once

#include "admin.h"
#include "recorder.h"
#include "server.h"
#include "test.h"
#include "wait.h"

enum { SOON_MS = 60000 }; /* only ends a hang */

extern struct server *server;
extern struct admin *admin;

/* The states of its session go to the recorder. */
zhandle_t *new_client(const char *hosts, int session_ms,
                      struct recorder *events);
