/* SPDX-License-Identifier: Apache-2.0 */
/* Parses one transaction of a ZooKeeper server: its header, and the nodes that
 * it creates, deletes or writes. Pure: the bytes may be anything. */
#pragma once

#include "model/wire.h"

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
