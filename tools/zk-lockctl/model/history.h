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

#include "model/stay.h"
#include "model/txnlogs.h"

struct history;

struct history_fns {
    stay_fn *stay;
    void (*gap)(const struct gap *gap, void *user);
    void *user;
};

/* Of the locks at and below `root`, a path below `chroot` ("": none). The locks
 * of stays live as long as the history. NULL: out of memory. */
struct history *history_new(const char *chroot, const char *root,
                            const struct history_fns *fns);
void history_free(struct history *history);

/* Plays the logs, and reports all stays. 0, or an exit code after an error was
 * said. */
int history_play(struct history *history, struct txnlogs *logs);

/* The first and the last transaction; 0: there was none. */
int64_t history_begin_ms(const struct history *history);
int64_t history_end_ms(const struct history *history);
/* How many contenders were seen. */
size_t history_contenders(const struct history *history);
/* Something was there before the first transaction, and no snapshot tells
 * what. */
bool history_lacks_begin(const struct history *history);
/* All contenders of that moment are known: it is neither before the first
 * transaction nor after the last one, nor in a gap, and nothing from before
 * them, or from before the last gap, may be missing. */
bool history_knows(const struct history *history, int64_t ms);
/* Directly in the root there were nodes of a pool of kazoo, at any time:
 * nothing is known of those who hold it. */
bool history_has_pool(const struct history *history);
/* Transactions of types that are not known. */
size_t history_strange(const struct history *history);
