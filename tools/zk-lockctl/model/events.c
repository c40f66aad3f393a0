/* SPDX-License-Identifier: Apache-2.0 */
#include "model/events.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

const char *event_name(enum event_kind kind)
{
    static const char *const names[] = {
        [EVENT_HOLDING] = "holding", [EVENT_WAITING] = "waiting",
        [EVENT_QUEUED] = "queued",   [EVENT_ACQUIRED] = "acquired",
        [EVENT_REVOKED] = "revoked", [EVENT_GONE] = "gone",
        [EVENT_LEFT] = "left",       [EVENT_MISSED] = "missed",
        [EVENT_RESYNC] = "resync",
    };

    return names[kind];
}

/* --- the difference --- */

struct diff {
    const struct view *before;
    struct view *after;
    const struct contender **old; /* those of before by their names */
    const struct contender **new;
    event_fn *tell;
    void *user;
};

/* The same node in the other look. A name can come back with another node. A
 * token is 0 when the node could not be read. */
static const struct contender *find(const struct contender *const *names,
                                    const struct view *in,
                                    const struct contender *c)
{
    const struct contender *found =
        in == NULL ? NULL : names_find(names, in->lock.count, c->node->name);

    return found == NULL || found->node->token == c->node->token ||
                   found->node->token == 0 || c->node->token == 0
               ? found
               : NULL;
}

static void tell(const struct diff *d, enum event_kind kind,
                 const struct view *view, size_t i)
{
    struct event event = { .kind = kind,
                           .at_ms = d->after->lock.at_ms,
                           .lock = &view->lock,
                           .of = &view->lock.items[i] };

    if (d->tell != NULL)
        d->tell(&event, d->user);
}

/* Counts the contenders before it in the queue that are still there. */
struct remaining {
    bool exclusive;
    bool any;
};

/* The contender that it waited for was there to the end, so it has never
 * held. */
static bool was_blocked(const struct contender *c, const struct remaining *r)
{
    return !c->node->holds &&
           (c->node->kind == ZKR_PARTICIPANT_SHARED ? r->exclusive : r->any);
}

/* --- semaphores --- */

/* The node in the queue of a semaphore, and the lease that it has led to. */
static bool is_claim_of(const struct contender *c,
                        const struct contender *lease)
{
    return zkr__is_lease(lease->node) && lease->node->holds &&
           contender_waits(c) && !zkr__is_lease(c->node) &&
           c->node->session_id == lease->node->session_id &&
           c->node->token < lease->node->token;
}

/* The lease that it had made before it had the permit; NULL: none. */
static const struct contender *promised_to(const struct lock *lock,
                                           const struct contender *c)
{
    size_t i = c->node->waits_for;

    return i < lock->count && contender_is_promised(&lock->items[i])
               ? &lock->items[i]
               : NULL;
}

/* A contender that gets a permit leaves the queue, and has a new lease. A later
 * one of its session is another's. */
static bool has_moved_on(const struct diff *d, const struct contender *c)
{
    const struct contender *promised = promised_to(&d->before->lock, c);
    const struct lock *lock = &d->after->lock;
    bool moved = false;

    if (promised != NULL)
        return find(d->new, d->after, promised) != NULL;
    if (lock->kind != ZKR__KIND_SEMAPHORE && lock->kind != ZKR__KIND_MIXED)
        return false;
    for (size_t i = 0; i < lock->count && !moved; i++) {
        const struct contender *old;

        if (!is_claim_of(c, &lock->items[i]))
            continue;
        old = find(d->old, d->before, &lock->items[i]);
        moved = old == NULL || !old->node->holds;
    }
    return moved;
}

/* --- what has gone --- */

static void tell_gone(const struct diff *d, size_t i,
                      const struct remaining *remaining)
{
    const struct contender *c = &d->before->lock.items[i];

    if (contender_is_promised(c) ||
        (has_moved_on(d, c) && !d->before->lease_gone[i]))
        return;
    tell(d, was_blocked(c, remaining) ? EVENT_LEFT : EVENT_GONE, d->before, i);
}

