/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of a server's transaction log, which may be damaged, and may be
 * written to while it is read. The memory that it takes is that of the largest
 * record.
 *
 * A file is a header, records, and zeros, because servers allocate its space in
 * advance. A server whose disk was full leaves a torn record, and writes on
 * behind it. */
#pragma once

#include <stdio.h>

#include "model/transaction.h"

struct txnlog {
    FILE *file;
    char *body; /* of the last record */
    size_t room;
    int64_t here;    /* where the file goes on; -1: that is not known */
    int64_t at;      /* of the next record in the file */
    int64_t zxid;    /* of the last record; 0: none yet */
    int64_t torn_at; /* where the first damaged record is; 0: none */
};

/* 0, or an errno; EBADMSG: not a log that this reads. */
int txnlog_open(struct txnlog *log, const char *file);
void txnlog_close(struct txnlog *log);

/* The next record, which stays until the next call. 1; 0: the end; or a
 * negative errno. */
int txnlog_next(struct txnlog *log, struct txn *ret_txn);
