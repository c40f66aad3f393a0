/* SPDX-License-Identifier: Apache-2.0 */
/* Leftovers: nodes of a session that was reported as over, which are deleted
 * through the next one.
 *
 * Purpose. A leader that the others have left ends sessions on its own, and
 * tells their clients. The ensemble may keep such a session for another
 * timeout, and its nodes would block everybody for as long. In the usual case
 * the delete finds nothing.
 *
 * Invariants. A leftover owns the names that it needs, because its claim goes
 * on, under another name, at once. It is in `leftovers` while it waits, for the
 * end of a promised lease or for its turn; or it is being swept, and counted in
 * `leftovers_swept`. Only one is swept at first: all nodes of a session go
 * together, so when that one is found to be gone, though it was there when the
 * epoch ended, those of its epoch and of earlier ones are forgotten. When it is
 * found alive, all are swept.
 *
 * Callers. expiry.c, when the epoch of a claim is over; leave.c, when its
 * delete ended with the session; locks.c, when the session closes.
 *
 * Objections. A delete through another session could hit a node of somebody
 * else: not by a name with a UUID of ours. It could take a lock from a holder
 * who was promised it until an instant: the sweep waits for that instant. And a
 * leftover needs memory: where there is none, the servers delete the node when
 * they end the session. */
#include "lock/leftover.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "lock/claim.h"
#include "lock/locks.h"
#include "session/timer_thread.h"

struct leftover {
    struct zkr__list link;   /* in locks->leftovers, unless it is swept */
    struct zkr__timer timer; /* armed while the lease is promised */
    struct zkr__sweep sweep;
    struct zkr__lock *lock;
    uint64_t epoch; /* of the node */
    bool was_there; /* when the epoch ended, as far as the claim knew */
    char name[ZKR__NAME_MAX];
    char node[]; /* of sweep.node_size */
};

static struct leftover *of(struct zkr__list *link)
{
    return ZKR__CONTAINER(link, struct leftover, link);
}

static void free_locked(struct leftover *l) ZKR__LOCKED
{
    zkr__list_remove(&l->link);
    zkr__timer_thread_disarm_locked(l->lock->session, &l->timer);
    zkr__lock_unref(l->lock);
    free(l);
}

static void on_swept(struct zkr__sweep *sweep, int rc);

/* Sweeps at most `count` leftovers, of those whose lease has ended. */
static void sweep_some_locked(struct zkr__locks *locks, int count) ZKR__LOCKED
{
    struct zkr__list *next;

    if (locks->observer.session->over != 0)
        return;
    for (struct zkr__list *i = locks->leftovers.next;
         i != &locks->leftovers && count > 0; i = next) {
        next = i->next;
        if (zkr__timer_is_armed(&of(i)->timer))
            continue;
        zkr__list_remove(i);
        locks->leftovers_swept++;
        count--;
        zkr__sweep_start_locked(&of(i)->sweep, on_swept);
    }
}

/* One of them tells whether the session of all has ended, because all nodes of
 * a session go together. */
static void forget_epoch_locked(struct zkr__locks *locks,
                                uint64_t epoch) ZKR__LOCKED
{
    struct zkr__list *next;

    for (struct zkr__list *i = locks->leftovers.next; i != &locks->leftovers;
         i = next) {
        next = i->next;
        if (of(i)->epoch <= epoch)
            free_locked(of(i));
    }
}

/* When this session has ended as well, the next one deletes it. */
static void on_swept(struct zkr__sweep *sweep, int rc)
{
    struct leftover *l = ZKR__CONTAINER(sweep, struct leftover, sweep);
    struct zkr_session *s = l->lock->session;
    struct zkr__locks *locks = zkr__locks_of(s);
    bool alive = sweep->deleted;

    zkr__session_assert_locked(s);
    if (zkr__error_outcome(rc) == ZKR__OVER && s->over == 0) {
        zkr__sweep_start_locked(sweep, on_swept);
        return;
    }
    locks->leftovers_swept--;
    if (rc == ZKR_OK && l->was_there && !alive)
        forget_epoch_locked(locks, l->epoch);
    free_locked(l);
    if (alive)
        sweep_some_locked(locks, INT32_MAX);
    else if (locks->leftovers_swept == 0)
        sweep_some_locked(locks, 1);
}

static void on_promise_over(struct zkr__timer *timer)
{
    struct leftover *l = ZKR__CONTAINER(timer, struct leftover, timer);
    struct zkr__locks *locks = zkr__locks_of(l->lock->session);

    zkr__session_assert_locked(locks->observer.session);
    if (locks->leftovers_swept == 0)
        sweep_some_locked(locks, 1);
}

static struct leftover *new_leftover(struct zkr__claim *c)
{
    struct leftover *l = calloc(1, sizeof(*l) + c->node->path_size);

    if (l == NULL)
        return NULL;
    zkr__list_init(&l->link);
    zkr__sweep_init(&l->sweep, c->session, NULL);
    zkr__lock_ref(c->lock);
    l->lock = c->lock;
    l->epoch = c->epoch;
    l->was_there =
        c->node->path[0] != '\0' && c->sm.state != ZKR__CLAIM_LEAVING;
    (void)strcpy(l->name, c->node->name);
    (void)strcpy(l->node, c->node->path);
    c->way->seek(c, &l->sweep.search);
    l->sweep.search.tag = l->name; /* the claim draws another */
    l->sweep.retry = ZKR__RETRY_ALWAYS;
    l->sweep.node = l->node;
    l->sweep.node_size = c->node->path_size;
    l->sweep.may_be_more = c->node->may_be_more;
    return l;
}

static bool may_have_a_node(const struct zkr__claim *c)
{
    return c->node->path[0] != '\0' || c->node->may_be_more ||
           c->sm.state == ZKR__CLAIM_ENROLLING ||
           c->sm.state == ZKR__CLAIM_RECOVERING;
}

void zkr__leftover_add_locked(struct zkr__claim *c, int64_t not_before)
{
    struct zkr_session *s = c->session;
    struct zkr__locks *locks = zkr__locks_of(s);
    int64_t now = zkr__clock_boot();

    if (s->over != 0 || !c->role->makes_node || !c->way->has_own_path ||
        !may_have_a_node(c))
        return;
    struct leftover *l = new_leftover(c);
    if (l == NULL) {
        zkr__log(ZKR_LOG_WARNING, "no memory to see to %s",
                 c->node->request_path);
        return;
    }
    zkr__list_append(&locks->leftovers, &l->link);
    if (not_before > now)
        zkr__timer_thread_arm_locked(
            s, &l->timer, zkr__clock_now() + not_before - now, on_promise_over);
    else if (locks->leftovers_swept == 0)
        sweep_some_locked(locks, 1);
}

void zkr__leftovers_end_locked(struct zkr_session *s)
{
    struct zkr__locks *locks = zkr__locks_of(s);
    struct zkr__list *link;

    while ((link = zkr__list_pop(&locks->leftovers)) != NULL)
        free_locked(of(link));
}
