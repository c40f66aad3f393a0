/* SPDX-License-Identifier: Apache-2.0 */
/* graph: shows all owners with the locks that they hold or wait for. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "model/across.h"
#include "text/aligned.h"
#include "text/cells.h"
#include "text/describe.h"
#include "text/dot.h"
#include "text/envelope.h"

static const struct column columns[] = {
    { .name = "OWNER", .rank = 0, .narrow = 20 },
    { .name = "EDGE", .rank = 1 },
    { .name = "LOCK", .rank = 2, .narrow = 20, .tail = true },
    { .name = "POSITION", .rank = 4, .right = true },
    { .name = "SINCE", .rank = 5, .right = true },
    { .name = "DEADLOCK", .rank = 3, .right = true },
    { .name = "TOKEN", .wide = true },
    { .name = "SESSION", .wide = true },
    { .name = "NODE", .wide = true },
};
enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

/* One owner and one lock: it holds it, or waits for it. */
struct edge {
    const struct lock *lock;
    const struct contender *c;
    size_t deadlock; /* counted from 1; 0: part of none */
};

struct edges {
    struct edge *items;
    size_t count;
};

/* --- which there are --- */

static int by_contender(const void *a, const void *b)
{
    const struct edge *x = a;
    const struct edge *y = b;

    return x->c < y->c ? -1 : x->c > y->c;
}

/* Those of each lock are in one array; so where they lie is an order. */
static void mark(struct edges *sorted, const struct contender *c, size_t number)
{
    struct edge key = { .c = c };
    struct edge *found = c == NULL ? NULL
                                   : bsearch(&key, sorted->items, sorted->count,
                                             sizeof(key), by_contender);

    if (found != NULL && found->deadlock == 0)
        found->deadlock = number;
}

static int by_lock(const void *a, const void *b)
{
    const struct edge *x = a;
    const struct edge *y = b;

    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    return by_contender(a, b);
}

static void mark_all(struct edges *edges, const struct deadlocks *all)
{
    qsort(edges->items, edges->count, sizeof(*edges->items), by_contender);
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < all->items[i].count; k++) {
            mark(edges, all->items[i].members[k].held, i + 1);
            mark(edges, all->items[i].members[k].waits, i + 1);
        }
    }
    qsort(edges->items, edges->count, sizeof(*edges->items), by_lock);
}

static bool collect(const struct across *a, struct edges *ret_edges)
{
    struct edges edges = { .count = 0 };
    size_t most = 1;

    for (size_t i = 0; i < a->scan.count; i++)
        most += a->scan.locks[i].count;
    edges.items = calloc(most, sizeof(*edges.items));
    if (edges.items == NULL)
        return false;
    for (size_t i = 0; i < a->scan.count; i++) {
        const struct lock *lock = &a->scan.locks[i];

        for (size_t k = 0; k < lock->count; k++) {
            if (!contender_is_promised(&lock->items[k]))
                edges.items[edges.count++] =
                    (struct edge){ .lock = lock, .c = &lock->items[k] };
        }
    }
    mark_all(&edges, &a->deadlocks);
    *ret_edges = edges;
    return true;
}

static const char *name_of(const struct edge *e)
{
    return e->c->node->holds ? "holds" : "waits for";
}

static size_t position_of(const struct edge *e)
{
    return (size_t)(e->c - e->lock->items);
}

/* --- table --- */

static bool print_row(struct table *table, const void *of, size_t i)
{
    const struct edge *e = (const struct edge *)of + i;
    const char *cells[COLUMN_COUNT] = { NULL };
    char who[WHO_MAX];
    char path[PATH_TEXT_MAX];
    char node[1024];
    char position[WORD_MAX], since[WORD_MAX], deadlock[WORD_MAX];
    char token[WORD_MAX], session[WORD_MAX];

    (void)escape_string(e->c->node->name, node, sizeof(node));
    cells[0] = contender_who(e->c, who);
    cells[1] = name_of(e);
    cells[2] = cell_path(e->lock->path, path);
    cells[3] = cell_count(position_of(e), false, position);
    if (e->c->age_ms >= 0)
        cells[4] = word_age(e->c->age_ms, since);
    if (e->deadlock != 0)
        cells[5] = cell_count(e->deadlock, false, deadlock);
    cells[6] = cell_token(e->c, token);
    cells[7] = cell_session(e->c, session);
    cells[8] = node;
    return table_row(table, cells, e->deadlock != 0 ? STYLE_BAD : STYLE_PLAIN);
}

