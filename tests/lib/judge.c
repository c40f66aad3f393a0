/* SPDX-License-Identifier: Apache-2.0 */
/* The judge of a lock: one rule after the other, each over a sorted array. */
#include "judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of a violation follows its sentence. */
static const char *const sentences[JUDGE_RULES] = {
    [JUDGE_OVERLAP] = "it overlaps an earlier grant, by",
    [JUDGE_CROWDED] = "the limit was reached when it was granted, by",
    [JUDGE_DISORDER] = "its token is not above an earlier one,",
    [JUDGE_TWICE] = "another grant has its token,",
    [JUDGE_UNKNOWN] = "the server has no such node,",
    [JUDGE_EARLY] = "it was granted before a node ahead had gone, by",
    [JUDGE_LATE] = "it was held after its node had gone, by",
    [JUDGE_PASSED] = "its node went before that of an earlier grant,",
    [JUDGE_LEFT] = "the node is still there, token",
    [JUDGE_STALE] = "it was accepted after a higher token,",
};

struct trial {
    const struct judge_records *records;
    struct judge_grant *grants; /* in the order in which they began */
    int64_t *ahead; /* for each node: when the last that it waits for went */
    struct judgement *ret;
};

void *judge_array(size_t count, size_t size)
{
    void *array = calloc(count + 1, size);

    if (array == NULL)
        abort();
    return array;
}

static void find(const struct trial *t, enum judge_rule rule, const char *who,
                 bool shared, int64_t token, int64_t number)
{
    char sentence[sizeof(t->ret->first)];

    (void)snprintf(sentence, sizeof(sentence),
                   "%s, %s, token 0x%" PRIx64 ": %s %" PRId64, who,
                   shared ? "shared" : "exclusive", (uint64_t)token,
                   sentences[rule], number);
    t->ret->counts[rule]++;
    if (t->ret->violations++ == 0)
        memcpy(t->ret->first, sentence, sizeof(sentence));
    if (t->records->tell != NULL)
        t->records->tell(t->records->user, sentence);
}

static void blame(const struct trial *t, enum judge_rule rule,
                  const struct judge_grant *g, int64_t number)
{
    find(t, rule, g->who, g->shared, g->token, number);
}

/* The highest number so far. */
struct highest {
    int64_t of_all;
    int64_t of_exclusive;
};

static int64_t highest_in_conflict(const struct highest *h, bool shared)
{
    return shared ? h->of_exclusive : h->of_all;
}

static void raise_highest(struct highest *h, bool shared, int64_t number)
{
    if (number > h->of_all)
        h->of_all = number;
    if (!shared && number > h->of_exclusive)
        h->of_exclusive = number;
}

static bool is_instant(const struct judge_grant *g)
{
    return g->begin == g->end;
}

/* Grants among themselves */

static void judge_overlaps(const struct trial *t)
{
    struct highest end = { INT64_MIN, INT64_MIN };

    for (size_t i = 0; i < t->records->grant_count; i++) {
        const struct judge_grant *g = &t->grants[i];
        int64_t before = highest_in_conflict(&end, g->shared);

        if (is_instant(g))
            continue;
        if (g->begin < before)
            blame(t, JUDGE_OVERLAP, g, before - g->begin);
        raise_highest(&end, g->shared, g->end);
    }
}

/* Each grant takes the seat that was given back first: when that one is still
 * taken, all are. */
static void judge_crowds(const struct trial *t)
{
    size_t limit = t->records->limit;
    int64_t *seats = judge_array(limit, sizeof(*seats)); /* when each is free */

    for (size_t i = 0; i < limit; i++)
        seats[i] = INT64_MIN;
    for (size_t i = 0; limit > 0 && i < t->records->grant_count; i++) {
        const struct judge_grant *g = &t->grants[i];
        size_t first = 0;

        if (is_instant(g))
            continue;
        for (size_t k = 1; k < limit; k++)
            first = seats[k] < seats[first] ? k : first;
        if (g->begin < seats[first])
            blame(t, JUDGE_CROWDED, g, seats[first] - g->begin);
        if (g->end > seats[first])
            seats[first] = g->end;
    }
    free(seats);
}

/* Tokens grow from node to node, hand-offs from grant to grant of one node. */
static int compare_tokens(const struct judge_grant *x,
                          const struct judge_grant *y)
{
    if (x->token != y->token)
        return judge_compare(x->token, y->token);
    return (x->handoff > y->handoff) - (x->handoff < y->handoff);
}

static void judge_order(const struct trial *t)
{
    const struct judge_grant none = { .token = 0, .handoff = UINT64_MAX };
    const struct judge_grant *highest = &none;
    const struct judge_grant *highest_exclusive = &none;

    for (size_t i = 0; i < t->records->grant_count; i++) {
        const struct judge_grant *g = &t->grants[i];
        const struct judge_grant *before =
            g->shared ? highest_exclusive : highest;

        if (is_instant(g))
            continue;
        if (compare_tokens(g, before) <= 0)
            blame(t, JUDGE_DISORDER, g, before->token);
        if (compare_tokens(g, highest) > 0)
            highest = g;
        if (!g->shared && compare_tokens(g, highest_exclusive) > 0)
            highest_exclusive = g;
    }
}

