/* SPDX-License-Identifier: Apache-2.0 */
/* A chain: an acquire, as claims of one caller, one after the other, by one
 * deadline. Either all are granted, or none is kept. Those of one lock begin
 * together: what is before them keeps their order.
 *
 * When what a chain of several locks has is lost, because the session has ended
 * or somebody has deleted a node, it starts again, unless its object fails
 * then. The claim of a chain of one lock goes on by itself in the next session.
 *
 * A claim has its outcome in the middle of a step, of its own or of the line.
 * There the chain only notes the outcome. It goes on before the session lock is
 * released, when no step is under way: then it may end claims and begin them.
 * So for all others who have the session lock, a chain that is not decided has
 * a claim that is not.
 *
 * Invariants. Parts before `at` have begun; `pending` of them have a claim
 * without an outcome, the others a granted one, or are gates that were
 * given back. `torn` is a part that was granted, and is lost. A chain has a
 * reference of its own until it is decided, and is in the list of its object as
 * long.
 *
 * Callers. A caller begins and waits, or cancels; claims tell it through the
 * observers of its parts, in the middle of a step: there it only notes, and
 * puts itself into locks->chains, which is run when the session lock is about
 * to be released (base/mtx.c).
 *
 * Objections. Two chains that take the same locks could wait for each other:
 * the multi-lock takes them in the order of their paths, a semaphore its turn
 * first. And a chain that waits keeps what it has: once a part is lost it drops
 * all, because others may have that part, and wait for the rest. */
#include "lock/chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "base/thread.h"
#include "lock/claim.h"
#include "lock/cohort.h"
#include "lock/downgrade.h"
#include "lock/holds.h"
#include "lock/locks.h"
#include "session/timer_thread.h"

/* So many claims of one lock begin together. When all answers are lost, each of
 * them lists the lock. */
#define FLIGHT 256

/* So long the servers have for their answers to an acquire, whatever its
 * timeout: who gives a millisecond wants the lock if it is free. */
#define ANSWER_MS 100

/* A link, and what became of it. */
struct chain_part {
    const struct zkr__link *link;
    struct zkr_request *chain;
    struct zkr__observer observer; /* of its claim */
    struct zkr__claim *claim; /* without an outcome, or granted; NULL: none */
};

/* A caller who waits. */
struct waiter {
    struct zkr__thread_id thread;
    bool in_callback; /* where it cannot wait */
    struct zkr__cond changed;
};

struct zkr_request { /* of its user; in here: a chain */
    /* set once */
    struct zkr_session *session;
    zkr_lockable *lockable; /* what it acquires; until it is decided */
    uint64_t owner;         /* for whom it acquires: holds.h; 0: for nobody */
    struct waiter *waiter;  /* NULL: nobody waits, `told` is called */

    struct zkr__time_limit until;
    int64_t answer_by;         /* no claim that asks is given up before */
    struct zkr__claim *beside; /* at whose place to stand, or NULL: chain.h */
    struct zkr__told told;
    size_t count;
    zkr_grant **grants; /* the array for the user: behind the parts */
    size_t grant_count;
    struct zkr__link *links; /* behind that */

    struct zkr__ref ref;
    /* under the session lock */
    struct zkr__list link; /* in lockable->chains, until decided */
    struct zkr__list due;  /* in locks->chains, when it is to go on */
    struct zkr__timer timeout;
    size_t at;               /* the part that is next */
    size_t pending;          /* how many before it have no outcome yet */
    struct chain_part *torn; /* one that was granted, and is lost */
    bool had;  /* some grants were its thread's before: nobody tells it
                * of those */
    bool late; /* its time is up, and only the servers' answer is waited for */
    bool lost; /* `rc` is the loss of a part */
    bool decided;
    int rc;
    char *detail; /* the sentence of an error; NULL: out of memory */
    struct zkr__notice notice;
    struct chain_part parts[];
};

static void free_chain(struct zkr__ref *ref)
{
    struct zkr_request *chain = ZKR__CONTAINER(ref, struct zkr_request, ref);
    struct zkr_session *s = chain->session;

    for (size_t i = 0; i < chain->count; i++)
        zkr__lock_unref(chain->links[i].lock);

    free(chain->detail);
    free(chain);
    zkr__session_unref(s);
}

