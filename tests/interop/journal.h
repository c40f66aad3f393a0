/* SPDX-License-Identifier: Apache-2.0 */
/* The resource behind the lock of a mix: a counter that nothing protects but
 * the lock, a fence, and a journal of what the workers do while they hold it.
 *
 * Workers ask for each access (worker.h): reading the counter and writing it
 * are two. As rwlock.h asks of a resource, an access under a write lock is
 * refused when its token is lower than the highest that was seen, one under a
 * read lock when it is lower than the highest that came with a write lock.
 * Under a lease nothing is written, and so the fence refuses none.
 *
 * All functions fail the test when something is wrong. */
#pragma once

#include "history.h"
#include "worker.h"

/* What a worker does under one node, from its enter to its leave. */
struct section {
    char worker[16];
    enum kind kind;
    char node[96];
    bool writes;
    int64_t token;
    int64_t found; /* the counter */
    int64_t begin;
    int64_t end; /* JUDGE_NEVER: it holds the lock */
    enum { INSIDE, LEFT, REFUSED } state;
};

struct journal {
    struct section *sections;
    size_t count;
    size_t limit; /* of the leases of a semaphore; 0: it is a lock */
    int64_t now;  /* so many instants have been */
    int64_t counter;
    int64_t seen; /* the highest token; and of a writer */
    int64_t written;
    size_t refused;      /* enters and leaves */
    size_t readers;      /* most readers, or leases, at once */
    bool readers_differ; /* some of these were of different kinds */
};

/* Returns the counter, or -1: refused. */
int64_t journal_enter(struct journal *j, const struct section *entered);

/* The worker found the value, or has added 1 to it: the same again, or one more
 * than what is there. The fence refuses no section whose session lives, and
 * accepts none whose session has ended. */
void journal_leave(struct journal *j, const char *worker, int64_t token,
                   int64_t value);

/* The test has killed the worker, or is about to end its session: from now on
 * its sections do not count. */
void journal_end(struct journal *j, const char *worker);

/* Tells whether that worker, or NULL: any, or a writer of them, has entered
 * from section number `from` on. */
bool journal_has_enter(const struct journal *j, size_t from, const char *worker,
                       bool only_writers);

/* By the rules of judge.h, with the lives of the nodes in the log of the
 * server. That has another clock, so that only the order of its deletions
 * counts. */
void journal_judge(const struct journal *j, const struct life *lives,
                   size_t count);