static void tell_all_gone(const struct diff *d)
{
    struct remaining remaining = { .any = false };

    for (size_t i = 0; i < d->before->lock.count; i++) {
        const struct contender *c = &d->before->lock.items[i];

        if (find(d->new, d->after, c) == NULL) {
            tell_gone(d, i, &remaining);
            continue;
        }
        if (zkr__is_lease(c->node))
            continue;
        remaining.any = true;
        if (c->node->kind == ZKR_PARTICIPANT_EXCLUSIVE)
            remaining.exclusive = true;
    }
}

/* The queue and the leases of a semaphore are listed one after the other, so a
 * claim can be seen that has given its permit back. Another lease of its
 * session is not the one that it has led to. */
static bool is_lease_gone(const struct diff *d, const struct contender *old)
{
    const struct contender *promised = promised_to(&d->before->lock, old);

    return d->before->lease_gone[old - d->before->lock.items] ||
           (promised != NULL && find(d->new, d->after, promised) == NULL);
}

/* Nor does it wait for that other one, which has its permit. */
static void look_for_leases(const struct diff *d)
{
    struct view *after = d->after;

    for (size_t i = 0; i < after->lock.count; i++) {
        const struct contender *c = &after->lock.items[i];
        const struct contender *old = find(d->old, d->before, c);
        const struct contender *lease = promised_to(&after->lock, c);

        after->lease_gone[i] = old != NULL && is_lease_gone(d, old);
        if (!after->lease_gone[i] || lease == NULL)
            continue;
        after->granted = *lease->node;
        after->granted.holds = true;
        after->lock.items[c->node->waits_for].node = &after->granted;
    }
}

/* The request to give the lock back replaces the record of the owner in the
 * node.
 */
static void remember_owner(struct contender *c, const struct contender *old)
{
    if (!c->owner.is_asked || c->owner.is_record || old == NULL)
        return;
    c->owner = old->owner;
    c->dialect = old->dialect;
    if (c->owner.is_asked)
        return;
    c->owner.is_asked = true;
    const struct zkr_participant *p = old->node;
    c->owner.said_size =
        p->data_size < ZKR__OWNER_SAID_MAX ? p->data_size : ZKR__OWNER_SAID_MAX;
    memcpy(c->owner.said, p->data, c->owner.said_size);
}

static void tell_present(const struct diff *d, size_t i)
{
    struct contender *c = &d->after->lock.items[i];
    const struct contender *old = find(d->old, d->before, c);

    remember_owner(c, old);
    if (contender_is_promised(c))
        return;
    if (d->before == NULL) {
        tell(d, c->node->holds ? EVENT_HOLDING : EVENT_WAITING, d->after, i);
        return;
    }
    if (old == NULL && !zkr__is_lease(c->node))
        tell(d, EVENT_QUEUED, d->after, i);
    if (c->node->holds && (old == NULL || !old->node->holds))
        tell(d, EVENT_ACQUIRED, d->after, i);
    if (c->owner.is_asked && (old == NULL || !old->owner.is_asked))
        tell(d, EVENT_REVOKED, d->after, i);
}

void events_between(const struct view *before, struct view *after, event_fn *fn,
                    void *user)
{
    struct diff d = {
        .before = before, .after = after, .tell = fn, .user = user
    };

    d.old = before == NULL ? NULL : lock_names(&before->lock);
    d.new = lock_names(&after->lock);
    free(after->lease_gone);
    after->lease_gone = enough(calloc(after->lock.count + 1, sizeof(bool)));
    look_for_leases(&d);
    if (before != NULL)
        tell_all_gone(&d);
    for (size_t i = 0; i < after->lock.count; i++)
        tell_present(&d, i);
    free(d.old);
    free(d.new);
}
