/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of transaction logs, and plays them in the order of their
 * transactions, each once, whichever servers wrote them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/lockctl.h"

struct bytes {
    const char *at;
    size_t size;
};

/* Bytes that a ZooKeeper server has written (jute), of which numbers and texts
 * are taken off the front. */
struct wire {
    const unsigned char *at;
    size_t left;
    bool failed;
};

/* --- one transaction: its header, and the nodes that it creates, deletes or
 * writes. Its bytes may be anything --- */

/* Types of ZooDefs.OpCode. */
enum {
    TXN_CLOSE_SESSION = -11,
    TXN_CREATE_SESSION = -10,
    TXN_ERROR = -1,
    TXN_CREATE = 1,
    TXN_DELETE = 2,
    TXN_SET_DATA = 5,
    TXN_SET_ACL = 7,
    TXN_CHECK = 13,
    TXN_MULTI = 14,
    TXN_CREATE2 = 15,
    TXN_RECONFIG = 16,
    TXN_CREATE_CONTAINER = 19,
    TXN_DELETE_CONTAINER = 20,
    TXN_CREATE_TTL = 21,
};

struct txn {
    int64_t session; /* whose request it is */
    int32_t cxid;    /* the number that the client gave it; 0: none did */
    int64_t zxid;
    int64_t time_ms; /* by the clock of the leader, since 1970 */
    int32_t type;
    struct bytes body;
};

enum change_kind {
    CHANGE_CREATE,
    CHANGE_DELETE,
    CHANGE_WRITE,
    CHANGE_CLOSE, /* the session; of it, with `path`, one of its nodes */
};

struct change {
    enum change_kind kind;
    struct bytes path; /* it begins with '/', and has no NUL */
    struct bytes data;
    bool ephemeral;
};

/* False: these bytes are no transaction. */
bool txn_read(struct txn *txn, struct bytes bytes);

typedef void change_fn(const struct txn *txn, const struct change *change,
                       void *user);
/* Calls `fn` for each change of a node or a session, in order. False: the type,
 * or a part of it, is not known, or the transaction is damaged; what was before
 * that was reported. */
bool txn_changes(const struct txn *txn, change_fn *fn, void *user);

/* --- files --- */

/* The transactions of a log up to its first damaged record. */
struct txnlog {
    struct bytes all;
    struct wire left;
    bool damaged;
};

/* 0, or an errno; EBADMSG: not a log that this reads. To be closed then,
 * too. */
int txnlog_open(struct txnlog *log, const char *file);
/* Unmaps the file: the texts of its transactions are gone then. */
void txnlog_close(struct txnlog *log);
/* False: there is no further one. */
bool txnlog_next(struct txnlog *log, struct txn *ret_txn);

/* A node of a server. */
struct node {
    struct bytes path; /* "" is the root */
    struct bytes data; /* cut at SNAPSHOT_DATA_MAX */
    int64_t czxid;
    int64_t ctime_ms;
    int64_t owner; /* its session; 0: none, or a node of another kind */
};
enum { SNAPSHOT_DATA_MAX = 1024 };

/* A snapshot of a server, unless that has compressed it: all nodes, as they
 * were around one moment. A server writes it while it goes on: the file may
 * lack what was deleted meanwhile, and have what was created; the transactions
 * after its number put that right.
 *
 * Calls `fn` for each node. NULL, or for people why the file cannot be read;
 * then `fn` was not called. */
typedef void snapshot_fn(const struct node *node, void *user);
const char *snapshot_read(const char *file, snapshot_fn *fn, void *user);

struct txnlogs_file {
    char *path;
    int64_t zxid; /* the first of a log; by its name the last of a snapshot */
};

struct txnlogs_list {
    struct txnlogs_file *items;
    size_t count;
};

struct txnlogs {
    struct txnlogs_list logs;
    struct txnlogs_list snapshots;
    struct notes notes; /* on files that cannot be read whole */
};

/* A file, or a directory of a server: its version-2, or what is above that. 0,
 * or an exit code after an error was said. */
int txnlogs_add(struct txnlogs *logs, const char *path);
void txnlogs_done(struct txnlogs *logs);

/* Where transactions are missing. */
struct gap {
    int64_t zxid_before, zxid_after; /* of the transactions around it */
    int64_t from_ms, until_ms;
};

struct player {
    void (*txn)(const struct txn *txn, void *user);
    void (*gap)(const struct gap *gap, void *user);
    /* The state after the last transaction, and before the next one. NULL, or
     * why it cannot be read; then another one is tried. No function: they are
     * of no interest. */
    const char *(*snapshot)(const char *file, int64_t zxid, void *user);
    void *user;
};

/* May be repeated. 0, or an exit code after an error was said. */
int txnlogs_play(struct txnlogs *logs, const struct player *player);
