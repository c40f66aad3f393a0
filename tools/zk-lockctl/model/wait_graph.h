/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of who waits for whom, across locks. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/lock_state.h"

/* A contender. A waiter has edges to the contenders ahead of it in its queue. A
 * holder has edges to the places where its owner waits, and to all contenders
 * inside of its session: the lock is given back when they have ended. */
struct vertex {
    const struct lock *lock;
    const struct contender *c;
    bool waits;
    bool crowded; /* its thread waits in several places */
    size_t first; /* of a waiter: the first vertex ahead, of `count`; of a
                     holder: the first link of its session */
    size_t count;
};

/* A session has something to do with a vertex: it waits there, or the contender
 * is inside of it. */
struct link {
    int64_t session;
    bool inside;
    int64_t thread;
    size_t to;
};

struct wait_graph {
    struct vertex *vertices;
    size_t count;
    struct link *links; /* in the order of their members */
    size_t link_count;
    bool certain; /* without the edges that are only possible */
};

/* Of all contenders of these locks; with `before`, an earlier list of the same
 * locks, of those only that held, or waited, in both. Both lists are in the
 * order of their paths. False: out of memory, and the graph is to be freed,
 * too. */
bool wait_graph_build(struct wait_graph *graph, const struct lock *locks,
                      size_t count, const struct lock *before,
                      size_t before_count);
void wait_graph_done(struct wait_graph *graph);

/* The next vertex that `from` leads to; false: there is no other. The cursor
 * begins at zero. */
bool wait_graph_next(const struct wait_graph *graph, size_t from,
                     size_t *cursor, size_t *ret_to);
