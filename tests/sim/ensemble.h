/* SPDX-License-Identifier: Apache-2.0 */
/* The ensemble: three replicas of one log, a leader, and its sessions; and an
 * observer, maybe, which has no vote, and may stay with a leader that the
 * others have left.
 *
 * After ZooKeeper 3.8: a write goes from its replica to the leader, becomes a
 * transaction, is committed when a majority has it, and is answered when its
 * replica has applied it. The leader knows which sessions are alive only from
 * its own clients and from its followers' answers to its pings. */
#pragma once

#include "tree.h"

#define REPLICAS     3 /* that vote */
#define OBSERVER     REPLICAS
#define PLACES       (REPLICAS + 1)
#define SESSIONS_MAX 256
#define NO_REPLICA   (-1)

struct request;

enum txn_kind {
    TXN_CREATE,
    TXN_DELETE,
    TXN_SET,
    TXN_CHECK,
    TXN_ERROR, /* refused: the ensemble agrees on that, too */
    TXN_OPEN,
    TXN_CLOSE,
};

struct txn {
    enum txn_kind kind;
    int rc;
    int64_t zxid;
    struct node *node;
    int session;
    enum cause cause;
    struct request *request; /* NULL: of the leader itself */
};

struct session {
    int process;
    int64_t timeout;
    int64_t opened; /* versions; 0: not yet */
    int64_t closed;
    enum cause cause;
    int owner;    /* the replica through which its client talks */
    int64_t used; /* when its client sent what the leader must hear of */
    /* of the leader: */
    int64_t expires;
    int64_t looked_at; /* when the leader will look whether it has expired */
    int64_t polled; /* when; it will be closed, whatever it does until then */
    bool closing;
};

void ensemble_reset(int64_t tick, int64_t sync_limit, int64_t gap);
/* The interval at which leases assume that the leader pings. */
void ensemble_assume(int64_t gap);
/* There is an observer, too. */
void ensemble_observe(void);
int ensemble_places(void);
int ensemble_new_session(int process, int64_t timeout);
struct session *ensemble_session(int session);
int ensemble_sessions(void);

/* Returns the timeout that a replica grants when it is asked for this one. */
void ensemble_bounds(int replica, int64_t least, int64_t most);
int64_t ensemble_grants(int replica, int64_t timeout);

int ensemble_leader(void);        /* or NO_REPLICA */
bool ensemble_leads(int replica); /* it, or one that others have left */
bool ensemble_serves(int replica);
int64_t ensemble_applied(int replica); /* the version that it shows */
int64_t ensemble_committed(void);
const struct txn *ensemble_txn(int64_t version);

/* From frontend.c: a write, sync, session or operator's request at a replica.
 */
void ensemble_submit(int replica, struct request *r);
/* A client of that replica has sent something. */
void ensemble_touch(int replica, int session);

/* Returns since when the leader has pinged in time, as leases assume. */
bool ensemble_pinged(int64_t since);

/* Returns since when a leader did not know that there was another. */
bool ensemble_deserted(int64_t since);

/* Faults of the ensemble. */
void ensemble_stall(int from, int to, int64_t duration);
void ensemble_isolate(int replica, int64_t detect, int64_t duration);
void ensemble_crash(int replica, int64_t duration);
void ensemble_pause(int replica, int64_t duration);
bool ensemble_paused(int replica);
void ensemble_kill_session(int session);
/* Many sessions run out together: from now on the leader closes each that long
 * after it has found that it has run out. */
void ensemble_crowd(int64_t pass);
