/* SPDX-License-Identifier: Apache-2.0 */
/* The history of locks, out of transactions: who held each, who waited, and how
 * it ended. The nodes of each lock are kept as they come and go, and
 * roster.h tells who of them holds.
 *
 * The transactions are played twice. The first time tells what was there before
 * them: a node that is deleted without having been created, or that is in a
 * snapshot. The second time tells the history. The memory that it takes is that
 * of the contenders that are there at one time. */
#pragma once

#include "model/present.h"
#include "model/txnlogs.h"

struct history {
    struct present present;
    bool begun;        /* the present segment has had a transaction */
    int64_t last_zxid; /* that the first time has seen */
    size_t strange;    /* transactions of types that are not known */
    int64_t begin_ms;  /* of the first transaction; 0: there was none */
    int64_t end_ms;    /* of the last one */
};

/* Of the locks at and below `root`, a path below `chroot` ("": none). The locks
 * of stays live as long as the history. False: out of memory; it is to be freed
 * nevertheless. */
bool history_init(struct history *history, const char *chroot, const char *root,
                  const struct history_fns *fns);
void history_done(struct history *history);

/* Plays the logs, and reports all stays. 0, or an exit code after an error was
 * said. */
int history_play(struct history *history, struct txnlogs *logs);

/* Something was there before the first transaction, and no snapshot tells
 * what. */
bool history_lacks_begin(const struct history *history);
