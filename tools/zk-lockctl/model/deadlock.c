/* SPDX-License-Identifier: Apache-2.0 */
/* Finds deadlocks: cycles in the graph of who waits for whom, across locks. */
#include "model/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

/* --- the graph --- */

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
    /* the search */
    size_t ends;   /* so many edges end here: 0 is in no cycle */
    size_t parent; /* on the way from the start */
    size_t seen;   /* by which of the searches it was reached, from 1 */
    bool covered;  /* it is part of what was found */
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
    bool certain;  /* without the edges that are only possible */
    size_t *queue; /* what was reached; or a cycle that was found */
    size_t searches;
};

/* --- what was there before, too --- */

static bool is_still(const struct contender *const *names, size_t count,
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

static void add_lock(struct wait_graph *g, const struct lock *lock,
                     const struct lock *before, size_t before_count)
{
    const struct lock *then = NULL;
    const struct contender **names = NULL;
    size_t start = g->count;

    if (before != NULL) {
        then =
            bsearch(lock, before, before_count, sizeof(*before), lock_by_path);
        if (then == NULL)
            return;
        names = lock_names(then);
    }
    for (size_t i = 0; i < lock->count; i++) {
        if (then == NULL || is_still(names, then->count, &lock->items[i]))
            add_vertex(g, lock, &lock->items[i]);
    }
    free(names);
    look_ahead(g, start);
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

/* Of all contenders of these locks; with `before`, an earlier list of the same
 * locks, of those only that held, or waited, in both. Both lists are in the
 * order of their paths. */
static void wait_graph_build(struct wait_graph *g, const struct lock *locks,
                             size_t count, const struct lock *before,
                             size_t before_count)
{
    size_t most = 1;

    for (size_t i = 0; i < count; i++)
        most += locks[i].count;
    g->vertices = enough(calloc(most, sizeof(*g->vertices)));
    g->links = enough(calloc(most, 2 * sizeof(*g->links)));
    g->queue = enough(calloc(most, sizeof(*g->queue)));
    for (size_t i = 0; i < count; i++)
        add_lock(g, &locks[i], before, before_count);
    make_links(g);
    for (size_t i = 0; i < g->count; i++) {
        if (!g->vertices[i].waits)
            g->vertices[i].first = first_link(g, session_of(&g->vertices[i]));
    }
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

/* The next vertex that `from` leads to; false: there is no other. The cursor
 * begins at zero. */
static bool wait_graph_next(const struct wait_graph *g, size_t from,
                            size_t *cursor, size_t *ret_to)
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

/* --- the search --- */

/* No more of them are reported. */
#define DEADLOCKS_MAX 1000

/* Whom nobody waits for is in no cycle, and then who is waited for by none but
 * such. What is left is in a cycle, or waited for by one. */
static void count_ends(struct wait_graph *g)
{
    size_t tail = 0;
    size_t cursor;
    size_t to;

    for (size_t v = 0; v < g->count; v++)
        g->vertices[v].ends = 0;
    for (size_t v = 0; v < g->count; v++) {
        for (cursor = 0; wait_graph_next(g, v, &cursor, &to);)
            g->vertices[to].ends++;
    }
    for (size_t v = 0; v < g->count; v++) {
        if (g->vertices[v].ends == 0)
            g->queue[tail++] = v;
    }
    for (size_t head = 0; head < tail; head++) {
        for (cursor = 0; wait_graph_next(g, g->queue[head], &cursor, &to);) {
            if (--g->vertices[to].ends == 0)
                g->queue[tail++] = to;
        }
    }
}

/* The shortest way from a vertex back to itself, in g->queue from the vertex
 * on; its length, 0 without one. */
static size_t find_way_back(struct wait_graph *g, size_t start)
{
    size_t head = 0;
    size_t tail = 0;

    g->searches++;
    for (g->queue[tail++] = start; head < tail; head++) {
        size_t v = g->queue[head];
        size_t cursor = 0;
        size_t n = 1;
        size_t to;

        while (wait_graph_next(g, v, &cursor, &to)) {
            if (to == start) {
                for (size_t u = v; u != start; u = g->vertices[u].parent)
                    n++;
                for (size_t i = n; i-- > 0; v = g->vertices[v].parent)
                    g->queue[i] = v;
                return n;
            }
            if (g->vertices[to].seen == g->searches)
                continue;
            g->vertices[to].seen = g->searches;
            g->vertices[to].parent = v;
            g->queue[tail++] = to;
        }
    }
    return 0;
}

/* --- its members --- */

static bool excludes(const struct vertex *a, const struct vertex *b)
{
    return a->lock == b->lock &&
           (a->c->node->kind == ZKR_PARTICIPANT_EXCLUSIVE ||
            b->c->node->kind == ZKR_PARTICIPANT_EXCLUSIVE);
}

static void add_member(struct deadlock *d, const struct vertex *held,
                       const struct vertex *waits)
{
    struct deadlock_member *m = &d->members[d->count++];

    m->waits = waits->c;
    if (!held->waits)
        m->held = held->c;
}

/* The vertex at that place of a cycle. */
static const struct vertex *at(const struct wait_graph *g, size_t length,
                               size_t i)
{
    return &g->vertices[g->queue[i % length]];
}

/* Contenders that only stand in the queue between two that exclude each other
 * are not members, nor are runs in the middle, which hold something else. The
 * first member of a cycle waits. */
static void add_members(struct deadlock *d, const struct wait_graph *g,
                        size_t length)
{
    size_t start = 0;
    size_t i;

    while (at(g, length, start)->waits)
        start++;
    for (i = start; i < start + length;) {
        const struct vertex *held = at(g, length, i);
        const struct vertex *waits = held->waits ? held : NULL;
        size_t next = i + 1;

        while (waits == NULL || !waits->waits)
            waits = at(g, length, next++);
        for (size_t k = next; k <= start + length; k++) {
            if (at(g, length, k)->lock != waits->lock)
                break;
            if (excludes(waits, at(g, length, k)))
                next = k;
            if (!at(g, length, k)->waits)
                break;
        }
        add_member(d, held, waits);
        i = next;
    }
}

static void find_youngest(struct deadlock *d)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct deadlock_member *m = &d->members[i];

        if (d->youngest != NULL && m->waits->node->since_ms <= d->since)
            continue;
        d->youngest = m;
        d->since = m->waits->node->since_ms;
    }
}

/* --- all deadlocks --- */

static bool has_sessions_of(const struct deadlock *d, const struct deadlock *of)
{
    for (size_t i = 0; i < of->count; i++) {
        int64_t wanted = of->members[i].waits->node->session_id;
        size_t k = 0;

        while (k < d->count && d->members[k].waits->node->session_id != wanted)
            k++;
        if (k == d->count)
            return false;
    }
    return true;
}

/* One of the same sessions; but a session alone waits for itself in each
 * lock. */
static bool is_known(const struct deadlocks *all, const struct deadlock *d)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct deadlock *b = &all->items[i];

        if (has_sessions_of(d, b) && has_sessions_of(b, d) &&
            (d->count > 1 || b->count > 1 ||
             d->members[0].waits->path == b->members[0].waits->path))
            return true;
    }
    return false;
}

