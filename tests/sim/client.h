/* The simulated client: what libzookeeper_mt does, behind the seam zk.h. */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "frontend.h"

void clients_reset(void);
void client_on_message(void *client, struct conn *c, const struct message *m);

/* A process goes on after it stood still. */
void clients_resume(int process);

/* Completion threads that have something to tell, as fibers_ready(). */
int clients_ready(void);
void clients_run(int which);

int clients_open(void);

/* How many requests they have been given, and how many answers of servers the
 * library in a process has been given. */
uint64_t clients_requests(void);
uint64_t client_answers(int process);

/* What the client of a process has told the library. */
enum client_knows {
    CLIENT_IS_AWAY, /* there is none now, or it has still to tell something */
    CLIENT_CONNECTS,
    CLIENT_IS_CONNECTED,
    CLIENT_IS_EXPIRED,
};
enum client_knows client_knows(int process);
/* Since when it is connected, and to whom; or NO_REPLICA. */
int64_t client_connected_since(int process);
int client_replica(int process);

#endif
