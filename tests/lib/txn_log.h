/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a server's transaction log: evidence that depends on no client. */
#pragma once

#include "judge.h"
#include "server.h"

/* Types of ZooDefs.OpCode. */
enum {
    TXN_CREATE = 1,
    TXN_DELETE = 2,
    TXN_CREATE2 = 15,
    TXN_CLOSE_SESSION = -11,
};

struct txn {
    int64_t session; /* the session that made the request */
    int64_t zxid;
    int64_t time_ms; /* CLOCK_REALTIME of the leader when it made it */
    int32_t type;
    char path[512]; /* of TXN_CREATE, TXN_DELETE and TXN_CREATE2, else "" */
};

/* Returns false to stop. */
typedef bool (*txn_fn)(void *user, const struct txn *t);

/* Calls `fn` with all transactions in the order in which this server logged
 * them; it may be running. Returns false when there are none, a file cannot be
 * read, or `fn` returned false. */
bool txn_log_read(const struct server *s, txn_fn fn, void *user);

/* The same for the log in `dir`/version-2. */
bool txn_log_read_dir(const char *dir, txn_fn fn, void *user);

/* Returns when the leader made the transaction that closes the session, in
 * milliseconds of CLOCK_REALTIME, rounded down; no server deletes its nodes
 * earlier. Returns 0 when this server's log has no such transaction. */
int64_t txn_log_session_closed(const struct server *s, int64_t session_id);

/* -- when each node of a lock was created and deleted ---------------------- */

struct life {
    char name[96];    /* of the node, without the directory */
    int64_t owner;    /* session that created it */
    int64_t begin;    /* zxid of its creation: its czxid */
    int64_t end;      /* zxid of its deletion, or of the end of its session;
                         INT64_MAX: it is still there */
    int64_t begin_ms; /* the same as times of the leader, CLOCK_REALTIME */
    int64_t end_ms;
    bool by_session; /* it ended with its session */
};

/* The children that a directory has had, in the order of their creation. Begin
 * with zeros except for the directory; free `lives`. */
struct history {
    const char *directory;
    struct life *lives;
    size_t count;
};

/* Takes all transactions, in order. It is a txn_fn; it returns false without
 * memory. */
bool history_add(void *history, const struct txn *t);

/* Returns the lives by the log of one server, to be freed, or NULL when the log
 * cannot be read. */
struct life *history_read(const struct server *s, const char *directory,
                          size_t *ret_count);

/* The same lives as places in the queue, to be freed; never NULL. They are
 * shared where the name says "__READ__", and `gone_at` is `end_ms`. */
struct judge_node *history_nodes(const struct life *lives, size_t count);