static int hand_out_locked(struct zkr_request *chain) ZKR__LOCKED;
static void drop_all_locked(struct zkr_request *chain) ZKR__LOCKED;

/* A grant that is told to nobody goes back. */
static void run_told(struct zkr__notice *notice)
{
    struct zkr_request *chain =
        ZKR__CONTAINER(notice, struct zkr_request, notice);
    const struct zkr__told *told = &chain->told;
    bool untold = told->one == NULL && told->all == NULL;

    zkr__session_lock(chain->session);
    bool granted = !untold && hand_out_locked(chain) == ZKR_OK;
    if (untold)
        drop_all_locked(chain);
    zkr__session_unlock(chain->session);
    zkr__outcome_tell(chain->rc, chain->detail);
    if (told->one != NULL)
        told->one(chain->rc, granted ? chain->grants[0] : NULL, told->user);
    else if (told->all != NULL)
        told->all(chain->rc, granted ? chain->grants : NULL,
                  granted ? chain->grant_count : 0, told->user);
    zkr__ref_drop(&chain->ref);
}

static bool is_granted(const struct chain_part *part)
{
    return part->claim != NULL && part->claim->outcome.decided;
}

/* Returns a claim that has no outcome, or NULL. */
static struct zkr__claim *present(const struct zkr_request *chain)
{
    for (size_t i = chain->pending == 0 ? 0 : chain->at; i-- > 0;) {
        struct zkr__claim *c = chain->parts[i].claim;

        if (c != NULL && !c->outcome.decided)
            return c;
    }
    return NULL;
}

/* The outcome of one claim ends the chain. */
static void cancel_locked(struct zkr_request *chain) ZKR__LOCKED
{
    struct zkr__claim *c = present(chain);

    if (c != NULL)
        zkr__claim_give_up_locked(c, ZKR_ECANCELED, "cancelled");
}

/* The time is up: the outcome is that of the claim, or the answer is still due.
 */
static void time_out_locked(struct zkr_request *chain) ZKR__LOCKED
{
    struct zkr__claim *c = present(chain);

    chain->late =
        zkr__clock_now() < chain->answer_by && zkr__claim_asks_locked(c);
    if (chain->late)
        chain->until.deadline = chain->answer_by;
    else
        zkr__claim_time_out_locked(c);
}

/* -- the outcome ---------------------------------------------------------- */

static void fail_locked(struct zkr_request *chain, int rc, bool lost,
                        const char *detail) ZKR__LOCKED
{
    free(chain->detail);
    chain->detail = detail == NULL ? NULL : strdup(detail);
    chain->rc = rc;
    chain->lost = lost;
}

/* A grant that its thread had before may have another observer. */
static void look_away_locked(const struct chain_part *part) ZKR__LOCKED
{
    if (part->claim != NULL && part->claim->observer == &part->observer)
        part->claim->observer = NULL;
}

static void drop_locked(struct chain_part *part) ZKR__LOCKED
{
    struct zkr__claim *c = part->claim;

    look_away_locked(part);
    part->claim = NULL;
    if (c != NULL && c->outcome.decided) {
        c->hold.returning--;
        zkr__grant_free_locked(&c->grant);
    } else if (c != NULL) {
        part->chain->pending--;
        zkr__claim_give_up_locked(c, ZKR_ECANCELED,
                                  "another of its chain failed");
        zkr__claim_unref(c);
    }
}

/* In reverse: the first one protects the rest. */
static void drop_all_locked(struct zkr_request *chain)
{
    for (size_t i = chain->count; i-- > 0;)
        drop_locked(&chain->parts[i]);
}

static void decide_locked(struct zkr_request *chain) ZKR__LOCKED
{
    for (size_t i = 0; i < chain->count; i++)
        look_away_locked(&chain->parts[i]);
    chain->decided = true;
    zkr__list_remove(&chain->link);
    zkr__list_remove(&chain->due);
    zkr__timer_thread_disarm_locked(chain->session, &chain->timeout);
    if (chain->waiter == NULL) {
        zkr__ref_take(&chain->ref);
        zkr__dispatch_post_locked(chain->session, &chain->notice);
    } else {
        zkr__cond_wake(&chain->waiter->changed);
    }

    zkr__ref_drop(&chain->ref); /* it is under way no more */
}

