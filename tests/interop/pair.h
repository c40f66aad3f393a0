/* SPDX-License-Identifier: Apache-2.0 */
/* A pair: two workers on one path, to check whether one waits for the other.
 *
 * There are two workers of each kind, started when first asked for; each check
 * takes a path of its own. */
#pragma once

#include "fixture.h"

#include "worker.h"

/* A client, in a layout that docs/interop.md tells of. */
struct client {
    enum kind kind;
    const char *layout;
};

extern const struct client c, curator, kazoo_subclass, kazoo_patterns,
    c_for_kazoo, kazoo_as_is;

/* Runs all tests, and ends the workers. */
int run_pairs(void);

/* Returns one of the workers of a kind, connected. */
struct worker *worker_of(enum kind kind, int number);

/* The workers of a test, by their letters from "a" on; their path, and where
 * the nodes are that they hold. */
extern struct worker *cast[4];
extern const char *stage;
extern const char *nodes_in;

/* "a" and "b" on a new path. When both clients are of one kind, "b" is another
 * worker of that kind. */
void cast_on_new_path(const char *recipe, const struct client *a,
                      const struct client *b);

/* Plays steps with commas between them:
 *
 *   a acquire write = held      a command of worker.h, and what its answer
 *                               begins with; without a limit it has SOON_MS
 *   a acquire write             the answer is not waited for
 *   a = held                    it comes now
 *   a waits 100                 it does not come in so many ms
 *   b watches a                 the server says so, of the node of "a"
 *   a dies                      its process does
 *   a has its node              its node is there; or it has no node
 *   2 nodes                     are there, or 2 locks: below "locks"
 *   await 2 nodes
 *   a waits for 1 with 4        permits of a semaphore; there are so many
 *                               leases then, one after the other on the server
 *                               when it has got some */
void play(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns when the server says that the worker watches that node, or with NULL
 * the path itself. */
void wait_watching(const struct worker *w, const char *path, const char *node);

/* A row of a table of pairs: while either holds, the other waits (a try is
 * refused and leaves nothing, an acquire waits, and the release lets it in), or
 * is granted, too. */
struct pair {
    const char *name;
    const char *recipe;
    const struct client *a;
    const struct client *b;
    bool a_waits;
    bool b_waits;
};

/* In those modes; see worker.h. */
void check_pair(const struct pair *p, const char *a_mode, const char *b_mode);
