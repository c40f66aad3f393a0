/* SPDX-License-Identifier: Apache-2.0 */
/* Members, inside the ensemble: which replica leads, which follow, and how they
 * exchange messages. */
#pragma once

#include "ensemble.h"
#include "pipe.h"

#define LOG_MAX 8192

enum role {
    LOOKING, /* it looks for a leader, and serves nobody */
    LEADING,
    FOLLOWING,
    OBSERVING,
    DOWN,
};

struct replica {
    enum role role;
    int64_t applied; /* versions */
    int64_t logged;  /* versions that would survive with this replica */
    int64_t acked;   /* versions that it has, as the leader knows */
    bool touched[SESSIONS_MAX]; /* their clients have sent something */
    uint32_t joins; /* how often it has found a leader, or become one */
    int paused;
    int64_t least; /* timeouts of sessions that it grants; 0: any */
    int64_t most;
    bool proposes; /* deserted: something waits for a majority, for ever */
    int64_t late;  /* deserted: a majority has this version, and it will hear of
                    * it later */
    int leader;    /* of the observer */
};

enum { /* messages between replicas */
       PROPOSAL,
       COMMIT,
       PING,
       SYNCED,
       REVALIDATED,
       FORWARD,
       ACK,
       PONG,
};

struct link {
    int from;
    int to;
    struct pipe pipe;
};

struct sync {
    struct sync *next;
    struct request *request;
    int64_t version;
};

struct ensemble {
    int64_t tick;
    int64_t sync_limit;
    int64_t gap; /* leases assume that pings come at this interval */
    int64_t pinged;
    int64_t late_at;
    int leader;
    int64_t deserted; /* until this time a leader did not know of the next */
    uint32_t epoch;
    uint32_t counter; /* of the epoch's transactions */
    int64_t log_len;
    int64_t committed;
    struct replica replicas[PLACES];
    struct link links[PLACES][PLACES];
    struct sync *syncs;
    struct sync *late_syncs; /* of the observer, at a deserted leader */
    struct session sessions[SESSIONS_MAX];
    int session_count;
    int64_t pass; /* of the leader through the sessions that have run out */
};

extern struct ensemble ensemble;
extern struct txn ensemble_log[LOG_MAX]; /* from 1 */

/* A leader that was deserted hears that a majority had it by then. */
void deserted_commit(int number);
void replica_apply(int number, int64_t version);
void leader_send(int kind, int64_t number, void *body);
void leader_commit(void);

/* members.c */
void members_elect(void);

/* prepare.c: the leader's side of requests and sessions. */

/* Makes a transaction of a request, and proposes it. */
void leader_prepare(struct request *r);
/* It is committed. */
void txn_committed(int64_t version);
void session_touch(int session);
/* A new leader knows nothing of who is alive. */
void sessions_begin(void);
/* The leader is about to stop: it closes what it has polled before. */
void sessions_close_polled(void);
