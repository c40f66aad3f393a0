/* SPDX-License-Identifier: Apache-2.0 */
/* The heartbeat: the requests that keep the lease of held locks proven, and the
 * consequences when they are not answered. */
#include "lock/heartbeat.h"

#include "base/clock.h"
#include "base/random.h"
#include "lock/claim.h"
#include "lock/locks.h"
#include "session/timer_thread.h"

bool zkr__heartbeat_is_proven_for(const struct zkr_session *s, int64_t ahead)
{
    return !zkr__session_has_lease(s) ||
           zkr__clock_boot() + ahead < zkr__lease_until(&s->lease);
}

/* Returns since when the first of them has been under way: any request of the
 * heartbeat, or only chains; 0: none is. */
static int64_t oldest(const struct zkr_session *s, bool chains)
{
    const struct zkr__beat *beats = zkr__locks_of(s)->beats;
    int64_t since = 0;

    for (int i = 0; i < ZKR__BEATS; i++) {
        int64_t begun = chains ? beats[i].chain : beats[i].op.sent;

        if (beats[i].op.where == ZKR__OP_IN_FLIGHT && begun != 0 &&
            (since == 0 || begun < since))
            since = begun;
    }
    return since;
}

static int64_t under_way(const struct zkr_session *s)
{
    int64_t since = oldest(s, true);

    return since == 0 ? 0 : zkr__clock_boot() - since;
}

/* A lock that stays is handed on every microsecond, and the forecast plays some
 * ten requests. So a good one counts for a thousandth of the session timeout:
 * answers as they were are not worse for being that much older. */
bool zkr__heartbeat_is_good(const struct zkr_session *s)
{
    int64_t now = zkr__clock_boot();
    int64_t *good_until = &zkr__locks_of(s)->good_until;

    if (!zkr__session_has_lease(s))
        return true;
    if (now < *good_until)
        return now < zkr__lease_until(&s->lease);
    if (!zkr__lease_lasts(&s->lease, now, under_way(s)))
        return false;
    *good_until = now + s->lease.timeout / 1000;
    return true;
}

bool zkr__heartbeat_is_late(const struct zkr_session *s)
{
    return zkr__session_has_lease(s) &&
           zkr__clock_boot() + zkr__lease_ahead(&s->lease, under_way(s)) >=
               zkr__lease_late(&s->lease);
}

static struct zkr__claim *claim_of(struct zkr__list *leased)
{
    return ZKR__CONTAINER(leased, struct zkr__claim, leased);
}

/* The first claim of this epoch that needs a lease: it holds, or waits for a
 * proof. */
static struct zkr__claim *first_locked(struct zkr__locks *locks) ZKR__LOCKED
{
    struct zkr__list *leased = &locks->leased;

    for (struct zkr__list *l = leased->next; l != leased; l = l->next) {
        if (claim_of(l)->epoch == locks->observer.session->epoch)
            return claim_of(l);
    }
    return NULL;
}

/* A proof needs a gap between two requests, so asking without a pause does not
 * win it back sooner. */
int64_t zkr__heartbeat_pace(const struct zkr_session *s)
{
    return zkr__lease_pace(&s->lease, zkr__clock_boot());
}

bool zkr__heartbeat_wants_write(const struct zkr_session *s)
{
    return zkr__session_has_lease(s) &&
           (!zkr__heartbeat_is_proven_for(s, s->lease.timeout / 4) ||
            zkr__clock_boot() + s->lease.timeout / 6 >=
                zkr__lease_late(&s->lease));
}

/* -- the requests of a beat ------------------------------------------------ */

static void prove_locked(struct zkr__op *op) ZKR__LOCKED;

/* A write that finds no node is no proof. The next node is tried at once: the
 * next chain would be too late for the locks that are still held. */
static void on_written(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__beat *beat = ZKR__CONTAINER(op, struct zkr__beat, op);
    struct zkr__claim *c = beat->claim;

    zkr__session_assert_locked(c->session);
    beat->claim = NULL;
    /* A node that may be of another client: grants in doubt ask by themselves.
     */
    if (reply->rc == ZKR_OK && !c->way->has_own_path)
        zkr__heartbeat_good_locked(c->session);
    else
        zkr__grant_found_locked(&c->grant, reply->rc);
    if (reply->rc == ZKR_ZNONODE && zkr__list_empty(&c->leased))
        prove_locked(op);
}

/* The second half of a chain: a write that finds the node of a claim. The next
 * one takes another node, because an ACL may refuse us this one. */
static void prove_locked(struct zkr__op *op)
{
    struct zkr__beat *beat = ZKR__CONTAINER(op, struct zkr__beat, op);
    struct zkr__locks *locks = zkr__locks_of(op->session);
    struct zkr__claim *c = first_locked(locks);

    if (c == NULL)
        return;
    beat->claim = c;
    op->owner = &c->ref;
    zkr__op_start_locked(op, ZKR__ZK_CHECK, c->node->path, ZKR__RETRY_NEVER,
                         on_written);
    zkr__list_remove(&c->leased);
    zkr__list_append(&locks->leased, &c->leased);
}

