/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the memory of a claim that waits: thousands may wait in one session,
 * so what a claim needs in rare cases only is not a part of it. */
#include <malloc.h>

#include "lock/claim.h"
#include "lock/locks.h"
#include "usual.h" /* has names that headers above have, too */

enum { FEW = 10, MANY = 1000, SOME = 200 };

static atomic_int outcomes;

FIXTURE(usual_setup_two, usual_teardown)

static void on_outcome(int rc, zkr_grant *grant, void *user)
{
    zkr_grant_free(grant);
    (void)atomic_fetch_add(&outcomes, 1);
}

static int waiting(zkr_session *of)
{
    int count = 0;

    zkr__session_lock(of);
    for (struct zkr__list *l = zkr__locks_of(of)->claims.next;
         l != &zkr__locks_of(of)->claims; l = l->next)
        count += ZKR__CONTAINER(l, struct zkr__claim, link)->sm.state ==
                 ZKR__CLAIM_WAITING;
    zkr__session_unlock(of);
    return count;
}

/* A thousand claims that come at once, or each when the one before it waits. */
static void let_wait(int count, bool in_turn)
{
    int all = waiting(s) + waiting(theirs);

    for (int i = 1; i <= count; i++) {
        ok(zkr_mutex_acquire_async(in_turn && i % 2 == 1 ? rival : m, -1,
                                   on_outcome, NULL, NULL));
        all++;
        if (in_turn || i == count)
            AWAIT(waiting(s) + waiting(theirs) == all);
    }
    settle(s); /* the client frees what it has sent */
    settle(theirs);
}

/* Behind a holder `count` claims, of one session or of both in turn, cost at
 * most `limit` each, besides so many names. It needs allocations that can be
 * counted: under a sanitizer it tests nothing. */
static void assert_cost(int count, bool in_turn, size_t limit, size_t names)
{
    size_t name = strlen(path) + 1 + ZKR__NODE_MAX;
    AUTO(held) g = acquire(m);

    atomic_store(&outcomes, 0);
    let_wait(FEW, in_turn); /* what all have in common */
    size_t before = mallinfo2().uordblks;
    let_wait(count, in_turn);
    size_t after = mallinfo2().uordblks;
    size_t each = after > before ? (after - before) / (size_t)count : 0;
    if (each > limit + names * name)
        fail_msg("%zu bytes each, with %zu names of %zu", each, names, name);
    ok(zkr_lockable_cancel(m));
    ok(zkr_lockable_cancel(rival));
    AWAIT(atomic_load(&outcomes) == FEW + count);
}

/* The names: what is sent, the node, and what is swept. */
TEST(a_claim_behind_one_of_ours_costs_2_kib_at_most)
{
    assert_cost(MANY, false, 2048, 3);
}

/* It has a watch, for which the client needs memory, too, and may look for
 * ghosts. All three have the name of the other node. */
TEST(a_claim_behind_one_of_others_costs_3_kib_at_most)
{
    assert_cost(SOME, true, 3072, 6);
}
