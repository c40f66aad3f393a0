/* SPDX-License-Identifier: Apache-2.0 */
/* Writes transaction logs and snapshots as servers do, for tests; and spells
 * out texts in which words stand for others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct word {
    const char *word, *text;
};

/* Copies a text, with what the first word that fits stands for, up to NULL. */
void spell_out(char *text, size_t size, const char *from,
               const struct word *words);
/* say() adds to it; assert_said() spells out a text and compares them. */
extern char said[8192];
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void assert_said(const char *want, const struct word *words);

/* Bytes that grow, big-endian. */
struct wire_out {
    unsigned char data[1 << 16];
    size_t size;
};

void out_number(struct wire_out *out, int64_t number, int width);
/* NULL: a text of length -1. */
void out_text(struct wire_out *out, const char *text);
void out_bytes(struct wire_out *out, const void *bytes, size_t size);

/* A header. */
void out_txn(struct wire_out *out, int64_t session, int32_t cxid, int64_t zxid,
             int64_t time_ms, int32_t type);
/* The record of a node that is created with an ACL for everybody. */
void out_create(struct wire_out *out, const char *path, const char *data,
                bool ephemeral);

/* The same with the number of the next transaction. Its time is a second for
 * each number. */
extern int64_t txn_zxid;
int64_t txn_time(int64_t number);
void txn_begin(struct wire_out *out, int64_t session, int32_t cxid,
               int32_t type);

/* A file with its header; the test fails when that cannot be. The next
 * transaction is number 1. */
FILE *log_begin(const char *path);
/* One record, with its checksum. */
void log_put(FILE *file, const struct wire_out *record);
/* Zeros, as of a file whose space was allocated. */
void log_end(FILE *file);

/* "#7" stands for "lock-0000000007", and with a letter for other names. */
extern const struct word txn_names[];
/* Writes what a script has, in which ";" is between two of these; 1 is the
 * session:
 *
 *   1+PATH:DATA  it creates a node that goes with it; without DATA: "me"
 *   1^PATH       it creates one that belongs to no session
 *   1-PATH       it deletes one; 0_PATH: a server does, of a container
 *   1=PATH:DATA  it writes into one
 *   1~PATH       it does what no server does
 *   1!PATH,PATH  its client closes it; the server lists its nodes, or not
 *   1?PATH,PATH  it expires
 *   @9           the next transaction has that number
 *   *79 /l:16:0 /l/#7:17:1  a snapshot with that number beside the log, and its
 *                nodes, each with the number of the transaction that has made
 *                it, and its session */
void log_play(FILE *file, const char *script);
/* A whole file. */
void log_write(const char *path, const char *script);

/* A snapshot: its header with no sessions and one ACL; nodes; the end. */
void snap_begin(struct wire_out *out);
void snap_node(struct wire_out *out, const char *path, const char *data,
               int64_t czxid, int64_t ctime_ms, int64_t owner);
void snap_end(struct wire_out *out, const char *path);
