/* SPDX-License-Identifier: Apache-2.0 */
/* The frontend: a replica as its clients see it, with connections, requests,
 * reads and watches. */
#pragma once

#include "ensemble.h"

struct conn;

enum { /* besides enum zkr__zk_type */
       REQUEST_PING = 100,
       REQUEST_OPEN,
       REQUEST_CLOSE,
       REQUEST_REVALIDATE,
       REQUEST_WATCHES, /* those of a client that is back */
};

/* Faults of a request. */
enum fate {
    FATE_NONE,
    FATE_REFUSED,      /* by the client */
    FATE_THROTTLED,    /* refused by the server, as too much */
    FATE_REQUEST_LOST, /* the connection breaks before it */
    FATE_ANSWER_LOST,  /* the connection breaks behind it */
    FATES,
    FATE_ANSWER_HELD = FATES, /* something happens before it arrives */
};

struct watched {
    struct watched *next;
    const char *path;
    bool missing;  /* there was no node */
    bool children; /* not the node, but its children */
};

/* A check in a transaction. */
struct checked {
    const char *path;
    int32_t expected; /* version + 1; 0: any */
};

struct request {
    struct request *next;
    int type;
    enum zkr_create_mode mode;
    const char *path;
    const char *data;
    size_t data_len;
    int session;
    int replica;
    enum cause cause;
    int32_t expected;             /* version + 1; 0: any */
    int write;                    /* MULTI: the type of its last operation */
    const struct checked *checks; /* the other operations */
    int check_count;
    int failed;        /* the operation that the leader has refused; -1: none */
    struct conn *conn; /* NULL: nobody waits for the answer */
    struct watched *watched; /* REQUEST_WATCHES */
    bool wants_watch;
    bool agreed; /* by the ensemble, or not for it */
    /* the answer */
    int rc;
    int64_t version;
    const struct node *node;
    const char **names;
    size_t name_count;
    const struct node_data *value;
    int64_t mzxid;   /* of a read: when the node was written last */
    int64_t pzxid;   /* of a read: when a child came or went */
    int32_t creates; /* of a list: those in the directory so far */
    /* the client's */
    struct request *pending;
    uintptr_t id; /* 0: nobody waits for an answer */
    struct zkr__watch *watch;
    bool sent;
    enum fate fate;
    uint64_t number; /* of all that the library has asked, from 1 */
};

enum { /* messages */
       TO_SERVER_HELLO,
       TO_SERVER_REQUEST,
       TO_SERVER_FIN,
       TO_CLIENT_WELCOME, /* the number is the session */
       TO_CLIENT_EXPIRED,
       TO_CLIENT_REPLY, /* the number is the version that the replica has */
       TO_CLIENT_EVENT, /* the number is an enum watch_event */
       TO_CLIENT_RESET,
};

enum watch_event {
    NODE_CREATED,
    NODE_DELETED,
    NODE_CHANGED,
    NODE_HAS_OTHERS, /* a child has come or gone */
};

struct conn {
    struct conn *next;
    int process;
    int replica;
    int session;
    int64_t timeout;
    bool client_open;
    bool server_open;
    bool welcome;
    void *client;
    struct pipe up;
    struct pipe down;
    struct request *first;
    struct watched *watched;
};

/* The client's side. */
struct conn *server_connect(int process, int replica, void *client, int session,
                            int64_t timeout, int64_t last_seen);
void server_send(struct conn *c, struct request *r);
void server_hang_up(struct conn *c);

/* An operator does this, at the leader, if there is one. */
void operate(enum zkr__zk_type type, enum zkr_create_mode mode,
             const char *path, const char *data);
void operator_deletes(const char *path);
/* It deletes all in that directory that has this in its path. */
void operator_deletes_all(const char *dir_path, const char *part);

/* The ensemble's side. */
void server_agreed(struct request *r);
void server_applied(int replica, int64_t version, const struct txn *txn);
void server_drop_all(int replica);
void server_pause(int replica, bool pause);

/* Faults between client and server. */
enum direction {
    WAY_UP = 1,
    WAY_DOWN = 2,
};
void server_cut(int process, int replica, int directions, int64_t duration);
/* The latency between all clients and all servers: half of a round trip. */
void server_far(int64_t distance);
void server_reset_connections(int process);
void server_stop_process(int process, bool stop);
/* Faults that happen to one message in so many; 0: never. */
struct nerves {
    uint32_t throttle; /* the request is refused as too much */
    uint32_t cut;      /* the connection breaks, before or after it */
    uint32_t kill;     /* an operator ends the session */
    uint32_t stop;     /* the process stands still for a while */
    uint32_t refuse;   /* the client has no memory for it */
};
extern struct nerves nerves;

/* Faults of two requests of one process, counted from 0. */
struct fates {
    int process;
    struct {
        enum fate fate;
        uint32_t number;
    } of[2];
    uint32_t seen; /* so far, of all */
    /* what happens while an answer is held back */
    void (*meanwhile)(void *arg, uint64_t tag);
    int64_t held; /* how long it is held back */
};
extern struct fates fates;

/* -- zk_sim.c: the client, which behaves as libzookeeper_mt does ----------- */

void client_on_message(void *client, struct conn *c, const struct message *m);

/* A process goes on after it was stopped. */
void clients_resume(int process);

/* Completion threads that have an upcall to make, like fibers_ready(). */
int clients_ready(void);
void clients_run(int which);

int clients_open(void);

/* How many requests all clients have received, and how many answers of servers
 * the library in a process has received. */
extern uint64_t client_requests;
extern uint64_t client_answers[PROCESSES_MAX];

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
