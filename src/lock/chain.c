/* SPDX-License-Identifier: Apache-2.0 */
/* A chain: claims of one caller, one after the other, by one deadline. Either
 * all are granted, or none is kept. Those of one lock begin together: what is
 * before them keeps their order.
 *
 * When what the chain has is lost, because the session has ended or somebody
 * has deleted a node, it starts again, unless its object fails then.
 *
 * A claim has its outcome in the middle of a step, of its own or of the line.
 * There the chain only notes the outcome. It goes on before the session lock is
 * released, when no step is under way: then it may end claims and begin them.
 * So for all others who have the lock, a chain that is not decided has a claim
 * that is not.
 *
 * What is true when. Steps before `at` have begun; `pending` of them have a
 * claim without an outcome, the others a grant, or are gates that were given
 * back. `torn` is a step whose grant was lost after it was granted. A chain has
 * a reference of its own until it is decided, and is in the list of its object
 * as long.
 *
 * Who calls. A caller begins and waits, or cancels; claims tell it through the
 * observers of its steps, in the middle of theirs: there it only notes, and
 * puts itself into locks->chains, which is run when the session lock is about
 * to be released (base/mtx.c).
 *
 * What one would doubt. Two chains that take the same locks could wait for each
 * other: the multi-lock takes them in the order of their paths, a semaphore its
 * turn first. And a chain that waits keeps what it has: once a part is lost it
 * drops all, because others may have that part, and wait for the rest. */
#include "lock/chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "base/thread.h"
#include "lock/claim.h"
#include "lock/downgrade.h"
#include "lock/holds.h"
#include "lock/locks.h"

/* So many claims of one lock begin together. When all answers are lost, each of
 * them lists the lock. */
#define FLIGHT 256

struct chain_step {
    struct zkr__link link;
    struct zkr__chain *chain;
    struct zkr__observer observer; /* of its claim */
    struct zkr__claim *claim;      /* has no outcome yet; NULL: none */
    struct zkr_grant *grant; /* NULL: not granted yet, or a gate given back */
};

struct zkr__chain {
    /* set once */
    struct zkr_session *session;
    const char *noun;
    bool fail_on_session_loss;
    uint64_t owner; /* for whom it acquires: holds.h; 0: for nobody */
    struct zkr__thread_id thread; /* that waits; its number is 0 of an
                                   * asynchronous chain */
    int64_t timeout_ms;
    int64_t deadline;
    struct zkr__told told;
    struct zkr_request request;
    size_t count;
    zkr_grant **kept; /* the array for the user: behind the steps */
    size_t kept_count;

    struct zkr__ref ref;
    /* under the session lock */
    struct zkr__list link;   /* in the list of its object, until decided */
    struct zkr__list due;    /* in locks->chains, when it is to go on */
    size_t at;               /* the step that is next */
    size_t pending;          /* how many before it have no outcome yet */
    struct chain_step *torn; /* one that was granted, and is lost */
    bool had;  /* some grants were its thread's before: nobody tells it
                * of those */
    bool lost; /* `rc` is the loss of a part */
    bool decided;
    int rc;
    char *detail; /* the sentence of an error; NULL: out of memory */
    struct zkr__cond changed;
    struct zkr__notice notice;
    struct chain_step steps[];
};

static void free_chain(struct zkr__ref *ref)
{
    struct zkr__chain *chain = ZKR__CONTAINER(ref, struct zkr__chain, ref);
    struct zkr_session *s = chain->session;

    for (size_t i = 0; i < chain->count; i++)
        zkr__lock_unref(chain->steps[i].link.lock);
    free(chain->detail);
    free(chain);
    zkr__session_unref(s);
}

static int hand_out_locked(struct zkr__chain *chain) ZKR__LOCKED;

static void run_told(struct zkr__notice *notice)
{
    struct zkr__chain *chain =
        ZKR__CONTAINER(notice, struct zkr__chain, notice);
    const struct zkr__told *told = &chain->told;
    bool granted;

    zkr__session_lock(chain->session);
    granted = hand_out_locked(chain) == ZKR_OK;
    zkr__session_unlock(chain->session);
    zkr__outcome_tell(chain->rc, chain->detail);
    if (told->one != NULL)
        told->one(chain->rc, granted ? chain->kept[0] : NULL, told->user);
    else
        told->all(chain->rc, granted ? chain->kept : NULL,
                  granted ? chain->kept_count : 0, told->user);
    zkr__ref_drop(&chain->ref);
}

