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

#include "base.h"
#include "zk/zk.h"

/* -- tree.c: all nodes that ever existed, as each version shows them --------
 *
 * A version is a position in the leader's log, so one tree serves every
 * replica, however far behind, and also transactions that are only proposed. */

#define TREE_NEVER INT64_MAX
#define NO_SESSION (-1)

struct node_data {
    struct node_data *older;
    int64_t version;
    int32_t number; /* what ZooKeeper calls the version of a node */
    const char *bytes;
    size_t len;
};

/* The client that deleted it. */
enum cause {
    BY_CLIENT,   /* that has the session which made it */
    BY_OPERATOR, /* or any other client */
    BY_CLOSE,    /* the client ended its session */
    BY_KILL,     /* an operator ended the session */
    BY_EXPIRY,
};

struct node {
    struct node *next; /* in its bucket */
    struct node *next_sibling;
    struct node *children; /* of all times, youngest first */
    struct node *parent;
    const char *path;
    const char *name;
    uint32_t hash;
    int64_t created; /* the version that has it first */
    int64_t deleted; /* the version that does not have it any more */
    int64_t czxid;
    enum cause cause;
    int session; /* the session that owns it, or NO_SESSION */
    bool container;
    int haunts; /* 1 + the replica that keeps it when its session ends; or 0 */
    struct node_data *data;
    int32_t cversion;          /* the creates that are committed */
    int32_t cversion_proposed; /* those that are proposed */
    int proposed;              /* creates of children under way; 0: none */
    int32_t in_parent;         /* cversion of the parent after our create */
};

extern struct node *tree_root;
void tree_reset(void);

/* Returns NULL when that version does not have it. */
struct node *tree_find(const char *path, int64_t version);
bool tree_has(const struct node *n, int64_t version);
/* The same for a replica, which may have kept it. */
bool tree_shows(const struct node *n, int replica, int64_t version);
struct node *tree_find_shown(const char *path, int replica, int64_t version);
size_t tree_count_children(const struct node *n, int64_t version); /* or NULL */
const struct node_data *tree_data(const struct node *n, int64_t version);

struct node *tree_create(struct node *parent, const char *path, int64_t version,
                         int64_t czxid);
void tree_set(struct node *n, int64_t version, const char *data, size_t len);

/* Discards the versions after this one. */
void tree_truncate(int64_t version);

/* Returns the node after that one (NULL: the first), of all times, or NULL. */
struct node *tree_after(const struct node *n);

/* -- the replicas ---------------------------------------------------------- */

#define REPLICAS     3 /* that vote */
#define OBSERVER     REPLICAS
#define PLACES       (REPLICAS + 1)
#define SESSIONS_MAX 256
#define NO_REPLICA   (-1)
#define LOG_MAX      8192

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

enum role {
    LOOKING, /* it looks for a leader, and serves nobody */
    LEADING,
    FOLLOWING,
    OBSERVING,
    DOWN,
};

struct replica {
    enum role role;
    int64_t applied; /* the version that it shows */
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
    int places; /* without the observer, or with it */
    int64_t tick;
    int64_t sync_limit;
    int64_t gap; /* leases assume that pings come at this interval */
    int64_t pinged;
    int64_t late_at;
    int leader;       /* or NO_REPLICA */
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
    int64_t pass; /* many sessions run out together: the leader closes each that
                   * long after it has found that it has run out */
};

extern struct ensemble ensemble;
extern struct txn ensemble_log[LOG_MAX]; /* from 1 */

static inline bool is_there(const struct node *n)
{
    return tree_has(n, ensemble.committed);
}

static inline struct pipe *pipe_of(int from, int to)
{
    return &ensemble.links[from][to].pipe;
}

void ensemble_reset(int64_t tick, int64_t sync_limit, int64_t gap);
/* There is an observer, too. */
void ensemble_observe(void);
int ensemble_new_session(int process, int64_t timeout);

/* Returns the timeout that a replica grants when it is asked for this one. */
int64_t ensemble_grants(int replica, int64_t timeout);

bool ensemble_serves(int replica);

/* From frontend.c: a write, sync, session or operator's request somewhere. */
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
void ensemble_kill_session(int session);

/* -- between the files of the ensemble ------------------------------------- */

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

/* -- acls.c: what an operator does not permit ------------------------------ */

extern struct acls {
    bool strict; /* EXISTS needs READ, as with servers since ZOOKEEPER-2590 */
    int denials; /* so far in this schedule */
} acls;

/* Denies a permission on all nodes of that depth (the root is 0), for the
 * sessions of one process, or of all (-1). When it is over, an operator ends
 * the sessions that were refused something and may have left nodes. */
void acls_deny(uint32_t permissions, int depth, int process, int64_t duration);

/* `leaves`: a client that is refused it may leave a node. */
bool acls_permit(int session, const struct node *n, uint32_t permission,
                 bool leaves);
/* Returns the permissions of everybody on it. */
uint32_t acls_anyone(const struct node *n);