/* --- JSON --- */

static json_t *describe_edge(const void *of, size_t i)
{
    const struct edge *e = (const struct edge *)of + i;
    char who[WHO_MAX];

    return json_pack("{s:s, s:s, s:o, s:I, s:o, s:o}", "edge",
                     e->c->node->holds ? "holds" : "waits_for", "who",
                     contender_who(e->c, who), "lock",
                     json_text(e->lock->path, strlen(e->lock->path)),
                     "position", (json_int_t)position_of(e), "deadlock",
                     e->deadlock == 0 ? json_null()
                                      : json_integer((json_int_t)e->deadlock),
                     "contender", describe_contender(e->lock, e->c));
}

/* --- DOT --- */

static void draw_edge(const struct scan *scan, const struct edge *e)
{
    char owner_id[DOT_ID_MAX];
    char lock_id[DOT_ID_MAX];
    char text[WORD_MAX];
    bool bad = e->deadlock != 0;

    (void)dot_owner_id(scan, e->lock, e->c, owner_id);
    (void)dot_lock_id(scan, e->lock, lock_id);
    if (e->c->node->holds) {
        dot_edge(lock_id, owner_id, "held by", bad);
        return;
    }
    (void)snprintf(text, sizeof(text), "waits, position %zu", position_of(e));
    dot_edge(owner_id, lock_id, text, bad);
}

/* Graphviz takes what is written last of a node: so those of a deadlock come
 * last. */
static int print_dot(const struct across *a, const struct edges *edges)
{
    char id[DOT_ID_MAX];

    dot_begin();
    for (size_t i = 0; i < a->scan.count; i++) {
        const struct lock *lock = &a->scan.locks[i];

        dot_lock(dot_lock_id(&a->scan, lock, id), lock, false);
    }
    for (int bad = 0; bad < 2; bad++) {
        for (size_t i = 0; i < edges->count; i++) {
            const struct edge *e = &edges->items[i];

            if ((e->deadlock != 0) != bad)
                continue;
            if (bad)
                dot_lock(dot_lock_id(&a->scan, e->lock, id), e->lock, true);
            dot_owner(dot_owner_id(&a->scan, e->lock, e->c, id), e->c, bad);
        }
    }
    for (size_t i = 0; i < edges->count; i++)
        draw_edge(&a->scan, &edges->items[i]);
    dot_end();
    return 0;
}

static int print(const struct lockctl *ctl, const struct across *a)
{
    struct edges edges;
    int code;

    if (!collect(a, &edges))
        return lockctl_fail_error(ZKR_ENOMEM, "");
    if (output_is_json(ctl))
        code = output_items(ctl, "Graph", a->scan.at_ms, describe_edge,
                            edges.items, edges.count, &a->scan.notes);
    else if (ctl->format == FORMAT_DOT)
        code = print_dot(a, &edges);
    else
        code = table_print(ctl, columns, COLUMN_COUNT, print_row, edges.items,
                           edges.count);
    notes_say(&a->scan.notes, ctl);
    if (edges.count == 0)
        lockctl_say(ctl, "nobody holds or waits");
    free(edges.items);
    return code;
}

static int graph(struct lockctl *ctl, int argc, char **argv)
{
    return across_run(ctl, &verb_graph, argc, argv, print);
}

const struct verb verb_graph = {
    .name = "graph",
    .usage = "[OPTION]... [PATH]...",
    .summary = "Show who holds and who waits, across locks",
    .help = "  --confirm DURATION  as for deadlocks (1s)\n"
            "  --possible          as for deadlocks\n"
            "  --depth N           look into N levels of directories (32)\n"
            "  --limit N           look at no more than N locks (10000)\n"
            "  --within DURATION   search no longer than that (60s)\n"
            "\n"
            "Exit code 1 when one is confirmed; all are red. With -o dot:\n"
            "  zk-lockctl graph -o dot | dot -Tsvg > locks.svg\n",
    .run = graph,
};