/* Returns a claim that has no outcome, or NULL. */
static struct zkr__claim *present(const struct zkr__chain *chain)
{
    size_t i = chain->pending == 0 ? 0 : chain->at;

    while (i > 0 && chain->steps[i - 1].claim == NULL)
        i--;
    return i == 0 ? NULL : chain->steps[i - 1].claim;
}

/* The outcome of one claim ends the chain. */
static void cancel_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    struct zkr__claim *c = present(chain);

    if (c != NULL)
        zkr__claim_give_up_locked(c, ZKR_ECANCELED, "cancelled");
}

static void cancel_request(struct zkr_request *r)
{
    struct zkr__chain *chain = ZKR__CONTAINER(r, struct zkr__chain, request);

    zkr__session_assert_locked(chain->session);
    cancel_locked(chain);
}

/* -- the outcome ---------------------------------------------------------- */

static void fail_locked(struct zkr__chain *chain, int rc, bool lost,
                        const char *detail) ZKR__LOCKED
{
    free(chain->detail);
    chain->detail = detail == NULL ? NULL : strdup(detail);
    chain->rc = rc;
    chain->lost = lost;
}

static void look_away_locked(const struct chain_step *step) ZKR__LOCKED
{
    struct zkr__claim *c = zkr__grant_claim(step->grant);

    if (c->observer == &step->observer)
        c->observer = NULL;
}

static void drop_grant_locked(struct chain_step *step) ZKR__LOCKED
{
    if (step->grant == NULL)
        return;
    look_away_locked(step);
    zkr__grant_free_locked(step->grant);
    step->grant = NULL;
}

static void drop_claim_locked(struct chain_step *step) ZKR__LOCKED
{
    struct zkr__claim *c = step->claim;

    if (c == NULL)
        return;
    step->claim = NULL;
    step->chain->pending--;
    c->observer = NULL;
    zkr__claim_give_up_locked(c, ZKR_ECANCELED, "another of its chain failed");
    zkr__claim_unref(c);
}

/* In reverse: the first one protects the rest. */
static void drop_all_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    for (size_t i = chain->count; i-- > 0;) {
        drop_claim_locked(&chain->steps[i]);
        drop_grant_locked(&chain->steps[i]);
    }
}

static void decide_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    for (size_t i = 0; i < chain->count; i++) {
        if (chain->steps[i].grant != NULL)
            look_away_locked(&chain->steps[i]);
    }
    chain->decided = true;
    zkr__list_remove(&chain->link);
    zkr__list_remove(&chain->due);
    if (chain->told.one != NULL || chain->told.all != NULL) {
        zkr__ref_take(&chain->ref);
        zkr__dispatch_post_locked(chain->session, &chain->notice);
    }
    zkr__cond_wake(&chain->changed);
    zkr__ref_drop(&chain->ref); /* it is under way no more */
}

static bool may_start_again(const struct zkr__chain *chain)
{
    return chain->lost && !chain->fail_on_session_loss &&
           chain->timeout_ms != 0 && chain->session->over == 0 &&
           zkr__clock_now() < chain->deadline;
}

static void failed_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    drop_all_locked(chain);
    if (!may_start_again(chain)) {
        decide_locked(chain);
        return;
    }
    chain->at = 0;
    chain->torn = NULL;
    chain->rc = ZKR_OK;
}

static void find_torn_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    for (size_t i = 0; i < chain->at && chain->torn == NULL; i++) {
        const struct zkr_grant *g = chain->steps[i].grant;

        if (g != NULL && !zkr__grant_is_ours(g))
            chain->torn = &chain->steps[i];
    }
}

/* With a part of it lost there is nothing to wait for: others may have it, and
 * wait for what the chain has. */
