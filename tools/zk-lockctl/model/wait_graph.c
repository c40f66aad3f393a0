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

/* Waits come before what is inside, those of one thread together. */
static int by_session(const void *a, const void *b)
{
    const struct link *x = a;
    const struct link *y = b;
    int order = compare(x->session, y->session);

    if (order == 0)
        order = compare(x->inside, y->inside);
    if (order == 0)
        order = compare(x->thread, y->thread);
    return order != 0 ? order : compare((int64_t)x->to, (int64_t)y->to);
}

static int64_t session_of(const struct vertex *v)
{
    return v->c->node->session_id;
}

static void add_link(struct wait_graph *g, int64_t session, bool inside,
                     size_t to)
{
    if (session != 0)
        g->links[g->link_count++] =
            (struct link){ session, inside, contender_thread(g->vertices[to].c),
                           to };
}

static void make_links(struct wait_graph *g)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct vertex *v = &g->vertices[i];

        add_link(g, v->waits ? session_of(v) : 0, false, i);
        add_link(g, v->c->owner.within, true, i);
    }
    qsort(g->links, g->link_count, sizeof(*g->links), by_session);
    for (size_t i = 1; i < g->link_count; i++) {
        const struct link *a = &g->links[i - 1];
        const struct link *b = &g->links[i];

        if (b->inside || a->session != b->session || a->thread != b->thread)
            continue;
        g->vertices[a->to].crowded = true;
        g->vertices[b->to].crowded = true;
    }
}

/* The first link of a session; the end of all: it has none. */
static size_t first_link(const struct wait_graph *g, int64_t session)
{
    size_t low = 0;
    size_t high = g->link_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (g->links[middle].session < session)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool wait_graph_build(struct wait_graph *g, const struct lock *locks,
                      size_t count, const struct lock *before,
                      size_t before_count)
{
    size_t most = 1;

    for (size_t i = 0; i < count; i++)
        most += locks[i].count;
    g->vertices = calloc(most, sizeof(*g->vertices));
    g->links = calloc(most, 2 * sizeof(*g->links));
    if (g->vertices == NULL || g->links == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!add_lock(g, &locks[i], before, before_count))
            return false;
    }
    make_links(g);
    for (size_t i = 0; i < g->count; i++) {
        if (!g->vertices[i].waits)
            g->vertices[i].first = first_link(g, session_of(&g->vertices[i]));
    }
    return true;
}

void wait_graph_done(struct wait_graph *g)
{
    free(g->vertices);
    free(g->links);
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
    while (!v->waits && v->first + *cursor < g->link_count) {
        const struct link *link = &g->links[v->first + *cursor];
        const struct vertex *to = &g->vertices[link->to];

        if (link->session != session_of(v))
            break;
        ++*cursor;
        *ret_to = link->to;
        if (link->inside ? is_inside(g, v, to) : is_owner_of_both(g, v, to))
            return true;
    }
    return false;
}
