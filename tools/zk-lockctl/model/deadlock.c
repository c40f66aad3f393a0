/* SPDX-License-Identifier: Apache-2.0 */
/* Finds deadlocks: cycles of owners who wait for each other across locks. */
#include "model/deadlock.h"

#include <stdlib.h>
#include <string.h>

/* Contenders beyond this number are not told apart. */
#define DEADLOCKS_MAX 1000

/* A contender. A waiter has edges to the contenders ahead of it in its queue. A
 * holder has edges to the places where its owner waits, and to all contenders
 * inside of its session: the lock is given back when they have ended. */
struct vertex {
    const struct lock *lock;
    const struct contender *c;
    bool waits;
    bool crowded; /* its thread waits in several places */
    size_t first; /* of a waiter: the vertices ahead; of a holder: part of */
    size_t count; /* ... graph.waiters, those of its session */
    size_t first_inside; /* of a holder: part of graph.nested */
    size_t count_inside;
};

struct graph {
    struct vertex *vertices;
    size_t count;
    size_t *waiters; /* by session, then by thread */
    size_t waiter_count;
    size_t *nested; /* those inside of a session, by that one */
    size_t nested_count;
    bool certain; /* without the edges that are only possible */
};

/* --- what was there before, too --- */

static int by_name(const void *a, const void *b)
{
    const struct contender *const *x = a;
    const struct contender *const *y = b;

    return strcmp((*x)->node->name, (*y)->node->name);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct lock *)a)->path,
                  ((const struct lock *)b)->path);
}

/* The contenders of a lock, sorted by name; NULL: out of memory. */
static const struct contender **names_of(const struct lock *lock)
{
    const struct contender **names = calloc(lock->count + 1, sizeof(*names));

    if (names == NULL)
        return NULL;
    for (size_t i = 0; i < lock->count; i++)
        names[i] = &lock->items[i];
    qsort(names, lock->count, sizeof(*names), by_name);
    return names;
}

static bool is_same(const struct contender *const *names, size_t count,
                    const struct contender *c)
{
    const struct contender *const *found =
        bsearch(&c, names, count, sizeof(*names), by_name);

    return found != NULL && (*found)->node->token == c->node->token &&
           (*found)->node->holds == c->node->holds;
}

/* --- building --- */

/* A contender for a permit of a semaphore waits for whichever lease goes first,
 * and not for a certain one: no cycle through the leases proves a deadlock. */
static void add_vertex(struct graph *g, const struct lock *lock,
                       const struct contender *c)
{
    if (c->node->error != ZKR_OK || contender_is_unfair(c->node) ||
        contender_is_lease(c->node))
        return;
    g->vertices[g->count++] =
        (struct vertex){ .lock = lock, .c = c, .waits = !c->node->holds };
}

/* A reader waits for the nearest exclusive one, which waits for all before it;
 * an exclusive one for that, and for the readers in between. */
static void look_ahead(struct graph *g, size_t start)
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

static bool add_lock(struct graph *g, const struct lock *lock,
                     const struct lock *before, size_t before_count)
{
    const struct lock *then = NULL;
    const struct contender **names = NULL;
    size_t start = g->count;

    if (before != NULL) {
        then = bsearch(lock, before, before_count, sizeof(*before), by_path);
        if (then == NULL)
            return true;
        names = names_of(then);
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
    const struct graph *g = graph;
    const struct contender *x = g->vertices[*(const size_t *)a].c;
    const struct contender *y = g->vertices[*(const size_t *)b].c;
    int order = compare(x->node->session_id, y->node->session_id);

    return order != 0 ? order
                      : compare(contender_thread(x), contender_thread(y));
}

static void sort_waiters(struct graph *g)
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
    const struct graph *g = graph;

    return compare(session_around(&g->vertices[*(const size_t *)a]),
                   session_around(&g->vertices[*(const size_t *)b]));
}

static void sort_nested(struct graph *g)
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
static size_t bound(const struct graph *g, const size_t *sorted, size_t count,
                    session_fn *session, int64_t session_id, bool after)
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

