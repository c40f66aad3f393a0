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

#endif