/* Grants and nodes */

static int node_by_token(const void *key, const void *element)
{
    return judge_compare(*(const int64_t *)key,
                         ((const struct judge_node *)element)->token);
}

/* The node that a grant says it has; NULL when there was none. */
static const struct judge_node *node_of(const struct trial *t,
                                        const struct judge_grant *g)
{
    const struct judge_records *r = t->records;

    if (r->node_count == 0)
        return NULL;
    const struct judge_node *n =
        bsearch(&g->token, r->nodes, r->node_count, sizeof(*n), node_by_token);
    if (n != NULL && g->node != NULL && strcmp(g->node, n->name) != 0)
        return NULL;
    return n;
}

static void judge_times(const struct trial *t, const struct judge_grant *g,
                        const struct judge_node *n)
{
    int64_t slack = t->records->slack;
    int64_t ahead = t->ahead[n - t->records->nodes];

    if (ahead > g->begin + slack)
        blame(t, JUDGE_EARLY, g, ahead - g->begin);
    if (!is_instant(g) && n->gone_at != JUDGE_NEVER && g->end != JUDGE_NEVER &&
        g->end > n->gone_at + slack)
        blame(t, JUDGE_LATE, g, g->end - n->gone_at);
}

/* The latest end so far, its session, and the latest of another one. */
struct latest {
    int64_t end;
    int64_t session;
    int64_t of_others;
};

static void take_end(struct latest *l, const struct judge_node *n)
{
    bool same = n->session != 0 && n->session == l->session;

    if (n->gone_at > l->end) {
        l->of_others = same ? l->of_others : l->end;
        l->end = n->gone_at;
        l->session = n->session;
    } else if (!same && n->gone_at > l->of_others) {
        l->of_others = n->gone_at;
    }
}

static void find_ahead(struct trial *t)
{
    struct latest all = { INT64_MIN, 0, INT64_MIN };
    struct latest exclusive = all;

    for (size_t i = 0; i < t->records->node_count; i++) {
        const struct judge_node *n = &t->records->nodes[i];
        const struct latest *l = n->shared ? &exclusive : &all;

        t->ahead[i] =
            n->session != 0 && n->session == l->session ? l->of_others : l->end;
        take_end(&all, n);
        if (!n->shared)
            take_end(&exclusive, n);
    }
}

static void judge_nodes(struct trial *t)
{
    const struct judge_records *r = t->records;
    struct highest gone = { INT64_MIN, INT64_MIN };

    find_ahead(t);
    for (size_t i = 0; i < r->grant_count; i++) {
        const struct judge_grant *g = &t->grants[i];
        const struct judge_node *n = node_of(t, g);

        if (n == NULL) {
            blame(t, JUDGE_UNKNOWN, g, g->begin);
            continue;
        }
        /* The nodes went in the order in which their grants began. The end of a
         * session takes several at once, and grants that were handed on have
         * one. */
        int64_t before = highest_in_conflict(&gone, g->shared);
        if (!is_instant(g) && n->gone < before)
            blame(t, JUDGE_PASSED, g, before);
        if (!is_instant(g))
            raise_highest(&gone, g->shared, n->gone);
        if (r->timed)
            judge_times(t, g, n);
    }
    for (size_t i = 0; i < r->node_count; i++) {
        const struct judge_node *n = &r->nodes[i];

        if (n->gone == JUDGE_NEVER)
            find(t, JUDGE_LEFT, n->name, n->shared, n->token, n->token);
    }
}

/* The whole trial */

static int by_begin(const void *a, const void *b)
{
    return judge_compare(((const struct judge_grant *)a)->begin,
                         ((const struct judge_grant *)b)->begin);
}

static int by_token(const void *a, const void *b)
{
    int order = compare_tokens(a, b);

    return order != 0 ? order : by_begin(a, b);
}

void judge_lock(const struct judge_records *records, struct judgement *ret)
{
    size_t count = records->grant_count;
    struct judge_grant *grants = judge_array(count, sizeof(*grants));
    int64_t *ahead = judge_array(records->node_count, sizeof(*ahead));
    struct trial t = { records, grants, ahead, ret };
    struct highest token = { 0, 0 };

    *ret = (struct judgement){ .violations = 0 };
    if (count > 0)
        memcpy(grants, records->grants, count * sizeof(*grants));
    qsort(grants, count, sizeof(*grants), by_begin);
    judge_overlaps(&t);
    judge_crowds(&t);
    judge_order(&t);
    if (records->nodes != NULL)
        judge_nodes(&t);
    qsort(grants, count, sizeof(*grants), by_token);
    for (struct judge_grant *g = grants + 1; g < grants + count; g++) {
        if (compare_tokens(g, &g[-1]) == 0)
            blame(&t, JUDGE_TWICE, g, g[-1].begin);
    }
    for (size_t i = 0; i < records->access_count; i++) {
        const struct judge_access *a = &records->accesses[i];
        int64_t before = highest_in_conflict(&token, a->shared);

        if (a->token < before)
            find(&t, JUDGE_STALE, "an access", a->shared, a->token, before);
        raise_highest(&token, a->shared, a->token);
    }
    free(grants);
    free(ahead);
}