static bool is_whole_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    if (chain->had)
        find_torn_locked(chain);
    if (chain->torn != NULL && chain->rc == ZKR_OK) {
        (void)zkr__grant_explain(chain->torn->grant, ZKR_ELOST);
        fail_locked(chain, ZKR_ELOST, true, zkr_error_detail());
    }
    return chain->rc == ZKR_OK;
}

/* The user is told of all grants that the chain has in the end. */
static void keep_all_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    size_t n = 0;

    for (size_t i = 0; i < chain->count; i++) {
        if (chain->steps[i].grant != NULL)
            chain->kept[n++] = chain->steps[i].grant;
    }
}

/* From here on the grants are the user's. One whose lock was freed meanwhile,
 * with all its grants, has failed: holds.c. */
static int hand_out_locked(struct zkr__chain *chain)
{
    for (size_t i = 0; i < chain->kept_count && chain->rc == ZKR_OK; i++) {
        const struct zkr__claim *c = zkr__grant_claim(chain->kept[i]);

        if (c->outcome.rc != ZKR_OK)
            fail_locked(chain, c->outcome.rc, false, c->outcome.detail);
    }
    for (size_t i = 0; i < chain->count && chain->rc == ZKR_OK; i++) {
        if (chain->steps[i].grant != NULL)
            zkr__grant_claim(chain->steps[i].grant)->returning = false;
    }
    if (chain->rc != ZKR_OK)
        drop_all_locked(chain);
    return chain->rc;
}

/* -- the steps ------------------------------------------------------------ */

static void open_gates_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    for (size_t i = 0; i < chain->at; i++) {
        struct chain_step *step = &chain->steps[i];

        if (step->link.gate == 0 || step->grant == NULL ||
            i + step->link.gate >= chain->at)
            continue;
        drop_grant_locked(step);
    }
}

static void put_off_locked(struct zkr__chain *chain) ZKR__LOCKED;

/* The claim keeps the reference that its maker has: it is that of the grant. */
static void on_decided(struct zkr__observer *observer, struct zkr__claim *c)
{
    struct chain_step *step =
        ZKR__CONTAINER(observer, struct chain_step, observer);
    struct zkr__chain *chain = step->chain;

    zkr__session_assert_locked(c->session);
    step->claim = NULL;
    chain->pending--;
    if (c->outcome.rc == ZKR_OK) {
        step->grant = &c->grant;
    } else {
        c->observer = NULL;
        if (chain->rc == ZKR_OK)
            fail_locked(chain, c->outcome.rc, c->outcome.rc == ZKR_ELOST,
                        c->outcome.detail);
        zkr__claim_unref(c);
    }
    put_off_locked(chain);
}

static void on_changed(struct zkr__observer *observer)
{
    struct chain_step *step =
        ZKR__CONTAINER(observer, struct chain_step, observer);

    zkr__session_assert_locked(step->chain->session);
    if (step->grant == NULL || zkr__grant_is_ours(step->grant))
        return;
    step->chain->torn = step;
    put_off_locked(step->chain);
}

static int start_claim_locked(struct zkr__chain *chain, struct chain_step *step,
                              bool more) ZKR__LOCKED
{
    const struct zkr__link *link = &step->link;
    struct zkr__claim *beside =
        chain->owner == 0 ? NULL
                          : zkr__downgrade_find_locked(link->lock, link->recipe,
                                                       chain->owner);
    struct zkr__claim *c = NULL;
    int rc = zkr__claim_new(link->lock, link->recipe, beside,
                            chain->thread.number == 0 ? NULL : &chain->thread,
                            chain->timeout_ms, &c);

    if (beside != NULL)
        zkr__claim_unref(beside);
    if (rc != ZKR_OK)
        return rc;
    c->owner = chain->owner;
    c->deadline = chain->deadline;
    rc = zkr__lock_refuse_locked(c);
    if (rc != ZKR_OK) {
        zkr__claim_unref(c);
        return rc;
    }
    c->observer = &step->observer;
    c->more = more;
    step->claim = c;
    chain->pending++;
    zkr__claim_start_locked(c);
    return ZKR_OK;
}

