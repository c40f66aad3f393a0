/* SPDX-License-Identifier: Apache-2.0 */
/* The clients of a soak, as processes. */
#pragma once

#include <sys/types.h>

#include "board.h"

struct crew {
    const char *program;
    const char *dir;
    const char *hosts[2]; /* clients with even and odd numbers */
    bool trusting;        /* the negative control */
    struct board *board;
    int log;
    pid_t pids[WORKERS];
    int generations[WORKERS]; /* how many have been started */
};

/* Start all clients, or one of them anew. False when one cannot be started. */
bool crew_start(struct crew *c);
bool crew_start_one(struct crew *c, int worker);

/* Let the clients come to their end. Kills those that have not ended after a
 * while, and returns their number. */
int crew_finish(struct crew *c);

void crew_signal(const struct crew *c, int worker, int signal);
void crew_kill(struct crew *c, int worker);

/* Choose `count` different clients; with `holders`, those that hold a lock come
 * first. */
void crew_pick(const struct crew *c, bool holders, int count, int *workers);
