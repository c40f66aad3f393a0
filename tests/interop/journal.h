/* The journal of a mix, read while it grows and replayed at the end.
 *
 * section.h says what the workers write.  The test itself adds "ENDED WORKER
 * - - 0 0" when it has killed a worker, or is about to end its session: from
 * there on a section of that worker counts no more.
 *
 * All functions fail the test when something is wrong. */
#ifndef INTEROP_JOURNAL_H
#define INTEROP_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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
};

/* Make the files of a directory: journal, resource. */
void journal_create(struct journal *j, const char *dir);
void journal_free(struct journal *j);

/* Read what has come since. */
void journal_read(struct journal *j);

void journal_note_ended(const char *dir, const char *worker);

/* The first entry of that kind by that worker, from number `from` on, or NULL.
 */
const struct entry *journal_find(const struct journal *j, size_t from,
                                 const char *what, const char *worker);

/* Has anybody entered, or any writer, from number `from` on? */
bool journal_has_enter(const struct journal *j, size_t from, bool only_writers);

/* As "curator2" and "curator5" are. */
bool journal_same_kind(const char *worker, const char *other);

struct verdict {
    int64_t writes;      /* accepted */
    size_t refused;      /* sections and writes */
    size_t readers;      /* most readers at once */
    bool readers_differ; /* ... of different kinds, at some time */
};

/* Go through it in the order in which it was written:
 *
 * no overlap      no section of a writer together with any other;
 * no lost update  each accepted write is one more than the one before it, and
 *                 a reader finds the same at its end as at its beginning;
 * FIFO            the token of a writer is higher than all before it, that of
 *                 a reader higher than all of writers before it. */
void journal_replay(const struct journal *j, struct verdict *ret_verdict);

/* The same by the log of the server: each section had the node that it says,
 * with that token as its czxid; and of two that conflict, the node that was
 * created first also went first. */
void journal_compare(const struct journal *j, const struct life *lives,
                     size_t count);

#endif
