/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from the servers' transaction logs when each node of a lock was created
 * and deleted. */
#pragma once

#include "judge.h"
#include "txn_log.h"

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