static void on_synced(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    zkr__session_assert_locked(op->session);
    if (reply->rc == ZKR_OK)
        prove_locked(op);
}

/* -- shared evidence ------------------------------------------------------- */

static void on_seen(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    zkr__session_assert_locked(op->session);
    zkr__lease_shown(&op->session->lease, op->sent,
                     reply->rc == ZKR_OK ? reply->stat.mzxid : 0);
}

/* A session that finds the beacon standing still writes it, by chance. So that
 * few of a fleet do, the chance doubles when nobody has written it since the
 * last look, and halves when several have. */
static bool has_to_write(struct zkr__locks *locks, const struct zkr_stat *stat)
{
    uint32_t *rarely = &locks->look.rarely;
    bool still = stat->mzxid == locks->look.mzxid;
    int64_t writes = (int64_t)stat->version - locks->look.version;

    locks->look.mzxid = stat->mzxid;
    locks->look.version = stat->version;
    if (still && *rarely > 0)
        --*rarely;
    else if (!still && writes > 1 && *rarely < ZKR__BEACON_RARELY_MOST)
        ++*rarely;
    return still && (zkr__random() & ((UINT64_C(1) << *rarely) - 1)) == 0;
}

/* In need the write is our own; that of the beacon is, too, and the fleet's. */
static void on_looked(struct zkr__op *op,
                      const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    struct zkr_session *s = op->session;
    struct zkr__locks *locks = zkr__locks_of(s);
    bool writes = reply->rc == ZKR_OK && has_to_write(locks, &reply->stat);

    on_seen(op, reply);
    if (zkr__lease_needs(&s->lease, zkr__clock_boot()))
        prove_locked(op);
    else if (writes && first_locked(locks) != NULL)
        zkr__op_start_locked(op, ZKR__ZK_SET, locks->beacon, ZKR__RETRY_NEVER,
                             NULL); /* the lease is told */
}

/* Without `done` only the lease is told of the answer. */
static void send_locked(struct zkr_session *s, enum zkr__zk_type type,
                        const char *path,
                        void (*done)(struct zkr__op *,
                                     const struct zkr__zk_reply *)) ZKR__LOCKED
{
    struct zkr__beat *beats = zkr__locks_of(s)->beats;
    int i = 0;

    while (i < ZKR__BEATS && beats[i].op.where != ZKR__OP_IDLE)
        i++;
    if (i == ZKR__BEATS || !zkr__session_connected(s))
        return;
    beats[i].chain = done == on_synced ? zkr__clock_boot() : 0;
    beats[i].op.owner = NULL;
    zkr__op_start_locked(&beats[i].op, type, path, ZKR__RETRY_NEVER, done);
}

static void sign_locked(struct zkr_session *s) ZKR__LOCKED
{
    const char *root = zkr__session_root(s);

    send_locked(s, s->lease.hops > 1 ? ZKR__ZK_SYNC : ZKR__ZK_EXISTS, root,
                NULL);
    send_locked(s, ZKR__ZK_EXISTS, root, NULL);
}

/* The beacon is read behind each sync, so that a chain is where shared evidence
 * begins; not at the quickest beat, which needs all the room. */
static void sync_locked(struct zkr_session *s, bool shares) ZKR__LOCKED
{
    const char *beacon = zkr__locks_of(s)->beacon;

    send_locked(s, ZKR__ZK_SYNC, zkr__session_root(s),
                shares ? NULL : on_synced);
    if (beacon != NULL && s->lease.follows != 0 &&
        (shares || zkr__lease_chain(&s->lease) > 1))
        send_locked(s, ZKR__ZK_EXISTS, beacon, shares ? on_looked : on_seen);
}

/* With slow answers a gap in the beat would be a gap in the lease of a lock
 * that is acquired again soon. */
static bool goes_on(const struct zkr__locks *locks)
{
    const struct zkr__lease *lease = &locks->observer.session->lease;

    return zkr__lease_is_slow(lease) &&
           zkr__clock_boot() < locks->held_at + lease->timeout;
}

static void on_beat(struct zkr__timer *timer);
static void on_look(struct zkr__timer *timer);

/* Looks sooner than a beat later: a request that is unanswered then is late. */
static void arm_locked(struct zkr_session *s) ZKR__LOCKED
{
    struct zkr__locks *locks = zkr__locks_of(s);
    int64_t next = zkr__lease_next(&s->lease, s->beat_at, oldest(s, false));
    int64_t wait = next - zkr__clock_boot();

    zkr__timer_thread_arm_locked(s, &locks->beat, zkr__clock_now() + wait,
                                 wait > 0 ? on_look : on_beat);
}

