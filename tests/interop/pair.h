/* SPDX-License-Identifier: Apache-2.0 */
/* A pair: two workers on one path, to check whether one waits for the other.
 *
 * There are two workers of each kind, started when first asked for; each check
 * takes a path of its own. */
#pragma once

#include "fixture.h"

#include "worker.h"

/* A side of a pair; see worker.h. */
struct side {
    enum kind kind;
    const char *layout;
    const char *mode;
};

/* A client, in a layout that docs/interop.md tells of, as writer and as
 * reader. */
struct client {
    struct side writer;
    struct side reader;
};

extern const struct client c, curator, kazoo_subclass, kazoo_patterns,
    c_for_kazoo, kazoo_as_is;

/* Runs all tests, and ends the workers. */
int run_pairs(void);

/* Returns one of the workers of a kind, connected. */
struct worker *worker_of(enum kind kind, int number);

/* Two workers on a path: who holds the lock there first, and the other. */
struct duo {
    const char *path;
    struct worker *holder;
    struct worker *other;
};

/* When both sides are of one kind, the other is another worker of that kind. */
struct duo duo_on_new_path(const char *recipe, const struct side *holder,
                           const struct side *other);

/* Returns when the server says that the worker watches that node, or with NULL
 * the path itself. */
void wait_watching(const struct worker *w, const char *path, const char *node);

/* Let it acquire; returns when it watches the node `before`. */
void acquire_behind(struct worker *w, const char *mode, const char *path,
                    const char *before);

/* A row of a table of pairs: while either holds, the other waits (a try is
 * refused and leaves nothing, an acquire waits, and the release lets it in), or
 * is granted, too. */
struct pair {
    const char *name;
    const char *recipe;
    const struct side *a;
    const struct side *b;
    bool a_waits;
    bool b_waits;
};

void check_pair(const struct pair *pair);
