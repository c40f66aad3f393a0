/* SPDX-License-Identifier: Apache-2.0 */
/* The history of locks, out of the events that watch has printed with -o jsonl.
 *
 * Each event happened at some time between two looks, so all times are upper
 * bounds, and who came and went between them is missing. */
#ifndef MODEL_RECORDS_H
#define MODEL_RECORDS_H

#include "model/history.h"

struct records;

/* Of the locks at and below `root`. The locks of stays live as long as this.
 * NULL: out of memory. */
struct records *records_new(const char *root, const struct history_fns *fns);
void records_free(struct records *records);

/* Reads a file, "-" is the standard input, and reports the stays that are over.
 * Several files must be in the order of time. 0, or an exit code after an error
 * was said. */
int records_play(struct records *records, const char *file);
/* Reports the others. */
void records_end(struct records *records);

int64_t records_begin_ms(const struct records *records);
int64_t records_end_ms(const struct records *records);
size_t records_contenders(const struct records *records);
/* All who held at that moment are known. It is not before the first event of a
 * run of watch, nor after its last one, nor without a connection; and it is
 * known who was there before, by --initial, or because somebody has got the
 * lock alone since then. */
bool records_knows(const struct records *records, int64_t ms);
/* Contenders came and went that watch did not see. */
bool records_missed(const struct records *records);
/* Lines that it did not understand. */
size_t records_strange(const struct records *records);

#endif