static void find_of_session(const struct graph *g, const size_t *sorted,
                            size_t count, session_fn *session,
                            int64_t session_id, size_t *ret_first,
                            size_t *ret_count)
{
    *ret_first = bound(g, sorted, count, session, session_id, false);
    *ret_count =
        bound(g, sorted, count, session, session_id, true) - *ret_first;
}

static void find_own_waiters(struct graph *g)
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

static bool build(struct graph *g, const struct lock *locks, size_t count,
                  const struct lock *before, size_t before_count)
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

/* --- edges --- */

static bool is_owner_of_both(const struct graph *g, const struct vertex *held,
                             const struct vertex *wait)
{
    int64_t a = contender_thread(held->c);
    int64_t b = contender_thread(wait->c);

    if (a != 0 && b != 0)
        return a == b && !(g->certain && wait->crowded);
    return !g->certain && held->lock != wait->lock;
}

/* A run inside of a session is on the machine of that session. */
static bool is_inside(const struct graph *g, const struct vertex *held,
                      const struct vertex *inner)
{
    const struct owner *o = &held->c->owner;

    return !g->certain ||
           (o->is_record && strcmp(o->host, inner->c->owner.host) == 0);
}

/* The next vertex that `from` leads to; the cursor begins at zero. */
static bool next_edge(const struct graph *g, size_t from, size_t *cursor,
                      size_t *ret_to)
{
    const struct vertex *v = &g->vertices[from];

    if (v->waits) {
        *ret_to = v->first + *cursor;
        /* where recipes are mixed, who seems to wait may hold */
        return (*cursor)++ < v->count &&
               !(g->certain && v->lock->kind == KIND_MIXED);
    }
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

/* --- components (Tarjan 1972), without recursion --- */

struct search {
    size_t *number; /* in which order they were reached, from 1 */
    size_t *low;
    size_t *cursor;
    size_t *path;  /* from the root to where we are */
    size_t *stack; /* those without a component yet */
    size_t *component;
    size_t *parent; /* of the search for a way back */
    size_t *seen;   /* ... by which search it was reached */
    bool *covered;  /* it is part of what was found */
    size_t depth;
    size_t height;
    size_t reached;
    size_t components;
    size_t searches;
};

static bool search_new(struct search *s, size_t count)
{
    size_t **const arrays[] = {
        &s->number, &s->low,       &s->cursor, &s->path,
        &s->stack,  &s->component, &s->parent, &s->seen
    };

    *s = (struct search){ .covered = calloc(count + 1, sizeof(bool)) };
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        *arrays[i] = calloc(count + 1, sizeof(size_t));
        if (*arrays[i] == NULL)
            return false;
    }
    return s->covered != NULL;
}

static void search_done(struct search *s)
{
    free(s->number);
    free(s->low);
    free(s->cursor);
    free(s->path);
    free(s->stack);
    free(s->component);
    free(s->parent);
    free(s->seen);
    free(s->covered);
}

static void enter(struct search *s, size_t v)
{
    s->number[v] = s->low[v] = ++s->reached;
    s->cursor[v] = 0;
    s->component[v] = 0;
    s->path[s->depth++] = v;
    s->stack[s->height++] = v;
}

static void leave(struct search *s, size_t v)
{
    s->depth--;
    if (s->depth > 0 && s->low[v] < s->low[s->path[s->depth - 1]])
        s->low[s->path[s->depth - 1]] = s->low[v];
    if (s->low[v] != s->number[v])
        return;
    s->components++;
    do
        s->component[s->stack[--s->height]] = s->components;
    while (s->stack[s->height] != v);
}

static void find_components(const struct graph *g, struct search *s)
{
    s->reached = s->components = 0;
    memset(s->number, 0, g->count * sizeof(*s->number));
    for (size_t root = 0; root < g->count; root++) {
        if (s->number[root] == 0)
            enter(s, root);
        while (s->depth > 0) {
            size_t v = s->path[s->depth - 1];
            size_t to;

            if (!next_edge(g, v, &s->cursor[v], &to))
                leave(s, v);
            else if (s->number[to] == 0)
                enter(s, to);
            else if (s->component[to] == 0 && s->number[to] < s->low[v])
                s->low[v] = s->number[to];
        }
    }
}

