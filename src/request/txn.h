/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of the program: several writes and checks, all or none. */
#ifndef ZKR__TXN_H
#define ZKR__TXN_H

#include <zkrecipes/client.h>

#include "request/request.h"

/* The node that a transaction checks first. The strings live until
 * the holder is released. */
struct zkr__txn_guard {
    const struct zkr__guard *guard;
    void *holder;
    const char *path; /* of the node, with the chroot */
    const char *noun; /* for errors: "mutex" */
    const char *name; /* for errors: the path of that mutex */
};

/* Adds a CREATE, SET, DELETE or CHECK; `opts` is for CREATE. */
int zkr__txn_add(zkr_txn *txn, const struct zkr__zk_request *asked,
                 const struct zkr_create_opts *opts);

bool zkr__txn_is_of(const zkr_txn *txn, const struct zkr_session *s);

/* Commits it. Without a guard `guard` is NULL. `fn` is NULL if the caller
 * waits. */
int zkr__txn_commit(zkr_txn *txn, const struct zkr__txn_guard *guard,
                    int64_t timeout_ms, zkr_txn_fn fn, void *user);

#endif
