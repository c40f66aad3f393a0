/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the strongly connected components (Tarjan 1972), without recursion. */
#include "model/components.h"

#include <stdlib.h>

struct search {
    size_t *number; /* in which order they were reached, from 1 */
    size_t *low;
    size_t *cursor;
    size_t *path;      /* from the root to where we are */
    size_t *stack;     /* those without a component yet */
    size_t *component; /* of the caller */
    size_t depth;
    size_t height;
    size_t reached;
    size_t components;
};

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

static void search_from(const struct wait_graph *g, struct search *s,
                        size_t root)
{
    enter(s, root);
    while (s->depth > 0) {
        size_t v = s->path[s->depth - 1];
        size_t to;

        if (!wait_graph_next(g, v, &s->cursor[v], &to))
            leave(s, v);
        else if (s->number[to] == 0)
            enter(s, to);
        else if (s->component[to] == 0 && s->number[to] < s->low[v])
            s->low[v] = s->number[to];
    }
}

bool components_find(const struct wait_graph *g, size_t *component)
{
    enum { ARRAYS = 5 };
    size_t *room = calloc(g->count + 1, ARRAYS * sizeof(*room));
    struct search s = { .component = component };

    if (room == NULL)
        return false;
    s.number = room;
    s.low = room + g->count;
    s.cursor = room + 2 * g->count;
    s.path = room + 3 * g->count;
    s.stack = room + 4 * g->count;
    for (size_t root = 0; root < g->count; root++) {
        if (s.number[root] == 0)
            search_from(g, &s, root);
    }
    free(room);
    return true;
}