static bool may_start_again(const struct zkr_request *chain)
{
    return chain->lost && chain->lockable->type->several != NULL &&
           !chain->lockable->fail_on_session_loss &&
           !chain->until.for_servers_only && chain->session->over == 0 &&
           zkr__clock_now() < chain->until.deadline;
}

static void failed_locked(struct zkr_request *chain) ZKR__LOCKED
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

static void find_torn_locked(struct zkr_request *chain) ZKR__LOCKED
{
    for (size_t i = 0; i < chain->at && chain->torn == NULL; i++) {
        struct chain_part *part = &chain->parts[i];

        if (is_granted(part) && !zkr__grant_is_ours(&part->claim->grant))
            chain->torn = part;
    }
}

/* With a part of it lost there is nothing to wait for: others may have it, and
 * wait for what the chain has. */
static bool is_whole_locked(struct zkr_request *chain) ZKR__LOCKED
{
    if (chain->had)
        find_torn_locked(chain);
    if (chain->torn != NULL && chain->rc == ZKR_OK) {
        (void)zkr__grant_explain(&chain->torn->claim->grant, ZKR_ELOST);
        fail_locked(chain, ZKR_ELOST, true, zkr_error_detail());
    }
    return chain->rc == ZKR_OK;
}

/* The user is told of all grants that the chain has in the end. */
static void list_grants_locked(struct zkr_request *chain) ZKR__LOCKED
{
    size_t n = 0;

    for (size_t i = 0; i < chain->count; i++) {
        if (chain->parts[i].claim != NULL)
            chain->grants[n++] = &chain->parts[i].claim->grant;
    }
}

/* From here on the grants are the user's. One whose lock was freed meanwhile,
 * with all its grants, has failed: holds.c. */
static int hand_out_locked(struct zkr_request *chain)
{
    for (size_t i = 0; i < chain->grant_count && chain->rc == ZKR_OK; i++) {
        const struct zkr__claim *c = zkr__grant_claim(chain->grants[i]);

        if (c->outcome.rc != ZKR_OK)
            fail_locked(chain, c->outcome.rc, false, c->outcome.detail);
    }
    for (size_t i = 0; i < chain->count && chain->rc == ZKR_OK; i++) {
        if (chain->parts[i].claim != NULL)
            chain->parts[i].claim->hold.returning--;
    }
    if (chain->rc != ZKR_OK)
        drop_all_locked(chain);
    return chain->rc;
}

/* -- the parts ------------------------------------------------------------ */

static void open_gates_locked(struct zkr_request *chain) ZKR__LOCKED
{
    for (size_t i = 0; i < chain->at; i++) {
        struct chain_part *part = &chain->parts[i];

        if (part->link->gate != 0 && is_granted(part) &&
            i + part->link->gate < chain->at)
            drop_locked(part);
    }
}

static void put_off_locked(struct zkr_request *chain) ZKR__LOCKED;

/* The claim keeps the reference that its maker has: it is that of the grant. */
static void on_decided(struct zkr__observer *observer, struct zkr__claim *c)
{
    struct chain_part *part =
        ZKR__CONTAINER(observer, struct chain_part, observer);
    struct zkr_request *chain = part->chain;

    zkr__session_assert_locked(c->session);
    chain->pending--;
    if (c->outcome.rc != ZKR_OK) {
        part->claim = NULL;
        c->observer = NULL;
        if (chain->rc == ZKR_OK)
            fail_locked(chain, c->outcome.rc, c->outcome.rc == ZKR_ELOST,
                        c->outcome.detail);
        zkr__claim_unref(c);
    }
    put_off_locked(chain);
}

/* Of a claim that fails the outcome follows, and counts. */
static void on_changed(struct zkr__observer *observer)
{
    struct chain_part *part =
        ZKR__CONTAINER(observer, struct chain_part, observer);

    zkr__session_assert_locked(part->chain->session);
    if (is_granted(part) && !zkr__grant_is_ours(&part->claim->grant))
        part->chain->torn = part;
    if (part->chain->torn == part || part->chain->late)
        put_off_locked(part->chain);
}

