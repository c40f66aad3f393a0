/* SPDX-License-Identifier: Apache-2.0 */
/* The nemesis has the clients of a soak, as processes; it injects faults, and
 * measures how long the locks take to recover. */
#pragma once

#include "admin.h"
#include "cluster.h"
#include "proxy.h"
#include "records.h"

enum { KINDS_MAX = 32 };

/* The fault that is under way. */
struct stroke {
    struct cast cast;
    int host; /* the server that it hits, if it hits one */
    int workers[WORKERS];
    int count;    /* the number of clients that it hits */
    bool in_vain; /* it had no effect */
};

struct nemesis {
    struct proxy *proxy;
    struct admin *admin;
    const char *scratch; /* the directory with the logs of the servers */
    int8_t *days_of;     /* of processes: see WALL_CLOCK_FILE */
    int journal;
    struct stroke stroke;

    /* The clients. */
    const char *program;
    const char *dir;
    const char *hosts[2]; /* of clients with even and odd numbers */
    bool trusting;        /* the negative control */
    struct board *board;
    pid_t pids[WORKERS];
    int generations[WORKERS]; /* how many have been started */

    /* The work so far. */
    int64_t began_ms;
    int counts[KINDS_MAX];
    long creates_swallowed;
    long deletes_swallowed;
    long throttled;  /* requests */
    int *recoveries; /* ms, one for each fault and lock */
    size_t recovery_count;
    int stuck;   /* locks that nobody was granted in LONGEST_MS */
    bool broken; /* the servers, or a client, do not come back */
    int rounds;
};

/* The kinds of faults. */
enum hit { NONE, LEADER, FOLLOWER, ANY }; /* the server that a fault is for */

struct fault {
    const char *name;
    int per_round;
    enum hit hit;
    int least_ms, most_ms; /* from strike to heal, at random */
    void (*strike)(struct nemesis *n);
    void (*heal)(struct nemesis *n); /* NULL: there is nothing to heal */
};

extern const struct fault faults[];
extern const int fault_count; /* up to KINDS_MAX */

/* A line in the journal of the test: see records.h. */
void nemesis_note(const struct nemesis *n, char kind, int64_t a, int64_t b);

/* The number of a kind; -1 for none. */
int nemesis_find(const char *name);

/* All kinds, shuffled, each once or as often as it should come in one round: up
 * to ROUND_MAX. */
enum { ROUND_MAX = 128 };
int nemesis_round(bool once, int kinds[static ROUND_MAX]);

/* Inject one, heal it, and wait until every lock has been granted again. */
void nemesis_strike(struct nemesis *n, int kind);

/* Wait until each lock has been granted to somebody. */
bool nemesis_wait_granted(struct nemesis *n);

/* Start a client, maybe anew; `broken` tells when that fails. */
void client_start(struct nemesis *n, int worker);

/* Let the clients come to their end. Kills those that have not ended after a
 * while, and returns their number. */
int clients_finish(struct nemesis *n);
