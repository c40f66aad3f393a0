/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a mix is read while it grows, and judged at the end.
 *
 * section.h says what the workers write.  The test itself adds "ENDED WORKER
 * - - 0 0" when it has killed a worker, or is about to end its session: from
 * there on a section of that worker counts no more.
 *
 * All functions fail the test when something is wrong. */
#pragma once

#include <stdio.h>

#include "history.h"

struct entry {
    char what[12];
    char worker[16];
    char node[96];
    bool writes;
    int64_t token;
    int64_t value;
};

struct journal {
    FILE *file;
    struct entry *entries;
    size_t count;
    size_t sections; /* how many ENTER */
    size_t limit;    /* of the leases of a semaphore; 0: it is a lock */
};

/* Make the files of a directory: journal, resource. */
void journal_create(struct journal *j, const char *dir);
void journal_free(struct journal *j);

/* Read the lines that were added since the last read. */
void journal_read(struct journal *j);

void journal_note_ended(const char *dir, const char *worker);

/* The first entry of that kind by that worker, from number `from` on, or NULL.
 */
const struct entry *journal_find(const struct journal *j, size_t from,
                                 const char *what, const char *worker);

/* Tells whether a worker, or a writer, has entered from number `from` on. */
bool journal_has_enter(const struct journal *j, size_t from, bool only_writers);

/* As "curator2" and "curator5" are. */
bool journal_same_kind(const char *worker, const char *other);

struct verdict {
    int64_t writes;      /* accepted */
    size_t refused;      /* sections and writes */
    size_t readers;      /* most readers, or leases, at once */
    bool readers_differ; /* readers of different kinds were inside, at some time
                          */
};

/* Judge the mix by its journal and by the lives of the nodes in the log of the
 * server; fail the test when something is wrong.
 *
 * judge.h   has the rules for exclusion, order and tokens. The lines of the
 *           journal are the instants; the server has another clock, so that
 *           only the order of its deletions counts.
 * values    Each accepted write is one more than the one before it, and a
 *           section finds what was written. At its end, a reader finds the
 *           same again.
 * fence     It refuses no section whose session lives, and accepts none whose
 *           session has ended. There is none for leases: several tokens are
 *           good at once. */
void journal_judge(const struct journal *j, const struct life *lives,
                   size_t count, struct verdict *ret_verdict);
