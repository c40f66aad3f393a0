/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a snapshot of a server, unless that has compressed it: all nodes, as
 * they were around one moment.
 *
 * A server writes it while it goes on: the file may lack what was deleted
 * meanwhile, and have what was created; the transactions after its number put
 * that right. */
#pragma once

#include "model/wire.h"

/* A node of a server. */
struct node {
    struct bytes path; /* "" is the root */
    struct bytes data; /* cut at SNAPSHOT_DATA_MAX */
    int64_t czxid;
    int64_t ctime_ms;
    int64_t owner; /* its session; 0: none, or a node of another kind */
};
enum { SNAPSHOT_DATA_MAX = 1024 };

typedef void snapshot_fn(const struct node *node, void *user);

/* Calls `fn` for each node. NULL, or for people why the file cannot be read;
 * then what `fn` was told may be wrong. */
const char *snapshot_read(const char *file, snapshot_fn *fn, void *user);
