/* SPDX-License-Identifier: Apache-2.0 */
/* deadlocks: finds owners who wait for each other, and says what would end
 * it. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/shell.h"
#include "common/words.h"
#include "model/across.h"
#include "text/aligned.h"
#include "text/cells.h"
#include "text/describe.h"
#include "text/dot.h"
#include "text/envelope.h"

static int64_t age_of(const struct across *a, const struct deadlock *d)
{
    return a->scan.at_ms > d->since ? a->scan.at_ms - d->since : 0;
}

static const char *certainty(const struct deadlock *d)
{
    return d->certain ? "confirmed" : "possible";
}

/* --- as text --- */

static void print_place(const char *verb, const struct lock *lock,
                        const struct contender *c)
{
    char path[PATH_TEXT_MAX];
    char age[WORD_MAX];

    (void)printf("%s %s (", verb, cell_path(lock->path, path));
    if (c->node->holds)
        (void)printf("<=");
    (void)printf("%s", word_age(c->age_ms, age));
    if (!c->node->holds)
        (void)printf(", position %zu", (size_t)(c - lock->items));
    (void)putchar(')');
}

static void print_member(const struct deadlock_member *m, int width)
{
    char who[WHO_MAX];

    (void)printf("  %-*s", width, contender_who(m->waits, who));
    if (deadlock_is_nested(m)) {
        print_place("  waits for", m->waits_lock, m->waits);
        (void)printf(", inside %s, which", contender_who(m->held, who));
        print_place(" holds", m->held_lock, m->held);
    } else {
        if (m->held != NULL)
            print_place("  holds", m->held_lock, m->held);
        print_place("  waits for", m->waits_lock, m->waits);
    }
    (void)putchar('\n');
}

/* The user may paste it into a shell, and others chose these bytes. */
static void print_shell_word(const char *text)
{
    char *word = shell_word(text);

    (void)fputs(word == NULL ? "?" : word, stdout);
    free(word);
}

/* The owner that has waited shortest loses least. */
static void print_cure(const struct deadlock *d)
{
    const struct deadlock_member *m = d->youngest;
    const struct contender *c = m->held == NULL ? m->waits : m->held;
    const struct lock *lock = m->held == NULL ? m->waits_lock : m->held_lock;
    char who[WHO_MAX];
    char token[WORD_MAX];
    char stop[STOP_MAX];
    bool listens = c->node->holds && !c->owner.is_asked &&
                   zkr__hears_requests(c->node, c->dialect);

    (void)printf("  waits shortest: %s\n", contender_who(m->waits, who));
    (void)printf("  to resolve: ");
    if (deadlock_is_nested(m)) /* it has nothing yet that could be harmed */
        (void)printf("end %s, or: ", contender_who(m->waits, who));
    (void)printf("zk-lockctl %s", listens ? "revoke " : "break ");
    if (!listens)
        (void)printf("--token %s ", word_token(c->node->token, token));
    print_shell_word(lock->path);
    if (!listens)
        (void)printf("   (stop %s first: it may not notice)",
                     contender_to_stop(c, "that program", stop));
    (void)putchar('\n');
}

static int widest(const struct deadlock *d)
{
    char who[WHO_MAX];
    int width = 0;

    for (size_t i = 0; i < d->count; i++) {
        int len = (int)strlen(contender_who(d->members[i].waits, who));

        width = len > width ? len : width;
    }
    return width;
}

static void print_text(const struct across *a)
{
    char age[WORD_MAX];

    for (size_t i = 0; i < a->deadlocks.count; i++) {
        const struct deadlock *d = &a->deadlocks.items[i];

        (void)printf("%sDEADLOCK %zu (%s, %zu owner%s, for %s)\n",
                     i == 0 ? "" : "\n", i + 1, certainty(d), d->count,
                     d->count == 1 ? "" : "s", word_age(age_of(a, d), age));
        for (size_t k = 0; k < d->count; k++)
            print_member(&d->members[k], widest(d));
        if (d->certain)
            print_cure(d);
        else
            (void)puts("  possible: it is none if other threads of the session "
                       "wait, or in an election;\n"
                       "  see the stacks of these programs before you end one");
    }
}

/* --- as rows --- */

static const struct column columns[] = {
    { .name = "DEADLOCK", .right = true },
    { .name = "CERTAINTY" },
    { .name = "OWNER" },
    { .name = "HOLDS" },
    { .name = "WAITS_FOR" },
    { .name = "WAIT", .right = true },
    { .name = "TOKEN" },
    { .name = "SESSION" },
    { .name = "NODE", .wide = true },
};
enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

static bool print_member_row(struct table *table, size_t number,
                             const struct deadlock *d,
                             const struct deadlock_member *m)
{
    const char *cells[COLUMN_COUNT] = { NULL };
    char index[WORD_MAX], wait[WORD_MAX], token[WORD_MAX], session[WORD_MAX];
    char held[PATH_TEXT_MAX];
    char waits[PATH_TEXT_MAX];
    char node[1024];
    char who[WHO_MAX];

    (void)escape_string(m->waits->node->name, node, sizeof(node));
    cells[0] = cell_count(number, false, index);
    cells[1] = certainty(d);
    cells[2] = contender_who(m->waits, who);
    if (m->held != NULL) {
        cells[3] = cell_path(m->held_lock->path, held);
        cells[6] = word_token(m->held->node->token, token);
    }
    cells[4] = cell_path(m->waits_lock->path, waits);
    cells[5] = word_age(m->waits->age_ms, wait);
    cells[7] = word_id(m->waits->node->session_id, session);
    cells[8] = node;
    return table_row(table, cells, d->certain ? STYLE_BAD : STYLE_PLAIN);
}

