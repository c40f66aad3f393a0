/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of the writes of users: judges the reported result of each by the
 * committed transactions. */
#pragma once

#include "oracle.h"
#include "zk/zk.h"

struct write {
    struct write *next;
    const struct attempt *attempt; /* by whose grant */
    int number;
    bool guarded; /* else it may come late */
    bool late;    /* asked for when its attempt had been given back */
    enum zkr__zk_type type;
    const char *path; /* as the servers know it */
    const char
        *data; /* as the servers know it, unlike that of any other write */
    int64_t asked;
    int64_t until; /* its deadline; 0 when nobody has said */
    bool sent;     /* the client was given it */
    int64_t made;  /* the version that has it; or 0 */
    int told;      /* how often */
    int rc;
};

/* To be called before the write. No two deletes have the same path. */
struct write *writes_asked(const struct attempt *a, enum zkr__zk_type type,
                           const char *path, bool guarded);
/* Another thread is about to give the lock back. */
void writes_race(const struct attempt *a);
void writes_sent(const struct request *r, int session);
void writes_told(struct write *w, int rc, const struct zkr_stat *stat);

void writes_committed(int64_t version, const struct txn *txn);
void writes_end(void);
