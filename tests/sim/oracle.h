/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle: judges the library's promises by the transactions that the leader
 * has committed. */
#pragma once

#include "ensemble.h"
#include "world.h"

/* One acquire, as the user sees it. */
struct attempt {
    struct attempt *next;
    int number;
    int process;
    bool shared;
    bool only_mutexes; /* it waits for no reader, and for no writer */
    int64_t asked;
    bool idle;        /* its session, when it was asked */
    int64_t stopped;  /* of the process, when it was asked */
    int64_t deadline; /* INT64_MAX without */
    int told;         /* how often */
    int rc;
    zkr_grant *grant; /* until it is given back */
    zkr_grant *downgrading;
    const struct node *node;
    int64_t token;
    uint64_t handoff;
    int64_t granted;  /* when it was told so; or 0 */
    int64_t gone_at;  /* its node; or 0 */
    int64_t promised; /* the latest zkr_grant_valid_until() that was seen */
    int64_t sure_at;  /* when it was last seen to be HELD */
    struct attempt *beside;
    bool over;    /* given back */
    bool upgrade; /* grants for which its thread may have to wait for itself */
};

/* Returns the node that was committed at any time, or NULL. A czxid of 0 is
 * any. */
const struct node *oracle_node(const char *path, int64_t czxid);
/* A fair and an unfair lock on the same path know nothing of each other. */
bool oracle_is_one_lock(const struct node *a, const struct node *b);
/* Is it a lease of a semaphore? Several are held at once. */
bool oracle_is_lease(const struct node *n);
/* Tells whether somebody has written that after a version. */
bool oracle_was_written(const char *path, const char *data, int64_t after);

struct attempt *oracle_asked(int process, bool shared, int64_t timeout_ms);
void oracle_told(struct attempt *a, int rc, zkr_grant *grant);
/* It was granted the node of another in its process, just now. */
void oracle_handed_on(const struct attempt *a);
/* zkr_grant_check() has returned this. */
void oracle_checked(struct attempt *a, int rc);
/* The user gives it back, or does not need it any more. */
void oracle_over(struct attempt *a);
void oracle_over_with(const zkr_grant *grant);

/* Tells whether it would wait for that node, if it was ahead. */
bool oracle_heeds(const struct attempt *a, const struct node *n);
/* Tells whether the node of this attempt, which is over, has been handed on to
 * another in its process. */
bool oracle_is_handed_on(const struct attempt *a);

/* It has been well, and connected, for a session timeout since then. */
bool oracle_is_well(int process, int64_t since);

/* zkr_grant_verify() has confirmed it; it was called when the clients had sent
 * so many requests. */
void oracle_verified(const struct attempt *a, uint64_t requests);

/* The client is given a request, by a process whose session has that number. */
void oracle_sent(const struct request *r, int session);
void oracle_committed(int64_t version, const struct txn *txn);
/* To be called after every event. */
void oracle_step(void);
/* Acquires whose grant has not been given back. */
void oracle_each_grant(void (*fn)(struct attempt *a));

/* Returns the lock nodes that exist; there must be none at the end. */
int oracle_nodes_left(bool print);
void oracle_end(void);

/* A call of a process that begins now must not take longer than this. */
struct call {
    int process;
    int64_t began;
    int64_t stopped; /* for how long the process had been */
};
struct call oracle_begins(int process);
void oracle_in_time(const char *what, const struct call *call, int64_t limit);

/* -- deletes.c: whose nodes clients delete --------------------------------- */

/* From now on a process may break that node: its path, and its token. */
void deletes_break(int process, const char *path, int64_t token);
bool deletes_may_break(int process, const char *path);
void deletes_committed(const struct attempt *attempts, const struct txn *txn);

/* -- states.c: what sessions and grants report while nothing is under way -- */

/* To be called when every thread and every client has done what it can do at
 * this instant. */
void states_quiet(void);