/* A row for each of its members. */
static bool print_row(struct table *table, const void *of, size_t i)
{
    const struct deadlock *d = &((const struct across *)of)->deadlocks.items[i];

    for (size_t k = 0; k < d->count; k++) {
        if (!print_member_row(table, i + 1, d, &d->members[k]))
            return false;
    }
    return true;
}

/* --- JSON --- */

static json_t *describe_place(const struct lock *lock,
                              const struct contender *c)
{
    if (c == NULL)
        return json_null();
    return json_pack("{s:o, s:I, s:o}", "lock",
                     json_text(lock->path, strlen(lock->path)), "position",
                     (json_int_t)(c - lock->items), "contender",
                     describe_contender(lock, c));
}

static json_t *describe_member(const struct deadlock *d,
                               const struct deadlock_member *m)
{
    char who[WHO_MAX];

    return json_pack("{s:s, s:o, s:o, s:o, s:b}", "who",
                     contender_who(m->waits, who), "session",
                     json_session(m->waits->node->session_id), "holds",
                     describe_place(m->held_lock, m->held), "waits_for",
                     describe_place(m->waits_lock, m->waits), "waits_shortest",
                     (int)(m == d->youngest));
}

static json_t *describe(const void *of, size_t i)
{
    const struct across *a = of;
    const struct deadlock *d = &a->deadlocks.items[i];
    json_t *members = json_array();

    for (size_t k = 0; k < d->count; k++)
        (void)json_array_append_new(members,
                                    describe_member(d, &d->members[k]));
    return json_pack("{s:b, s:I, s:o, s:o}", "confirmed", (int)d->certain,
                     "age_ms", (json_int_t)age_of(a, d), "since",
                     json_time(d->since), "owners", members);
}

/* --- DOT: all who hold and wait; deadlocks are red --- */

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

static void draw_tie(const struct scan *scan, const struct deadlock_member *m)
{
    char outer[DOT_ID_MAX];
    char inner[DOT_ID_MAX];

    (void)dot_owner_id(scan, m->held_lock, m->held, outer);
    (void)dot_owner_id(scan, m->waits_lock, m->waits, inner);
    dot_edge(outer, inner, "runs", true);
}

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
    (void)snprintf(text, sizeof(text), "waits, position %zu",
                   (size_t)(e->c - e->lock->items));
    dot_edge(owner_id, lock_id, text, bad);
}

/* Graphviz takes what is written last of a node: so those of a deadlock come
 * last. */
static void draw_ties(const struct across *a)
{
    for (size_t i = 0; i < a->deadlocks.count; i++) {
        const struct deadlock *d = &a->deadlocks.items[i];

        for (size_t k = 0; k < d->count; k++) {
            if (deadlock_is_nested(&d->members[k]))
                draw_tie(&a->scan, &d->members[k]);
        }
    }
}

static void draw(const struct across *a, const struct edges *edges)
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
    draw_ties(a);
    dot_end();
}

static int print_dot(const struct across *a)
{
    struct edges edges;

    if (!collect(a, &edges))
        return lockctl_fail_error(ZKR_ENOMEM, "");
    draw(a, &edges);
    free(edges.items);
    return 0;
}

static int print(const struct lockctl *ctl, const struct across *a)
{
    int code = 0;

    if (output_is_json(ctl))
        code = output_items(ctl, "DeadlockList", a->scan.at_ms, describe, a,
                            a->deadlocks.count, &a->scan.notes);
    else if (ctl->format == FORMAT_DOT)
        code = print_dot(a);
    else if (ctl->format != FORMAT_TABLE || ctl->columns != NULL)
        code = table_print(ctl, columns, COLUMN_COUNT, print_row, a,
                           a->deadlocks.count);
    else
        print_text(a);
    notes_say(&a->scan.notes, ctl);
    if (a->deadlocks.count == 0 && (a->scan.count > 0 || a->scan.denied == 0))
        lockctl_say(ctl, "no deadlock among %zu lock%s", a->scan.count,
                    word_plural(a->scan.count));
    return code;
}

/* clang-format off */
static const struct opt options[] = {
    { "possible", .type = OPT_ON, .at = ACROSS_AT(possible),
      .help = "also what is only possible: the nodes do not say which thread is theirs, as those of Curator, of kazoo and of claims without threads" },
    ACROSS_OPTIONS,
    { .name = NULL },
};
/* clang-format on */

static int deadlocks(struct lockctl *ctl, int argc, char **argv)
{
    return across_run(ctl, &verb_deadlocks, argc, argv, print);
}

const struct verb verb_deadlocks = {
    .name = "deadlocks",
    .usage = "[OPTION]... [PATH]...",
    .summary = "Find owners of locks who wait for each other; exit code 1",
    .options = options,
    .help =
        "Confirmed, with exit code 1: the records say that one thread holds "
        "and\n"
        "waits, or that a run waits inside of a run. Without records a "
        "session\n"
        "behind its own node is possible only: two threads may use one lock.\n"
        "A candidate for leader blocks nobody; but LeaderSelector, and the\n"
        "election of kazoo, look like a mutex.\n"
        "\n"
        "A release that is on its way looks like a lock that is still held:\n"
        "do not confirm at once where clients or servers are slow.\n"
        "\n"
        "All locks at and below the paths, or all there are. A waiter for an\n"
        "unfair mutex has no node, and is not seen. -o dot: all who hold and\n"
        "wait, with deadlocks in red: deadlocks -o dot | dot -Tsvg "
        ">locks.svg\n",
    .run = deadlocks,
};