static int start_one_locked(struct zkr__chain *chain, bool more) ZKR__LOCKED
{
    struct chain_step *step = &chain->steps[chain->at++];
    const struct zkr__link *link = &step->link;
    int rc = ZKR_ENOTHELD;

    if (chain->owner != 0)
        rc = zkr__hold_again_locked(link->lock, link->recipe, chain->owner,
                                    &step->grant);
    chain->had = chain->had || rc == ZKR_OK;
    return rc == ZKR_ENOTHELD ? start_claim_locked(chain, step, more) : rc;
}

/* The next of the same lock begins together with this one. */
static bool has_more(const struct zkr__chain *chain)
{
    const struct chain_step *step = &chain->steps[chain->at];

    return chain->at + 1 < chain->count && chain->pending + 1 < FLIGHT &&
           step[1].link.lock == step[0].link.lock;
}

/* An error is certain before a claim has started. */
static int start_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    bool more;
    int rc;

    do {
        more = has_more(chain);
        rc = start_one_locked(chain, more);
    } while (rc == ZKR_OK && more && chain->rc == ZKR_OK);
    return rc;
}

static void start_next_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    int rc = start_locked(chain);

    if (rc != ZKR_OK && chain->rc == ZKR_OK)
        fail_locked(chain, rc, false, zkr_error_detail());
}

/* No step of a claim or a line is under way. */
static void go_on_locked(struct zkr__chain *chain) ZKR__LOCKED
{
    zkr__ref_take(&chain->ref);
    while (!chain->decided) {
        if (!is_whole_locked(chain)) {
            failed_locked(chain);
        } else if (chain->pending > 0) {
            break;
        } else if (chain->at < chain->count) {
            open_gates_locked(chain);
            start_next_locked(chain);
        } else {
            open_gates_locked(chain);
            keep_all_locked(chain);
            decide_locked(chain);
        }
    }
    zkr__list_remove(&chain->due); /* what was due meanwhile, is done */
    zkr__ref_drop(&chain->ref);
}

static void go_on_all(struct zkr__mtx *lock)
{
    struct zkr_session *s = ZKR__CONTAINER(lock, struct zkr_session, lock);
    struct zkr__list *due = &zkr__locks_of(s)->chains;

    zkr__session_assert_locked(s);
    while (!zkr__list_empty(due))
        go_on_locked(ZKR__CONTAINER(due->next, struct zkr__chain, due));
}

static void put_off_locked(struct zkr__chain *chain)
{
    zkr__list_remove(&chain->due);
    zkr__list_append(&zkr__locks_of(chain->session)->chains, &chain->due);
    chain->session->lock.put_off = go_on_all;
}

/* -- the interface -------------------------------------------------------- */

void zkr__chains_init(struct zkr__chains *chains, struct zkr_session *s,
                      const char *noun, bool fail_on_session_loss)
{
    chains->session = s;
    chains->noun = noun;
    chains->fail_on_session_loss = fail_on_session_loss;
    zkr__list_init(&chains->list);
}

void zkr__chains_cancel(struct zkr__chains *chains)
{
    struct zkr__list todo;
    struct zkr__list *l;

    zkr__session_lock(chains->session);
    zkr__list_init(&todo);
    zkr__list_splice(&todo, &chains->list);
    while ((l = zkr__list_pop(&todo)) != NULL) {
        zkr__list_append(&chains->list, l);
        cancel_locked(ZKR__CONTAINER(l, struct zkr__chain, link));
    }
    zkr__session_unlock(chains->session);
}

static size_t count_kept(const struct zkr__link *links, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        kept += links[i].gate == 0;
    return kept;
}

