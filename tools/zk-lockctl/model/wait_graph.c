/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the graph of who waits for whom, and follows its edges. */
#include "model/wait_graph.h"

#include <stdlib.h>
#include <string.h>

/* --- what was there before, too --- */

static bool is_same(const struct contender *const *names, size_t count,
                    const struct contender *c)
{
    const struct contender *found = names_find(names, count, c->node->name);

    return found != NULL && found->node->token == c->node->token &&
           found->node->holds == c->node->holds;
}

/* --- building --- */

/* A candidate stands in an election and works meanwhile, unless it is inside of
 * a session, which waits for its end. */
static bool blocks_nobody(const struct contender *c)
{
    return zkr__is_candidate(c->node) && !c->node->holds &&
           c->owner.within == 0;
}

/* A contender for a permit of a semaphore waits for whichever lease goes first,
 * and not for a certain one: no cycle through the leases proves a deadlock. */
static void add_vertex(struct wait_graph *g, const struct lock *lock,
                       const struct contender *c)
{
    if (c->node->error != ZKR_OK || zkr__is_unfair(c->node) ||
        zkr__is_lease(c->node) || blocks_nobody(c))
        return;
    g->vertices[g->count++] =
        (struct vertex){ .lock = lock, .c = c, .waits = !c->node->holds };
}

/* A reader waits for the nearest exclusive one, which waits for all before it;
 * an exclusive one for that, and for the readers in between. */
static void look_ahead(struct wait_graph *g, size_t start)
{
    size_t exclusive = SIZE_MAX;

    for (size_t i = start; i < g->count; i++) {
        struct vertex *v = &g->vertices[i];
        bool shared = v->c->node->kind == ZKR_PARTICIPANT_SHARED;

        if (v->waits && shared && exclusive != SIZE_MAX) {
            v->first = exclusive;
            v->count = 1;
        } else if (v->waits && !shared) {
            v->first = exclusive == SIZE_MAX ? start : exclusive;
            v->count = i - v->first;
        }
        if (!shared)
            exclusive = i;
    }
}

static bool add_lock(struct wait_graph *g, const struct lock *lock,
                     const struct lock *before, size_t before_count)
{
    const struct lock *then = NULL;
    const struct contender **names = NULL;
    size_t start = g->count;

    if (before != NULL) {
        then =
            bsearch(lock, before, before_count, sizeof(*before), lock_by_path);
        if (then == NULL)
            return true;
        names = lock_names(then);
        if (names == NULL)
            return false;
    }
    for (size_t i = 0; i < lock->count; i++) {
        if (then == NULL || is_same(names, then->count, &lock->items[i]))
            add_vertex(g, lock, &lock->items[i]);
    }
    free(names);
    look_ahead(g, start);
    return true;
}

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_owner(const void *a, const void *b, void *graph)
{
    const struct wait_graph *g = graph;
    const struct contender *x = g->vertices[*(const size_t *)a].c;
    const struct contender *y = g->vertices[*(const size_t *)b].c;
    int order = compare(x->node->session_id, y->node->session_id);

    return order != 0 ? order
                      : compare(contender_thread(x), contender_thread(y));
}

static void sort_waiters(struct wait_graph *g)
{
    for (size_t i = 0; i < g->count; i++) {
        if (g->vertices[i].waits && g->vertices[i].c->node->session_id != 0)
            g->waiters[g->waiter_count++] = i;
    }
    qsort_r(g->waiters, g->waiter_count, sizeof(*g->waiters), by_owner, g);
    for (size_t i = 1; i < g->waiter_count; i++) {
        if (by_owner(&g->waiters[i - 1], &g->waiters[i], g) != 0)
            continue;
        g->vertices[g->waiters[i - 1]].crowded = true;
        g->vertices[g->waiters[i]].crowded = true;
    }
}

static int64_t session_of(const struct vertex *v)
{
    return v->c->node->session_id;
}

static int64_t session_around(const struct vertex *v)
{
    return v->c->owner.within;
}

static int by_session_around(const void *a, const void *b, void *graph)
{
    const struct wait_graph *g = graph;

    return compare(session_around(&g->vertices[*(const size_t *)a]),
                   session_around(&g->vertices[*(const size_t *)b]));
}