/* Returns errors that are certain before the claim has sent anything. */
static int refuse_locked(const struct zkr_request *chain,
                         const struct zkr__claim *c) ZKR__LOCKED
{
    const struct zkr__lock *lock = c->lock;
    struct zkr_session *s = lock->session;

    if (s->over != 0)
        return zkr__fail(s->over, "%s '%s': the session is %s", lock->noun,
                         lock->path, zkr__sm_name(&s->sm));
    if (c->beside != NULL && !zkr__grant_is_ours(&c->beside->grant))
        return zkr__fail(ZKR_ELOST, "%s '%s': '%s' has gone", lock->noun,
                         lock->path, zkr__path_name(c->beside->node->path));
    if (c->intent != ZKR__WAIT && !zkr__session_connected(s))
        return zkr__reason_explain_locked(
            s, zkr__fail(ZKR_ZCONNECTIONLOSS,
                         "%s '%s': a try needs a connection; the session is %s",
                         lock->noun, lock->path, zkr__sm_name(&s->sm)));
    if (chain->waiter != NULL && chain->waiter->in_callback)
        return zkr__fail(ZKR_EDEADLK, "%s '%s': a callback cannot wait",
                         lock->noun, lock->path);
    return ZKR_OK;
}

static struct zkr__claim *
find_beside_locked(const struct zkr_request *chain,
                   const struct zkr__link *link) ZKR__LOCKED
{
    return chain->beside != NULL || chain->owner == 0
               ? chain->beside
               : zkr__downgrade_find_locked(link->lock, link->recipe,
                                            chain->owner);
}

static int new_claim_locked(const struct zkr_request *chain,
                            const struct zkr__link *link,
                            struct zkr__claim *beside,
                            struct zkr__claim **ret_claim) ZKR__LOCKED
{
    const struct zkr__role *role =
        beside != NULL ? &zkr__alone
                       : zkr__cohort_role(link->lock, link->recipe);
    enum zkr__intent intent = beside != NULL                  ? ZKR__BESIDE
                              : chain->until.for_servers_only ? ZKR__TRY
                                                              : ZKR__WAIT;
    int rc = zkr__claim_new(
        link->lock, link->recipe, role, intent,
        chain->waiter == NULL ? NULL : &chain->waiter->thread, ret_claim);

    if (rc != ZKR_OK)
        return rc;
    if (beside != NULL)
        zkr__claim_ref(beside);
    (*ret_claim)->beside = beside;
    rc = refuse_locked(chain, *ret_claim);
    if (rc != ZKR_OK)
        zkr__claim_unref(*ret_claim);
    return rc;
}

/* A claim at the place of a grant waits for nobody, so for no longer than a
 * try. */
static int start_claim_locked(struct zkr_request *chain,
                              struct chain_part *part, bool more) ZKR__LOCKED
{
    struct zkr__claim *beside = find_beside_locked(chain, part->link);
    int64_t reply_by = zkr__session_deadline(chain->session, 0);
    struct zkr__claim *c = NULL;
    int rc = new_claim_locked(chain, part->link, beside, &c);

    if (rc != ZKR_OK)
        return rc;
    if (beside != NULL && chain->lockable->type->several == NULL &&
        reply_by < chain->until.deadline)
        chain->until.deadline = reply_by;
    c->owner = chain->owner;
    c->observer = &part->observer;
    c->more = more;
    part->claim = c;
    chain->pending++;
    zkr__claim_start_locked(c);
    return ZKR_OK;
}

static int start_one_locked(struct zkr_request *chain, bool more) ZKR__LOCKED
{
    struct chain_part *part = &chain->parts[chain->at++];
    zkr_grant *again;
    int rc = ZKR_ENOTHELD;

    if (chain->owner != 0)
        rc = zkr__hold_again_locked(part->link->lock, part->link->recipe,
                                    chain->owner, &again);
    if (rc == ZKR_OK) {
        chain->had = true;
        part->claim = zkr__grant_claim(again);
        part->claim->hold.returning++;
    }
    return rc == ZKR_ENOTHELD ? start_claim_locked(chain, part, more) : rc;
}

/* The next of the same lock begins together with this one. */
static bool has_more(const struct zkr_request *chain)
{
    const struct zkr__link *link = &chain->links[chain->at];

    return chain->at + 1 < chain->count && chain->pending + 1 < FLIGHT &&
           link[1].lock == link[0].lock;
}

/* An error is certain before a claim has started. */
static int start_locked(struct zkr_request *chain) ZKR__LOCKED
{
    bool more;
    int rc;

    do {
        more = has_more(chain);
        rc = start_one_locked(chain, more);
    } while (rc == ZKR_OK && more && chain->rc == ZKR_OK);
    return rc;
}

