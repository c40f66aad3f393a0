/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that server.c shares with the files that start several servers:
 * ensemble.c, and cluster.c of the fault tests. */
#pragma once

#include "server.h"

enum {
    /* A server uses so many ports in a row: client, quorum, election, TLS. */
    SERVER_PORTS = 4,
    SERVER_SECURE_PORT = 3,
    SERVER_DEADLINE_MS = 120000,
    SERVER_ATTEMPTS = 10,

    /* Further results, never seen by a test. */
    SERVER_STARTING = 100,
    SERVER_PORT_TAKEN = 101,
};

/* First of `count` ports in a row that were free a moment ago, or -1. */
int server_find_ports(int count);

/* Make the directory and the files of a server that is not yet running.
 * `id` is its number in the ensemble and `peers` the server.N lines, or 0 and
 * "" when it stands alone. */
int server_prepare(const struct server_opts *opts, int port, int id,
                   const char *peers, struct server **ret_server);

/* Start the process without waiting. */
int server_spawn(struct server *s);

/* SERVER_OK once it serves, SERVER_STARTING before, or a reason why not. */
int server_probe(struct server *s);

/* Start the process, and wait until it serves. */
int server_serve(struct server *s);

/* Say on stderr what happened to this server, and show the end of its log. */
void server_complain(const struct server *s, const char *what);

/* Tells whether `srvr` says "Mode: <mode>". */
bool server_has_mode(const struct server *s, const char *mode);
