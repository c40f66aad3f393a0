/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of claims: judges each grant at the moment when the library makes
 * it, before the user is told.
 *
 * A grant lasts until the claim leaves, or until its node is deleted, whichever
 * comes first. In this time no claim that conflicts may be granted, of this
 * session or of another. */
#include "oracle.h"

#include <limits.h>

#include "lock/cohort.h"
#include "lock/locks.h"

struct held {
    struct held *next;
    const struct zkr__claim *claim; /* NULL: it has left */
    const struct zkr__claim *beside;
    const struct node *node;
    bool shared;
    int64_t token;    /* a reader beside a writer has the place of that */
    uint32_t markers; /* of those that it waits for */
    int began;        /* the move by which it was granted */
    int ended;        /* the move by which it has left; or INT_MAX */
};

static OF_SCHEDULE struct held *all;
static OF_SCHEDULE int moves;

static const struct node *node_of(const struct zkr__claim *c)
{
    return oracle_node(c->node->path, c->node->czxid);
}

/* A mutex beside read/write locks waits for mutexes only. */
static bool heeds(const struct held *h, const struct node *n)
{
    int64_t seq;

    return strcmp(n->name, "holder") == 0 ||
           zkr__node_name_parse(n->name, h->markers, &seq) != ZKR__FOREIGN;
}

/* The one that came later would have to wait for the other. */
static bool conflict(const struct held *a, const struct held *b)
{
    const struct held *later = a->token > b->token ? a : b;

    return oracle_is_one_lock(a->node, b->node) && !oracle_is_lease(a->node) &&
           !(a->shared && b->shared) && a->beside != b->claim &&
           b->beside != a->claim && heeds(later, (later == a ? b : a)->node);
}

/* Chains that still wait for more leases have theirs, too. */
static void check_exclusion(const struct held *h)
{
    uint32_t leases = 0;

    for (const struct held *b = all; b != NULL; b = b->next) {
        if (b->claim == NULL || !is_there(b->node))
            continue;
        leases += oracle_is_lease(b->node);
        WRONG_IF(b != h && conflict(h, b),
                 "P1: %s is granted the lock while %s has it", h->node->path,
                 b->node->path);
    }
    WRONG_IF(oracle_is_lease(h->node) && leases > world.limit,
             "P1: %s is granted, and %u are held of %u", h->node->path, leases,
             world.limit);
}

/* A claim of this session that came before, and has not been given up. */
static bool is_passed(const struct held *h, const struct zkr__claim *c)
{
    return c != h->claim && c != h->beside && c->lock->line != NULL &&
           c->lock->line == h->claim->lock->line && c->place.counts &&
           !c->outcome.decided && c->epoch == c->session->epoch &&
           c->node->path[0] != '\0' && c->place.seq >= 0 &&
           !(h->shared && c->place.kind == ZKR__SHARED) &&
           c->place.seq < h->claim->place.seq;
}

static void check_order(const struct held *h)
{
    const struct zkr__list *claims = &zkr__locks_of(h->claim->session)->claims;

    for (const struct zkr__list *l = claims->next; l != claims; l = l->next) {
        const struct zkr__claim *c = ZKR__CONTAINER(l, struct zkr__claim, link);
        const struct node *n = is_passed(h, c) ? node_of(c) : NULL;

        WRONG_IF(n != NULL && is_there(n),
                 "P5: %s is granted the lock before %s, of the same "
                 "session",
                 h->node->path, n->path);
    }
}

static void begins(const struct zkr__claim *c)
{
    struct held *h = ARENA_NEW(
        struct held, .next = all, .claim = c, .beside = zkr__claim_beside(c),
        .node = node_of(c), .shared = c->place.kind == ZKR__SHARED,
        .token = c->node->token, .markers = c->recipe->markers, .began = moves,
        .ended = INT_MAX);

    WRONG_IF(h->node == NULL, "%s is granted the lock, and never was",
             c->node->path);
    all = h;
    if (!is_there(h->node)) /* the lease and the session will report it */
        return;
    check_exclusion(h);
    if (!oracle_is_lease(h->node))
        check_order(h);
}

void held_moved(const struct zkr__claim *c, int state)
{
    moves++;
    for (struct held *h = all; h != NULL; h = h->next) {
        if (h->claim != c)
            continue;
        h->claim = NULL;
        h->ended = moves;
    }
    /* Members of a cohort share the node of their delegate. */
    if (state == ZKR__CLAIM_HELD && c->role != &zkr__member)
        begins(c);
}

bool held_at_once(const struct node *a, const struct node *b)
{
    for (const struct held *h = all; h != NULL; h = h->next) {
        for (const struct held *i = h->node == a ? all : NULL; i != NULL;
             i = i->next) {
            if (i->node == b && h->began < i->ended && i->began < h->ended)
                return true;
        }
    }
    return false;
}

bool held_by_anybody(void)
{
    return FIRST(h, all, h->claim != NULL && is_there(h->node)) != NULL;
}

/* As conflict(). */
const struct node *held_against(const struct attempt *a)
{
    for (const struct held *h = oracle_is_lease(a->node) ? NULL : all;
         h != NULL; h = h->next) {
        bool beside = a->beside != NULL && a->beside->node == h->node;

        if (h->claim != NULL && h->node != a->node && !beside &&
            (h->beside == NULL || node_of(h->beside) != a->node) &&
            !(h->shared && a->shared) && is_there(h->node) &&
            (h->token > a->token ? heeds(h, a->node)
                                 : oracle_heeds(a, h->node)) &&
            oracle_is_one_lock(h->node, a->node))
            return h->node;
    }
    return NULL;
}
