/* SPDX-License-Identifier: Apache-2.0 */
/* The seam: the asynchronous interface to a ZooKeeper client, with everything
 * that the library asks of one.
 *
 * zk_mt.c implements it on libzookeeper_mt; the tests can put a simulated
 * ensemble in its place. Calls go down through zkr__zk_...(); answers come up
 * through the table of upcalls that a handle is opened with. For one handle
 * they come on the client's completion thread, one at a time, in the order of
 * the server. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zkrecipes/client.h>
#include <zkrecipes/session.h>

#include "zk/acl.h"

struct zkr__watch;
struct zkr_session;

#define ZKR__ZK_SERVER_MAX 64

/* One client handle: one session with the server, through all reconnects. */
struct zkr__zk;

enum zkr__zk_type {
    ZKR__ZK_CREATE,   /* path, data, mode, special or NULL */
    ZKR__ZK_DELETE,   /* path, version */
    ZKR__ZK_EXISTS,   /* path, watch or NULL */
    ZKR__ZK_GET,      /* path, watch or NULL */
    ZKR__ZK_SET,      /* path, data, version */
    ZKR__ZK_CHILDREN, /* path, watch or NULL: on the children, see below */
    ZKR__ZK_GET_ACL,  /* path: the permissions of everybody */
    ZKR__ZK_SYNC,     /* path */
    ZKR__ZK_CHECK,    /* path: a write that the quorum commits if path exists */
    ZKR__ZK_UNWATCH,  /* path, watch: forget this watch; NULL: remove all data
                       * watches of this handle on it, on the server too */
    ZKR__ZK_UNWATCH_CHILDREN, /* the same for watches on the children */
    ZKR__ZK_MULTI,            /* multi; see below */
};

#define ZKR__ZK_TYPES (ZKR__ZK_MULTI + 1)

/* A watch on the children fires when a child comes or goes, and when the node
 * goes. The others are data watches. */

/* MULTI is one transaction: the servers carry out all of its operations, in
 * their order, or none of them. An operation is CREATE (of a persistent or an
 * ephemeral node), DELETE, SET or CHECK (version), which needs the permission
 * to read. A client may be unable to take it at the moment; then it is not
 * sent. */
#define ZKR__ZK_NOT_NOW ZKR_EBUSY

/* The parts of a request that few creates have. */
struct zkr__zk_special {
    const struct zkr__acl *acl; /* instead of that of the handle; or NULL */
    int64_t ttl_ms;             /* of the modes TTL */
};

struct zkr__zk_request;

struct zkr__zk_multi {
    const struct zkr__zk_request *const *operations;
    size_t count;
};

/* There are many: each claim that waits has some. */
struct zkr__zk_request {
    enum zkr__zk_type type : 8;
    enum zkr_create_mode mode : 8; /* CREATE */
    int32_t version;               /* DELETE, SET, CHECK: to expect, or ANY */
    const char *path;
    const char *data;
    size_t data_len;
    struct zkr__watch *watch;
    union {
        const struct zkr__zk_special *special; /* CREATE */
        const struct zkr__zk_multi *multi;     /* MULTI */
    };
};

/* The server's answer to one operation of a transaction. */
struct zkr__zk_result {
    int rc;               /* of the one that failed; the others have OK */
    const char *path;     /* CREATE: with the sequence number */
    struct zkr_stat stat; /* SET */
};

/* A reply is valid during the upcall. Members that do not belong to the request
 * are zero. */
struct zkr__zk_reply {
    int rc;
    const char *path;         /* CREATE: with the sequence number */
    struct zkr_stat stat;     /* CREATE, EXISTS, GET, SET, CHILDREN */
    const char *const *names; /* CHILDREN */
    size_t name_count;
    const char *data; /* GET; may be NULL */
    size_t data_len;  /* GET */
    int32_t anyone;   /* GET_ACL: permissions of world:anyone, as in acl.h */
    /* MULTI: one for each operation, if the server has answered it; else
     * NULL. */
    const struct zkr__zk_result *results;
};

