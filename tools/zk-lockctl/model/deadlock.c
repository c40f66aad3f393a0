/* SPDX-License-Identifier: Apache-2.0 */
/* Finds deadlocks: cycles of owners who wait for each other across locks. */
#include "model/deadlock.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "model/wait_graph.h"

/* No more of them are reported. */
#define DEADLOCKS_MAX 1000

struct search {
    size_t *ends;   /* so many edges end here: 0 is in no cycle */
    size_t *queue;  /* what was reached */
    size_t *parent; /* on the way from the start */
    size_t *seen;   /* by which of the searches it was reached, from 1 */
    size_t *path;   /* a cycle */
    bool *covered;  /* it is part of what was found */
    size_t searches;
};

static void search_done(struct search *s)
{
    free(s->ends);
    free(s->covered);
}

/* One block has all numbers. */
static bool search_new(struct search *s, size_t count)
{
    *s = (struct search){ .ends = calloc(count + 1, 5 * sizeof(size_t)),
                          .covered = calloc(count + 1, sizeof(bool)) };
    if (s->ends == NULL || s->covered == NULL)
        return false;
    s->queue = s->ends + count;
    s->parent = s->queue + count;
    s->seen = s->parent + count;
    s->path = s->seen + count;
    return true;
}

/* Whom nobody waits for is in no cycle, and then who is waited for by none but
 * such. What is left is in a cycle, or waited for by one. */
static void count_ends(const struct wait_graph *g, struct search *s)
{
    size_t tail = 0;
    size_t cursor;
    size_t to;

    memset(s->ends, 0, g->count * sizeof(*s->ends));
    for (size_t v = 0; v < g->count; v++) {
        for (cursor = 0; wait_graph_next(g, v, &cursor, &to);)
            s->ends[to]++;
    }
    for (size_t v = 0; v < g->count; v++) {
        if (s->ends[v] == 0)
            s->queue[tail++] = v;
    }
    for (size_t head = 0; head < tail; head++) {
        for (cursor = 0; wait_graph_next(g, s->queue[head], &cursor, &to);) {
            if (--s->ends[to] == 0)
                s->queue[tail++] = to;
        }
    }
}

/* --- the shortest cycle through a contender --- */

/* The shortest way from a vertex back to itself, in s->path from s->path[0] on;
 * its length, 0 without one. */
static size_t find_way_back(const struct wait_graph *g, struct search *s,
                            size_t start)
{
    size_t head = 0;
    size_t tail = 0;
    size_t *queue = s->queue;

    s->searches++;
    for (queue[tail++] = start; head < tail; head++) {
        size_t v = queue[head];
        size_t cursor = 0;
        size_t n = 1;
        size_t to;

        while (wait_graph_next(g, v, &cursor, &to)) {
            if (to == start) {
                for (size_t u = v; u != start; u = s->parent[u])
                    n++;
                for (size_t i = n; i-- > 0; v = s->parent[v])
                    s->path[i] = v;
                return n;
            }
            if (s->seen[to] == s->searches)
                continue;
            s->seen[to] = s->searches;
            s->parent[to] = v;
            queue[tail++] = to;
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

    m->waits_lock = waits->lock;
    m->waits = waits->c;
    if (!held->waits) {
        m->held_lock = held->lock;
        m->held = held->c;
    }
}

/* The vertex at that place of a cycle. */
static const struct vertex *at(const struct wait_graph *g,
                               const struct search *s, size_t length, size_t i)
{
    return &g->vertices[s->path[i % length]];
}

/* Contenders that only stand in the queue between two that exclude each other
 * are not members, nor are runs in the middle, which hold something else. The
 * first member of a cycle waits. */
static void add_members(struct deadlock *d, const struct wait_graph *g,
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

/* --- all deadlocks --- */

static bool has_session(const struct deadlock *d, int64_t session_id)
{
    for (size_t i = 0; i < d->count; i++) {
        if (d->members[i].waits->node->session_id == session_id)
            return true;
    }
    return false;
}

static bool has_sessions_of(const struct deadlock *d, const struct deadlock *of)
{
    for (size_t i = 0; i < of->count; i++) {
        if (!has_session(d, of->members[i].waits->node->session_id))
            return false;
    }
    return true;
}

/* Of the same sessions; but a session alone waits for itself in each lock. */
static bool is_same(const struct deadlock *a, const struct deadlock *b)
{
    return has_sessions_of(a, b) && has_sessions_of(b, a) &&
           (a->count > 1 || b->count > 1 ||
            a->members[0].waits_lock == b->members[0].waits_lock);
}

static bool is_known(const struct deadlocks *all, const struct deadlock *d)
{
    for (size_t i = 0; i < all->count; i++) {
        if (is_same(&all->items[i], d))
            return true;
    }
    return false;
}

/* Of a session that waits for itself, no other wait in that lock is looked at:
 * a program may have thousands of threads there. */
static void cover(struct search *s, const struct wait_graph *g, size_t length,
                  const struct deadlock *d)
{
    const struct deadlock_member *m = &d->members[0];

    for (size_t i = 0; i < length; i++)
        s->covered[s->path[i]] = true;
    for (size_t i = s->path[0]; d->count == 1 && i < g->count; i++) {
        const struct vertex *v = &g->vertices[i];

        if (v->lock != m->waits_lock)
            break;
        if (v->c->node->session_id == m->waits->node->session_id)
            s->covered[i] = true;
    }
}

static bool report(struct deadlocks *all, const struct wait_graph *g,
                   struct search *s, size_t length)
{
    struct deadlock d = { .certain = g->certain };
    struct deadlock *added = NULL;

    d.members = calloc(length, sizeof(*d.members));
    if (d.members == NULL)
        return false;
    add_members(&d, g, s, length);
    find_youngest(&d);
    cover(s, g, length, &d);
    if (!is_known(all, &d) && (added = GROW(all)) == NULL) {
        free(d.members);
        return false;
    }
    if (added != NULL)
        *added = d;
    else
        free(d.members);
    return true;
}

static bool find_cycles(struct deadlocks *all, const struct wait_graph *g,
                        struct search *s)
{
    count_ends(g, s);
    for (size_t i = 0; i < g->count; i++) {
        size_t length;

        if (!g->vertices[i].waits || s->covered[i] || s->ends[i] == 0)
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
    struct wait_graph g = { .certain = true };
    struct search s = { .searches = 0 };
    bool done = wait_graph_build(&g, locks, count, before, before_count) &&
                search_new(&s, g.count) && find_cycles(&all, &g, &s);

    g.certain = false;
    done = done && find_cycles(&all, &g, &s);
    search_done(&s);
    wait_graph_done(&g);
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