/* The answers that have come may have put the next beat off. */
static void on_look(struct zkr__timer *timer)
{
    struct zkr__locks *locks = ZKR__CONTAINER(timer, struct zkr__locks, beat);

    zkr__session_assert_locked(locks->observer.session);
    arm_locked(locks->observer.session);
}

/* Sessions that hold nothing write nothing. */
static void on_beat(struct zkr__timer *timer)
{
    struct zkr__locks *locks = ZKR__CONTAINER(timer, struct zkr__locks, beat);
    struct zkr_session *s = locks->observer.session;

    zkr__session_assert_locked(s);
    bool held = first_locked(locks) != NULL;
    if (!held && !goes_on(locks))
        return;
    s->beat_at = zkr__clock_boot();
    /* A doubt ends with a write that finds the node. */
    bool shares = zkr__list_empty(&locks->doubted) &&
                  zkr__lease_shares(&s->lease, s->beat_at, oldest(s, false));
    if (held)
        locks->held_at = s->beat_at;
    if (shares)
        locks->beat_number = 0; /* if that ends, a chain comes first */
    if (shares || locks->beat_number++ % zkr__lease_chain(&s->lease) == 0)
        sync_locked(s, shares);
    else
        sign_locked(s);
    arm_locked(s);
}

/* Held locks are SUSPENDED from `late` on, and UNSURE from `until` on. */
static void on_watchdog(struct zkr__timer *timer)
{
    struct zkr__locks *locks =
        ZKR__CONTAINER(timer, struct zkr__locks, watchdog);
    struct zkr_session *s = locks->observer.session;
    int64_t now = zkr__clock_boot();
    int64_t until = zkr__lease_until(&s->lease);
    int64_t late = zkr__lease_late(&s->lease);
    int64_t next = late > now ? late : until;
    bool any = false;

    zkr__session_assert_locked(s);
    for (struct zkr__list *l = locks->leased.next; l != &locks->leased;
         l = l->next) {
        struct zkr_grant *g = &claim_of(l)->grant;

        if (!zkr__grant_is_ours(g))
            continue;
        any = true;
        if (now >= until)
            zkr__grant_doubt_locked(g, ZKR_GRANT_UNSURE,
                                    "the lease has run out");
        else if (now >= late)
            zkr__grant_doubt_locked(g, ZKR_GRANT_SUSPENDED, "a proof is late");
    }
    if (next > until)
        next = until;
    if (any && next > now)
        zkr__timer_thread_arm_locked(s, timer, zkr__clock_now() + next - now,
                                     on_watchdog);
}

void zkr__heartbeat_start_locked(struct zkr_session *s)
{
    struct zkr__locks *locks = zkr__locks_of(s);
    int64_t now = zkr__clock_now();

    if (!zkr__session_has_lease(s))
        return;
    if (!zkr__timer_is_armed(&locks->beat)) {
        locks->beat_number = 0;
        zkr__timer_thread_arm_locked(
            s, &locks->beat,
            now + zkr__lease_first_pace(&s->lease, zkr__clock_boot()), on_beat);
    }
    if (!zkr__timer_is_armed(&locks->watchdog))
        zkr__timer_thread_arm_locked(s, &locks->watchdog, now, on_watchdog);
}

static void resume_all_locked(struct zkr__locks *locks) ZKR__LOCKED
{
    struct zkr__list *l;

    while ((l = zkr__list_pop(&locks->doubted)) != NULL)
        zkr__grant_resume_locked(
            &ZKR__CONTAINER(l, struct zkr__claim, doubted)->grant);
}

void zkr__heartbeat_suspend_locked(struct zkr_session *s)
{
    struct zkr__locks *locks = zkr__locks_of(s);
    struct zkr__list *leased = &locks->leased;

    locks->good_until = 0;
    for (struct zkr__list *l = leased->next; l != leased; l = l->next)
        zkr__grant_doubt_locked(&claim_of(l)->grant, ZKR_GRANT_SUSPENDED,
                                "connection lost");
}

void zkr__heartbeat_resume_locked(struct zkr_session *s)
{
    struct zkr__locks *locks = zkr__locks_of(s);

    if (zkr__timer_is_armed(&locks->watchdog)) {
        zkr__timer_thread_disarm_locked(s, &locks->watchdog);
        zkr__timer_thread_arm_locked(s, &locks->watchdog, zkr__clock_now(),
                                     on_watchdog);
    }
    resume_all_locked(locks);
}

void zkr__heartbeat_good_locked(struct zkr_session *s)
{
    zkr__heartbeat_start_locked(s);
    if (zkr__session_connected(s) && zkr__heartbeat_is_good(s))
        resume_all_locked(zkr__locks_of(s));
}