static void start_next_locked(struct zkr_request *chain) ZKR__LOCKED
{
    int rc = start_locked(chain);

    if (rc != ZKR_OK && chain->rc == ZKR_OK)
        fail_locked(chain, rc, false, zkr_error_detail());
}

/* No step of a claim or a line is under way. */
static void go_on_locked(struct zkr_request *chain) ZKR__LOCKED
{
    zkr__ref_take(&chain->ref);
    while (!chain->decided) {
        if (!is_whole_locked(chain)) {
            failed_locked(chain);
        } else if (chain->pending > 0) {
            if (chain->late)
                time_out_locked(chain);
            if (chain->late || chain->rc == ZKR_OK)
                break;
        } else if (chain->at < chain->count) {
            open_gates_locked(chain);
            start_next_locked(chain);
        } else {
            open_gates_locked(chain);
            list_grants_locked(chain);
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
        go_on_locked(ZKR__CONTAINER(due->next, struct zkr_request, due));
}

static void put_off_locked(struct zkr_request *chain)
{
    zkr__list_remove(&chain->due);
    zkr__list_append(&zkr__locks_of(chain->session)->chains, &chain->due);
    chain->session->lock.put_off = go_on_all;
}

/* -- the interface -------------------------------------------------------- */

static void on_timeout(struct zkr__timer *timer)
{
    struct zkr_request *chain =
        ZKR__CONTAINER(timer, struct zkr_request, timeout);

    zkr__session_assert_locked(chain->session);
    time_out_locked(chain);
    if (chain->late)
        zkr__timer_thread_arm_locked(chain->session, timer, chain->answer_by,
                                     on_timeout);
}

void zkr__chains_cancel(zkr_lockable *l)
{
    struct zkr__list todo;
    struct zkr__list *link;

    zkr__session_lock(l->session);
    zkr__list_init(&todo);
    zkr__list_splice(&todo, &l->chains);
    while ((link = zkr__list_pop(&todo)) != NULL) {
        zkr__list_append(&l->chains, link);
        cancel_locked(ZKR__CONTAINER(link, struct zkr_request, link));
    }
    zkr__session_unlock(l->session);
}

int zkr_request_cancel(zkr_request *request)
{
    if (request == NULL)
        return zkr__fail(ZKR_EINVAL, "request is NULL");
    int rc = zkr__session_check(request->session, "request");
    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(request->session);
    cancel_locked(request);
    zkr__session_unlock(request->session);
    return ZKR_OK;
}

void zkr_request_free(zkr_request *request)
{
    if (request != NULL &&
        zkr__session_check(request->session, "request") == ZKR_OK)
        zkr__ref_drop(&request->ref);
}

static void set_parts(struct zkr_request *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        struct chain_part *part = &chain->parts[i];

        part->link = &chain->links[i];
        part->chain = chain;
        part->observer = (struct zkr__observer){
            .changed = on_changed,
            .decided = on_decided,
            .begins_again = chain->lockable->type->several != NULL,
        };
        zkr__lock_ref(part->link->lock);
        chain->grant_count += part->link->gate == 0;
    }
}

/* One piece of memory has the chain, its parts, grants and links. */
static struct zkr_request *new_chain(zkr_lockable *l,
                                     const struct zkr_acquire_opts *how,
                                     uint64_t owner,
                                     const struct zkr__time_limit *until)
{
    struct zkr_request *chain;
    size_t count = zkr__lockable_links(l, how, NULL);
    size_t of_each = sizeof(chain->parts[0]) + sizeof(chain->grants[0]) +
                     sizeof(chain->links[0]);

    chain = calloc(1, sizeof(*chain) + count * of_each);
    if (chain == NULL) {
        (void)zkr__no_memory(l->type->noun, NULL);
        return NULL;
    }
    zkr__ref_init(&chain->ref, free_chain);
    zkr__session_ref(l->session);
    chain->session = l->session;
    chain->lockable = l;
    chain->owner = owner;
    chain->until = *until;
    chain->answer_by = zkr__clock_deadline(ANSWER_MS);
    chain->count = count;
    chain->grants = (zkr_grant **)(void *)&chain->parts[count];
    chain->links = (struct zkr__link *)(void *)&chain->grants[count];
    (void)zkr__lockable_links(l, how, chain->links);
    zkr__list_init(&chain->link);
    zkr__list_init(&chain->due);
    zkr__notice_init(&chain->notice, run_told);
    set_parts(chain);
    return chain;
}

/* Returns an error that is certain before the first claim has started; then
 * there is no outcome. */
static int begin_locked(struct zkr_request *chain) ZKR__LOCKED
{
    zkr__ref_take(&chain->ref); /* until it is decided */
    zkr__list_append(&chain->lockable->chains, &chain->link);
    int rc = start_locked(chain);
    if (rc != ZKR_OK) {
        zkr__list_remove(&chain->link);
        zkr__ref_drop(&chain->ref);
        return rc;
    }
    go_on_locked(chain);
    return ZKR_OK;
}

/* An owner gets again what it has of one lock without memory for a chain. */
static int again_locked(zkr_lockable *l, const struct zkr_acquire_opts *how,
                        uint64_t owner, zkr_grant **ret_grant) ZKR__LOCKED
{
    return l->type->several != NULL
               ? ZKR_ENOTHELD
               : zkr__hold_again_locked(l->lock, l->type->modes[how->mode],
                                        owner, ret_grant);
}

static int run_unlocks(struct zkr_request *chain, struct waiter *waiter,
                       zkr_grant **ret_grants) ZKR__UNLOCKS
{
    struct zkr_session *s = chain->session;

    chain->waiter = waiter;
    waiter->in_callback = zkr__dispatch_inside_locked(s);
    int rc = begin_locked(chain);
    if (rc != ZKR_OK)
        return rc;
    while (!chain->decided) {
        if (zkr__cond_wait(&waiter->changed, &s->lock, chain->until.deadline))
            continue;
        if (!chain->decided)
            time_out_locked(chain);
        go_on_locked(chain);
    }
    rc = hand_out_locked(chain);
    if (rc != ZKR_OK)
        zkr__outcome_tell(rc, chain->detail);
    else
        memcpy(ret_grants, chain->grants,
               chain->grant_count * sizeof(*ret_grants));
    return rc;
}

int zkr__chain_acquire(zkr_lockable *l, const struct zkr_acquire_opts *how,
                       struct zkr__claim *beside,
                       const struct zkr__time_limit *until,
                       zkr_grant **ret_grants)
{
    uint64_t owner =
        beside == NULL ? zkr__hold_owner(how->owner) : zkr__hold_heir(beside);
    struct waiter waiter = { .thread = *zkr__thread_me() };
    struct zkr_session *s = l->session;
    struct zkr_request *chain = NULL;

    zkr__session_lock(s);
    int rc = again_locked(l, how, owner, ret_grants);
    if (rc == ZKR_ENOTHELD) {
        chain = new_chain(l, how, owner, until);
        rc = ZKR_ENOMEM;
    }
    if (chain != NULL) {
        chain->beside = beside;
        rc = run_unlocks(chain, &waiter, ret_grants);
    }
    zkr__session_unlock(s);
    if (chain != NULL) /* without the lock: it may be the last of the session */
        zkr__ref_drop(&chain->ref);
    return rc;
}

int zkr__chain_acquire_async(zkr_lockable *l,
                             const struct zkr_acquire_opts *how,
                             int64_t timeout_ms, const struct zkr__told *told,
                             zkr_request **ret_request)
{
    struct zkr_session *s = l->session;
    const struct zkr__time_limit until = zkr__time_limit(s, timeout_ms);
    struct zkr_request *chain = new_chain(
        l, how, how->owner == 0 ? 0 : zkr__hold_owner(how->owner), &until);

    if (chain == NULL)
        return ZKR_ENOMEM;
    chain->told = *told;
    zkr__session_lock(s);
    int rc = begin_locked(chain);
    if (rc == ZKR_OK && ret_request != NULL) {
        zkr__ref_take(&chain->ref);
        *ret_request = chain;
    }
    if (!chain->decided && rc == ZKR_OK && chain->until.deadline != ZKR__NEVER)
        zkr__timer_thread_arm_locked(s, &chain->timeout, chain->until.deadline,
                                     on_timeout);
    zkr__session_unlock(s);
    zkr__ref_drop(&chain->ref);
    return rc;
}