static struct zkr__chain *new_chain(const struct zkr__chains *chains,
                                    const struct zkr__link *links, size_t count,
                                    int64_t timeout_ms)
{
    size_t kept = count_kept(links, count);
    struct zkr__chain *chain =
        calloc(1, sizeof(*chain) + count * sizeof(chain->steps[0]) +
                      kept * sizeof(chain->kept[0]));

    if (chain == NULL) {
        (void)zkr__no_memory(chains->noun, NULL);
        return NULL;
    }
    zkr__ref_init(&chain->ref, free_chain);
    zkr__session_ref(chains->session);
    chain->session = chains->session;
    chain->noun = chains->noun;
    chain->fail_on_session_loss = chains->fail_on_session_loss;
    chain->timeout_ms = timeout_ms;
    chain->deadline = zkr__session_deadline(chain->session, timeout_ms);
    chain->request =
        (struct zkr_request){ chain->session, &chain->ref, cancel_request };
    chain->count = count;
    chain->kept = (zkr_grant **)(void *)&chain->steps[count];
    chain->kept_count = kept;
    zkr__list_init(&chain->link);
    zkr__list_init(&chain->due);
    zkr__notice_init(&chain->notice, run_told);
    for (size_t i = 0; i < count; i++) {
        zkr__lock_ref(links[i].lock);
        chain->steps[i].link = links[i];
        chain->steps[i].chain = chain;
        chain->steps[i].observer =
            (struct zkr__observer){ on_changed, on_decided };
    }
    return chain;
}

/* Returns an error that is certain before the first claim has started; then
 * there is no outcome. */
static int begin_locked(struct zkr__chains *chains,
                        struct zkr__chain *chain) ZKR__LOCKED
{
    int rc;

    zkr__ref_take(&chain->ref); /* until it is decided */
    zkr__list_append(&chains->list, &chain->link);
    rc = start_locked(chain);
    if (rc != ZKR_OK) {
        zkr__list_remove(&chain->link);
        zkr__ref_drop(&chain->ref);
        return rc;
    }
    go_on_locked(chain);
    return ZKR_OK;
}

static int run_unlocks(struct zkr__chains *chains,
                       struct zkr__chain *chain) ZKR__UNLOCKS
{
    struct zkr_session *s = chain->session;
    int rc = ZKR_OK;

    if (zkr__dispatch_inside_locked(s))
        rc = zkr__fail(ZKR_EDEADLK, "%s: a callback cannot wait", chain->noun);
    if (rc == ZKR_OK)
        rc = begin_locked(chains, chain);
    if (rc != ZKR_OK)
        return rc;
    while (!chain->decided &&
           zkr__cond_wait(&chain->changed, &s->lock, chain->deadline))
        ;
    if (!chain->decided) {
        zkr__claim_time_out_locked(present(chain));
        go_on_locked(chain);
    }
    rc = hand_out_locked(chain);
    zkr__outcome_tell(chain->rc, chain->detail);
    return rc;
}

int zkr__chain_acquire(struct zkr__chains *chains,
                       const struct zkr__link *links, size_t count,
                       uint64_t owner, int64_t timeout_ms,
                       zkr_grant **ret_grants)
{
    struct zkr__chain *chain = new_chain(chains, links, count, timeout_ms);
    int rc;

    if (chain == NULL)
        return ZKR_ENOMEM;
    chain->thread = *zkr__thread_me();
    chain->owner = zkr__hold_owner(owner);
    zkr__session_lock(chain->session);
    rc = run_unlocks(chains, chain);
    zkr__session_unlock(chain->session);
    for (size_t i = 0; rc == ZKR_OK && i < chain->kept_count; i++)
        ret_grants[i] = chain->kept[i];
    zkr__ref_drop(&chain->ref);
    return rc;
}

int zkr__chain_acquire_async(struct zkr__chains *chains,
                             const struct zkr__link *links, size_t count,
                             uint64_t owner, int64_t timeout_ms,
                             const struct zkr__told *told,
                             zkr_request **ret_request)
{
    struct zkr__chain *chain = new_chain(chains, links, count, timeout_ms);
    int rc;

    if (chain == NULL)
        return ZKR_ENOMEM;
    chain->told = *told;
    chain->owner = owner == 0 ? 0 : zkr__hold_owner(owner);
    zkr__session_lock(chain->session);
    rc = begin_locked(chains, chain);
    if (rc == ZKR_OK && ret_request != NULL) {
        zkr__ref_take(&chain->ref);
        *ret_request = &chain->request;
    }
    zkr__session_unlock(chain->session);
    zkr__ref_drop(&chain->ref);
    return rc;
}