static void sort_nested(struct wait_graph *g)
{
    for (size_t i = 0; i < g->count; i++) {
        if (session_around(&g->vertices[i]) != 0)
            g->nested[g->nested_count++] = i;
    }
    qsort_r(g->nested, g->nested_count, sizeof(*g->nested), by_session_around,
            g);
}

typedef int64_t session_fn(const struct vertex *v);

/* Of vertices sorted by a session, the first whose session is not below that
 * one, or, with `after`, is above it. */
static size_t bound(const struct wait_graph *g, const size_t *sorted,
                    size_t count, session_fn *session, int64_t session_id,
                    bool after)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t at = session(&g->vertices[sorted[middle]]);

        if (at < session_id || (after && at == session_id))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void find_of_session(const struct wait_graph *g, const size_t *sorted,
                            size_t count, session_fn *session,
                            int64_t session_id, size_t *ret_first,
                            size_t *ret_count)
{
    *ret_first = bound(g, sorted, count, session, session_id, false);
    *ret_count =
        bound(g, sorted, count, session, session_id, true) - *ret_first;
}

static void find_own_waiters(struct wait_graph *g)
{
    for (size_t i = 0; i < g->count; i++) {
        struct vertex *v = &g->vertices[i];

        if (v->waits || session_of(v) == 0)
            continue;
        find_of_session(g, g->waiters, g->waiter_count, session_of,
                        session_of(v), &v->first, &v->count);
        find_of_session(g, g->nested, g->nested_count, session_around,
                        session_of(v), &v->first_inside, &v->count_inside);
    }
}

bool wait_graph_build(struct wait_graph *g, const struct lock *locks,
                      size_t count, const struct lock *before,
                      size_t before_count)
{
    size_t most = 1;

    for (size_t i = 0; i < count; i++)
        most += locks[i].count;
    g->vertices = calloc(most, sizeof(*g->vertices));
    g->waiters = calloc(most, sizeof(*g->waiters));
    g->nested = calloc(most, sizeof(*g->nested));
    if (g->vertices == NULL || g->waiters == NULL || g->nested == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!add_lock(g, &locks[i], before, before_count))
            return false;
    }
    sort_waiters(g);
    sort_nested(g);
    find_own_waiters(g);
    return true;
}

void wait_graph_done(struct wait_graph *g)
{
    free(g->vertices);
    free(g->waiters);
    free(g->nested);
    *g = (struct wait_graph){ .vertices = NULL };
}

/* --- edges --- */

static bool is_owner_of_both(const struct wait_graph *g,
                             const struct vertex *held,
                             const struct vertex *wait)
{
    int64_t a = contender_thread(held->c);
    int64_t b = contender_thread(wait->c);

    if (a != 0 && b != 0)
        return a == b && !(g->certain && wait->crowded);
    return !g->certain;
}

/* A run inside of a session is on the machine of that session. */
static bool is_inside(const struct wait_graph *g, const struct vertex *held,
                      const struct vertex *inner)
{
    const struct zkr__known_owner *o = &held->c->owner;

    return !g->certain ||
           (o->is_record && strcmp(o->host, inner->c->owner.host) == 0);
}

/* A writer stands beside the reader that its session turns it into. Nobody can
 * tell the order of others with equal numbers. */
static bool is_beside(const struct wait_graph *g, const struct vertex *v,
                      const struct vertex *ahead)
{
    return v->c->node->sequence == ahead->c->node->sequence &&
           (g->certain || session_of(v) == session_of(ahead));
}

bool wait_graph_next(const struct wait_graph *g, size_t from, size_t *cursor,
                     size_t *ret_to)
{
    const struct vertex *v = &g->vertices[from];

    /* where recipes are mixed, who seems to wait may hold */
    while (v->waits && *cursor < v->count &&
           !(g->certain && v->lock->kind == ZKR__KIND_MIXED)) {
        *ret_to = v->first + (*cursor)++;
        if (!is_beside(g, v, &g->vertices[*ret_to]))
            return true;
    }
    if (v->waits)
        return false;
    while (*cursor < v->count) {
        *ret_to = g->waiters[v->first + (*cursor)++];
        if (is_owner_of_both(g, v, &g->vertices[*ret_to]))
            return true;
    }
    while (*cursor < v->count + v->count_inside) {
        *ret_to = g->nested[v->first_inside + (*cursor)++ - v->count];
        if (is_inside(g, v, &g->vertices[*ret_to]))
            return true;
    }
    return false;
}