/* Of a session that waits for itself, no other wait in that lock is looked at:
 * a program may have thousands of threads there. */
static void cover(struct wait_graph *g, size_t length, const struct deadlock *d)
{
    const struct deadlock_member *m = &d->members[0];

    for (size_t i = 0; i < length; i++)
        g->vertices[g->queue[i]].covered = true;
    for (size_t i = g->queue[0]; d->count == 1 && i < g->count; i++) {
        struct vertex *v = &g->vertices[i];

        if (v->c->path != m->waits->path)
            break;
        if (session_of(v) == m->waits->node->session_id)
            v->covered = true;
    }
}

static void report(struct deadlocks *all, struct wait_graph *g, size_t length)
{
    struct deadlock d = { .certain = g->certain };

    d.members = enough(calloc(length, sizeof(*d.members)));
    add_members(&d, g, length);
    find_youngest(&d);
    cover(g, length, &d);
    if (is_known(all, &d))
        free(d.members);
    else
        *(struct deadlock *)GROW(all) = d;
}

static void find_cycles(struct deadlocks *all, struct wait_graph *g)
{
    count_ends(g);
    for (size_t i = 0; i < g->count; i++) {
        const struct vertex *v = &g->vertices[i];

        if (!v->waits || v->covered || v->ends == 0)
            continue;
        if (all->count == DEADLOCKS_MAX) {
            all->cut = true;
            return;
        }
        size_t length = find_way_back(g, i);
        if (length > 0)
            report(all, g, length);
    }
}

struct deadlocks deadlocks_find(const struct lock *locks, size_t count,
                                const struct lock *before, size_t before_count)
{
    struct deadlocks all = { .count = 0 };
    struct wait_graph g = { .certain = true };

    wait_graph_build(&g, locks, count, before, before_count);
    find_cycles(&all, &g);
    g.certain = false;
    find_cycles(&all, &g);
    free(g.queue);
    free(g.vertices);
    free(g.links);
    return all;
}

bool deadlock_is_nested(const struct deadlock_member *member)
{
    return member->held != NULL &&
           member->held->node->session_id != member->waits->node->session_id;
}

void deadlocks_done(struct deadlocks *deadlocks)
{
    for (size_t i = 0; i < deadlocks->count; i++)
        free(deadlocks->items[i].members);
    free(deadlocks->items);
    *deadlocks = (struct deadlocks){ .items = NULL };
}
