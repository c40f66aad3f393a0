/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated client, which behaves as libzookeeper_mt does behind the seam
 * zk.h. */
#pragma once

#include "frontend.h"

void client_on_message(void *client, struct conn *c, const struct message *m);

/* A process goes on after it was stopped. */
void clients_resume(int process);

/* Completion threads that have an upcall to make, like fibers_ready(). */
int clients_ready(void);
void clients_run(int which);

int clients_open(void);

/* Returns how many requests the clients have received, and how many answers of
 * servers the library in a process has received. */
uint64_t clients_requests(void);
uint64_t client_answers(int process);

/* The state that the client of a process has reported to the library. */
enum client_knows {
    CLIENT_IS_AWAY, /* there is no client now, or it has still to report
                       something */
    CLIENT_CONNECTS,
    CLIENT_IS_CONNECTED,
    CLIENT_IS_EXPIRED,
};
enum client_knows client_knows(int process);
/* Returns since when it is connected, and to which replica, or NO_REPLICA. */
int64_t client_connected_since(int process);
int client_replica(int process);
