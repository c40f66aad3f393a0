/* Whose nodes clients delete: never that of a lock which is held, and nobody
 * else's but by breaking it. */
#include "deletes.h"

#include <string.h>

#include "arena.h"

/* A break, and all that may still come of it. */
struct breaking {
    struct breaking *next;
    int process;
    int64_t began; /* the version committed then */
    const char *path;
    int64_t token;
};

static struct breaking *breaks;

void deletes_reset(void)
{
    breaks = NULL;
}

void deletes_break(int process, const char *path, int64_t token)
{
    struct breaking *b = arena_new(sizeof(*b));

    *b = (struct breaking){ breaks, process, ensemble_committed(),
                            arena_copy(path, strlen(path)), token };
    breaks = b;
}

struct taken_away {
    int process;
    bool any;
};

static void find_taken_away(struct node *n, void *arg)
{
    struct taken_away *t = arg;

    if (n->created < n->deleted && n->deleted <= ensemble_committed() &&
        n->cause == BY_OPERATOR && n->session != NO_SESSION &&
        ensemble_session(n->session)->process == t->process)
        t->any = true;
}

/* Where all have one name, who releases a lock that somebody has taken away may
 * hit the next holder's node: unfair_mutex.h says so. */
static bool may_be_mistaken(int process)
{
    struct taken_away t = { process, false };

    if (world.recipe == UNFAIR)
        tree_each(find_taken_away, &t);
    return t.any;
}

static bool is_by_break(const struct breaking *b, const struct txn *txn,
                        const struct node *n)
{
    return txn->kind == TXN_DELETE && txn->session != NO_SESSION &&
           txn->session != n->session &&
           ensemble_session(txn->session)->process == b->process;
}

/* Between the look at a node and its delete it may go by itself, and another
 * take its name: participants.h says so. But it goes once. */
static bool went_by_itself(const struct breaking *b)
{
    const struct node *old = oracle_node(b->path, b->token);

    return old != NULL && old->deleted > b->began &&
           old->deleted <= ensemble_committed() &&
           !is_by_break(b, ensemble_txn(old->deleted), old);
}

static bool is_broken(const struct txn *txn)
{
    int process = ensemble_session(txn->session)->process;

    for (const struct breaking *b = breaks; b != NULL; b = b->next) {
        if (b->process == process && strcmp(b->path, txn->node->path) == 0 &&
            (b->token == txn->node->czxid || went_by_itself(b)))
            return true;
    }
    return false;
}

/* What is wrong with it, or NULL. */
static const char *fault_of(const struct attempt *attempts,
                            const struct txn *txn)
{
    for (const struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->grant != NULL && a->node == txn->node)
            return "which is held";
    }
    if (txn->node->session != NO_SESSION && txn->node->session != txn->session)
        return "which is another's";
    return NULL;
}

void deletes_committed(const struct attempt *attempts, const struct txn *txn)
{
    const char *fault;

    if (txn->session == NO_SESSION || is_broken(txn))
        return;
    fault = fault_of(attempts, txn);
    if (fault != NULL &&
        !may_be_mistaken(ensemble_session(txn->session)->process))
        world_fail("a client deletes %s, %s", txn->node->path, fault);
}
