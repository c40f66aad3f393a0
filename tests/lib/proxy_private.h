/* SPDX-License-Identifier: Apache-2.0 */
/* Internals that the files of the proxy share.
 *
 *   proxy.c           starts and stops it, breaks the network; bytes, sockets,
 *                     and poll()
 *   proxy_requests.c  what passes, and what is done to it: rules and counts
 *
 * Bytes of one direction are read into `in`, taken frame by frame, and written
 * from `out`. */
#pragma once

#include "net.h"
#include "proxy.h"
#include "wire.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>

enum {
    CONNS_MAX = 256,
    SERVERS_MAX = 16,
    RULES_MAX = 16,
    READ_SIZE = 64 * 1024,
    FRAME_MAX = 4 * 1024 * 1024,  /* longer is taken for garbage */
    QUEUE_MAX = 16 * 1024 * 1024, /* no reading while more is waiting */

    LENGTH_SIZE = 4,
    CONNECT_ZXID = 8,    /* where in a connect frame lastZxidSeen begins */
    CONNECT_SIZE = 16,   /* a connect frame up to there */
    REQUEST_HEADER = 12, /* length, xid, type */
    REPLY_HEADER = 20,   /* length, xid, zxid, err */
    REPLY_ZXID = 8,
    CONNECT_XID = INT32_MIN, /* connect frames have none; no other has this */

    PING_OP = 11,
    AUTH_OP = 100,
    SASL_OP = 102,
    TYPE_MIN = -16,
    TYPES = 144, /* counted are TYPE_MIN to TYPE_MIN + TYPES - 1 */

    /* Places in the array for poll(); the connections follow, two each. */
    POLL_WAKE = 0,
    POLL_LISTENER = 1,
    POLL_CONNS = 2,
};

enum mode { MODE_OPEN, MODE_CUT, MODE_FROZEN };

/* A queue of bytes. */
struct bytes {
    unsigned char *data;
    size_t begin;
    size_t size;
    size_t capacity;
};

/* A whole frame, with its length in front. */
struct frame {
    const unsigned char *data;
    size_t size;
};

/* One direction of a connection. */
struct flow {
    struct bytes in;
    struct bytes out;
    bool greeted; /* the connect frame has been taken */
    bool eof;     /* nothing more to read */
    bool shut;    /* told the receiver so */
    bool held;
    size_t held_at; /* requests: so many bytes of `out` may still leave */
};

/* A request without its reply. */
struct request {
    struct request *next;
    int32_t xid;
    int32_t err;
    enum proxy_action action; /* of the rule for it, until done */
    bool awaited;             /* the rule counts in `undone` */
    bool counted;
    int64_t seen_ms;
    int percent; /* of the latency */
};

struct conn {
    int client; /* -1 when closed, as is `server` */
    int server;
    struct flow up;   /* requests */
    struct flow down; /* replies */
    struct request *first;
    int in_flight;
    int64_t zxid;    /* the last one the client knows */
    int64_t wake_ms; /* when a delayed reply may leave, or 0 */
};

struct rule {
    int32_t type;
    int nth;
    enum proxy_action action;
    int32_t err;
};

struct proxy {
    /* Of the thread, or constant. */
    pthread_t thread;
    int wake;
    int listener;
    char hosts[NET_ADDRESS];
    struct sockaddr_in servers[SERVERS_MAX];
    unsigned int server_count;
    unsigned int next_server;
    struct pollfd fds[POLL_CONNS + 2 * CONNS_MAX];

    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Everything below under lock. */
    struct conn *conns[CONNS_MAX];
    int conn_count;
    enum mode mode;
    bool stopping;
    unsigned long asked; /* number of changes of mode and the like */
    unsigned long seen;  /* number of those that the thread has seen */
    int latency_ms;
    int jitter;
    struct rule rules[RULES_MAX]; /* those that wait for their request */
    int rule_count;
    int undone; /* those, and those that wait for a reply, even in vain */
    long total;
    long counts[TYPES];
    long flights;
    int max_in_flight;
};

void *proxy_must(void *memory); /* ends the test without memory */

void bytes_add(struct bytes *b, const unsigned char *data, size_t size);
/* Skipped bytes stay readable until the next bytes_reserve(). */
void bytes_skip(struct bytes *b, size_t size);

/* Look at the frame in front: 1, 0 while it is not complete, or -1 for
 * garbage.  `least` is the size that the shortest one has. */
int frame_first(const struct bytes *b, size_t least, struct frame *ret);

/* Bytes that the client sent before go on to the server. */
void conn_drop_client(struct conn *c);

void conn_take_requests(struct proxy *p, struct conn *c);
void conn_take_replies(struct proxy *p, struct conn *c);