/* --- cycles --- */

/* The shortest way from a vertex back to itself, in s->path from s->path[0] on;
 * its length, 0 without one. */
static size_t find_way_back(const struct graph *g, struct search *s,
                            size_t start)
{
    size_t head = 0;
    size_t tail = 0;
    size_t *queue = s->stack;

    s->searches++;
    for (queue[tail++] = start; head < tail; head++) {
        size_t v = queue[head];
        size_t cursor = 0;
        size_t n = 1;
        size_t to;

        while (next_edge(g, v, &cursor, &to)) {
            if (to == start) {
                for (size_t u = v; u != start; u = s->parent[u])
                    n++;
                for (size_t i = n; i-- > 0; v = s->parent[v])
                    s->path[i] = v;
                return n;
            }
            if (s->component[to] != s->component[start] ||
                s->seen[to] == s->searches)
                continue;
            s->seen[to] = s->searches;
            s->parent[to] = v;
            queue[tail++] = to;
        }
    }
    return 0;
}

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

    m->waits_lock = waits->lock;
    m->waits = waits->c;
    if (!held->waits) {
        m->held_lock = held->lock;
        m->held = held->c;
    }
}

/* The vertex at that place of a cycle. */
static const struct vertex *at(const struct graph *g, const struct search *s,
                               size_t length, size_t i)
{
    return &g->vertices[s->path[i % length]];
}

/* Contenders that only stand in the queue between two that exclude each other
 * are not members, nor are runs in the middle, which hold something else. The
 * first member of a cycle waits. */
static void add_members(struct deadlock *d, const struct graph *g,
                        const struct search *s, size_t length)
{
    size_t start = 0;
    size_t i;

    while (at(g, s, length, start)->waits)
        start++;
    for (i = start; i < start + length;) {
        const struct vertex *held = at(g, s, length, i);
        const struct vertex *waits = held->waits ? held : NULL;
        size_t next = i + 1;

        while (waits == NULL || !waits->waits)
            waits = at(g, s, length, next++);
        for (size_t k = next; k <= start + length; k++) {
            if (at(g, s, length, k)->lock != waits->lock)
                break;
            if (excludes(waits, at(g, s, length, k)))
                next = k;
            if (!at(g, s, length, k)->waits)
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

static bool report(struct deadlocks *all, const struct graph *g,
                   struct search *s, size_t length)
{
    struct deadlock d = { .certain = g->certain };
    struct deadlock *grown =
        realloc(all->items, (all->count + 1) * sizeof(*grown));

    if (grown != NULL)
        all->items = grown;
    d.members = calloc(length, sizeof(*d.members));
    if (grown == NULL || d.members == NULL) {
        free(d.members);
        return false;
    }
    add_members(&d, g, s, length);
    find_youngest(&d);
    all->items[all->count++] = d;
    for (size_t i = 0; i < length; i++)
        s->covered[s->path[i]] = true;
    return true;
}

static bool find_cycles(struct deadlocks *all, const struct graph *g,
                        struct search *s)
{
    find_components(g, s);
    for (size_t i = 0; i < g->count; i++) {
        size_t length;

        if (!g->vertices[i].waits || s->covered[i])
            continue;
        if (all->count == DEADLOCKS_MAX) {
            all->cut = true;
            return true;
        }
        length = find_way_back(g, s, i);
        if (length > 0 && !report(all, g, s, length))
            return false;
    }
    return true;
}

bool deadlocks_find(const struct lock *locks, size_t count,
                    const struct lock *before, size_t before_count,
                    struct deadlocks *ret_deadlocks)
{
    struct deadlocks all = { .count = 0 };
    struct graph g = { .certain = true };
    struct search s = { .depth = 0 };
    bool done = build(&g, locks, count, before, before_count) &&
                search_new(&s, g.count) && find_cycles(&all, &g, &s);

    g.certain = false;
    done = done && find_cycles(&all, &g, &s);
    search_done(&s);
    free(g.vertices);
    free(g.waiters);
    free(g.nested);
    if (done)
        *ret_deadlocks = all;
    else
        deadlocks_done(&all);
    return done;
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
