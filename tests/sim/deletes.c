/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of deletes: a client never deletes the node of a held lock, and
 * never the node of another client, except by a break, or when it had made the
 * node in an earlier session. */
#include "oracle.h"

/* A break, with everything that it may still cause. */
struct breaking {
    struct breaking *next;
    int process;
    int64_t began; /* the version committed then */
    const char *path;
    int64_t token;
    bool done;
};

static OF_SCHEDULE struct breaking *breaks;

void deletes_break(int process, const char *path, int64_t token)
{
    breaks = ARENA_NEW(struct breaking, .next = breaks, .process = process,
                       .began = ensemble.committed,
                       .path = arena_copy(path, strlen(path)), .token = token);
}

bool deletes_may_break(int process, const char *path)
{
    const struct breaking *b = breaks;

    while (b != NULL && (b->process != process || strcmp(b->path, path) != 0))
        b = b->next;
    return b != NULL;
}

/* Where all holders have one name, a client that releases a lock which somebody
 * has taken away may delete the next holder's node: unfair_mutex.h says so. */
static bool may_be_mistaken(int process)
{
    const struct node *n = NULL;

    while (world.recipe == UNFAIR && (n = tree_after(n)) != NULL) {
        if (n->created < n->deleted && n->deleted <= ensemble.committed &&
            n->cause == BY_OPERATOR && n->session != NO_SESSION &&
            ensemble.sessions[n->session].process == process)
            return true;
    }
    return false;
}

/* Each break deletes once. Between the read of a node and its delete the node
 * may go by itself, and another may take its name: participants.h says so. */
static bool is_broken(const struct txn *txn)
{
    int process = ensemble.sessions[txn->session].process;
    struct breaking *found = NULL;
    bool same = false; /* it is the very node */

    for (struct breaking *b = breaks; b != NULL && !same; b = b->next) {
        if (b->process != process || b->done ||
            strcmp(b->path, txn->node->path) != 0)
            continue;
        const struct node *old = oracle_node(b->path, b->token);
        same = b->token == txn->node->czxid;
        if (same || (found == NULL && old != NULL && old->deleted > b->began &&
                     old->deleted <= ensemble.committed))
            found = b;
    }
    if (found != NULL && txn->session != txn->node->session)
        found->done = true; /* otherwise it may be its own */
    return found != NULL;
}

/* The client was told that its session is over, and the ensemble has kept it.
 */
static bool is_leftover(const struct txn *txn)
{
    return txn->node->session != NO_SESSION &&
           txn->node->session < txn->session &&
           ensemble.sessions[txn->node->session].process ==
               ensemble.sessions[txn->session].process;
}

/* Returns what is wrong with it, or NULL. */
static const char *fault_of(const struct attempt *attempts,
                            const struct txn *txn)
{
    for (const struct attempt *a = attempts; a != NULL; a = a->next) {
        if (a->grant == NULL || a->node != txn->node)
            continue;
        if (!is_leftover(txn))
            return "which is held";
        fiber_enter_process(a->process);
        if (zkr_grant_state(a->grant) != ZKR_GRANT_LOST ||
            a->promised > sim_now)
            return "which is promised to its holder";
    }
    if (txn->node->session != NO_SESSION &&
        txn->node->session != txn->session && !is_leftover(txn))
        return "which is another's";
    return NULL;
}

void deletes_committed(const struct attempt *attempts, const struct txn *txn)
{
    if (txn->session == NO_SESSION || is_broken(txn))
        return;
    const char *fault = fault_of(attempts, txn);
    WRONG_IF(fault != NULL &&
                 !may_be_mistaken(ensemble.sessions[txn->session].process),
             "a client deletes %s, %s", txn->node->path, fault);
}
