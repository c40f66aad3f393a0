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

#include "model/past.h"
#include "model/txnlogs.h"

struct history_fns {
    void (*stay)(struct stay *stay, void *user); /* takes one that is over, or
                                                    the history is */
    void (*gap)(const struct gap *gap, void *user);
    void *user;
};

struct history {
    struct history_fns fns;
    const char *chroot; /* "": none */
    const char *root;   /* the locks at and below it are wanted */
    bool pool;          /* nodes of a pool of kazoo came directly in the root */
    size_t strange;     /* transactions of types that are not known */
    int64_t begin_ms;   /* of the first transaction; 0: there was none */
    int64_t end_ms;     /* of the last one */
    size_t contenders;  /* that were there */

    /* of the play */
    bool learning;        /* it is the first: nobody is told of a stay, nor who
                             holds; what was there before is a seed */
    int64_t last_zxid;    /* that the first time has seen */
    int64_t now_ms;       /* of the present transaction */
    bool begun;           /* the present segment has had a transaction */
    struct pasts pasts;   /* who is there */
    struct past *changed; /* a list of what the transaction has changed */
    struct {
        struct segment *items;
        size_t count;
    } segments;       /* between the gaps */
    size_t segment;   /* the present one */
    int64_t snapshot; /* the number of the snapshot that is read */
    bool unsure;      /* of one segment at least */
};

/* Of the locks at and below `root`, a path below `chroot` ("": none): both
 * outlive it. The locks of stays live as long as it does. */
void history_init(struct history *history, const char *chroot, const char *root,
                  const struct history_fns *fns);
void history_done(struct history *history);

/* Plays the logs, and reports all stays. 0, or an exit code after an error was
 * said. */
int history_play(struct history *history, struct txnlogs *logs);

/* All contenders of that moment are known. */
bool history_knows(const struct history *history, int64_t ms);
/* Something was there before the first transaction, and no snapshot tells
 * what. */
bool history_lacks_begin(const struct history *history);