enum zkr__zk_event {
    ZKR__ZK_CONNECTED,
    ZKR__ZK_DISCONNECTED,
    ZKR__ZK_EXPIRED,
    ZKR__ZK_AUTH_FAILED,
    ZKR__ZK_READ_ONLY, /* unasked: the handle must be closed */
};

struct zkr__zk_config {
    const char *servers;
    bool in_order; /* tries them so; else in any order */
    int timeout_ms;
    const struct zkr_session_opts *opts;  /* for TLS and SASL; NULL without */
    struct zkr__credentials *credentials; /* NULL without; needed for SASL */
    /* Of the nodes that it creates; lives as long as the handle. */
    const struct zkr__acl *acl;
};

/* The upcalls of a handle. None of them comes from inside a call down. */
struct zkr__zk_upcalls {
    void (*on_event)(struct zkr_session *session, enum zkr__zk_event event);
    /* The answer to the request of that id. NULL for a handle to which
     * nothing is submitted. */
    void (*on_reply)(struct zkr_session *session, uintptr_t id,
                     const struct zkr__zk_reply *reply);
    /* A node event, which uses up the watch. */
    void (*on_watch)(struct zkr__watch *watch, bool deleted);
};

/* Opens a handle. Blocks for name resolution; the connection follows in the
 * background. Errors: ZKR_EHOSTS; ZKR_ENOMEM; ZKR_ESYSTEM when there is no
 * descriptor, or too many handles are stuck. zkr_error_detail() says why there
 * is no handle. */
int zkr__zk_open(const struct zkr__zk_config *config,
                 const struct zkr__zk_upcalls *upcalls,
                 struct zkr_session *session, struct zkr__zk **ret_zk);

/* Closes a handle. Blocks until the client has closed it, or until the
 * deadline: then the handle is stuck, and the client closes it when it can. In
 * either case no upcall comes afterwards, and requests that were under way may
 * never get one. Returns true when the server has been told to end the
 * session. */
bool zkr__zk_close(struct zkr__zk *zk, int64_t deadline);

/* Sends the credentials. To be called whenever the handle is connected, before
 * any request is submitted. Returns false when it is not connected any more. */
bool zkr__zk_log_in(struct zkr__zk *zk);

/* Gives the handle other credentials, from the next connection on; those of
 * before are sent, too, but for SASL. */
void zkr__zk_renew(struct zkr__zk *zk, struct zkr__credentials *credentials);

/* A fault that the client found with a server, or the server with us. */
struct zkr__zk_fault {
    enum zkr_cause cause;            /* NONE: nothing */
    int64_t at;                      /* by the lease's clock */
    char server[ZKR__ZK_SERVER_MAX]; /* "": it is not known */
    char text[96];                   /* more of it; may be "" */
};

/* Returns the first fault of the handle that has not been returned yet, and
 * then the last. Its cause is NONE when there is none. */
void zkr__zk_take_fault(struct zkr__zk *zk, struct zkr__zk_fault *ret_fault);

/* Returns the causes, as bits, for which the handle could connect to no server
 * when it last tried them all; 0 before. */
unsigned zkr__zk_round(struct zkr__zk *zk);

/* Gives the handle other servers. It keeps a connection that it has, and tries
 * the others when it has none: see zk_move.h. Never blocks. Errors:
 * ZKR_ENOMEM. */
int zkr__zk_move(struct zkr__zk *zk, const char *servers);

/* The client's own handle: a zhandle_t. */
void *zkr__zk_raw(struct zkr__zk *zk);

int64_t zkr__zk_session_id(struct zkr__zk *zk);
uint32_t zkr__zk_timeout_ms(struct zkr__zk *zk);

/* Names the server that the handle is connected to, for people. */
void zkr__zk_server(struct zkr__zk *zk, char name[ZKR__ZK_SERVER_MAX]);

/* Sends a request. Never blocks. The client keeps the id, a number, and
 * nothing of the request. After an error the request has ended, and yet the
 * client may answer it: it keeps some of those that it has no memory to send.
 * So a id is used for one call only. */
int zkr__zk_submit(struct zkr__zk *zk, struct zkr__zk_request *request,
                   uintptr_t id);
