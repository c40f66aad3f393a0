/* SPDX-License-Identifier: Apache-2.0 */
/* The lease: computes until when the server cannot have ended our session.
 * Pure. */
#include "session/lease.h"

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static const struct zkr__lease_sign *at(const struct zkr__lease_signs *signs,
                                        unsigned i)
{
    return &signs->ring[(signs->first + i) % ZKR__LEASE_SIGNS];
}

/* Returns when the last of them was sent; 0: none was. */
static int64_t last(const struct zkr__lease_signs *signs)
{
    return signs->count == 0 ? 0 : at(signs, signs->count - 1)->sent;
}

void zkr__lease_reset(struct zkr__lease *lease, int64_t ping_gap, int hops,
                      int64_t margin)
{
    *lease = (struct zkr__lease){ .ping_gap = ping_gap,
                                  .hops = hops,
                                  .margin = margin };
}

void zkr__lease_connected(struct zkr__lease *lease, int64_t now,
                          int64_t timeout)
{
    lease->longest = zkr__lease_promised(lease);
    lease->connected = now;
    lease->served = now;
    lease->heard = now;
    lease->revalidated = last(&lease->requests);
    lease->tracked = lease->alive;
    lease->follows = 0;
    lease->firm = 0;
    lease->shown.mzxid = 0;
    lease->shown.firm = 0;
    if (lease->timeout == 0 || timeout < lease->timeout)
        lease->timeout = timeout;
    lease->took = min(lease->took, lease->timeout);
    lease->slowest = min(lease->slowest, lease->timeout);
}

static int64_t gap(const struct zkr__lease *lease)
{
    return lease->ping_gap != 0 ? lease->ping_gap : lease->timeout * 3 / 10;
}

/* Dropping evidence is safe. Requests in quick succession are worth no more
 * than one of them, and would push out the older ones that the proof needs. */
static bool remember(struct zkr__lease_signs *signs, int64_t apart,
                     struct zkr__lease_sign sign)
{
    if (signs->count > 0 && sign.sent < last(signs) + apart)
        return false;
    if (signs->count == ZKR__LEASE_SIGNS)
        signs->first = (signs->first + 1) % ZKR__LEASE_SIGNS;
    else
        signs->count++;
    signs->ring[(signs->first + signs->count - 1) % ZKR__LEASE_SIGNS] = sign;
    return true;
}

static int64_t pass(const struct zkr__lease *lease)
{
    return max(lease->timeout / 20, ZKR__LEASE_PASS);
}

/* Shorter than the quickest beat, and long enough for the signs of more than
 * one timeout. */
static int64_t apart(const struct zkr__lease *lease)
{
    return lease->timeout / (ZKR__LEASE_SIGNS - 8);
}

/* The last m that was answered when a request was sent, at `sent`; 0: none. */
static int64_t answered(const struct zkr__lease *lease, int64_t sent)
{
    for (unsigned i = lease->rounds.count; i-- > 0;) {
        if (at(&lease->rounds, i)->acked <= sent)
            return at(&lease->rounds, i)->sent;
    }
    return 0;
}

/* Returns the newest s_j that an m sent then proves: that of the newest sign
 * that was answered G before. `signs` are all requests for the first hop, and
 * the rounds for the second, because the k of the first hop is the j of the
 * second. */
static int64_t prove(const struct zkr__lease *lease,
                     const struct zkr__lease_signs *signs, int64_t m)
{
    for (unsigned i = signs->count; i-- > 0;) {
        if (at(signs, i)->acked + gap(lease) <= m)
            return max(lease->revalidated, at(signs, i)->near);
    }
    return lease->revalidated;
}

void zkr__lease_begin(struct zkr__lease *lease, int64_t since)
{
    lease->alive = since;
    lease->tracked = since;
    lease->last_round = since;
}

/* Returns the end of the lease for such an s_j; 0: none. */
static int64_t end(const struct zkr__lease *lease, int64_t alive)
{
    if (lease->timeout == 0 || alive == 0)
        return 0;
    return alive + lease->timeout - lease->timeout / 1000 - lease->margin;
}

/* The lease that is known so far runs on this connection. */
static bool runs(const struct zkr__lease *lease, int64_t acked)
{
    return acked >= lease->connected && acked < end(lease, lease->tracked);
}

/* The server has answered all along, so the leader has heard of us in time. */
static bool is_served(const struct zkr__lease *lease, int64_t sent)
{
    return sent - lease->served >= lease->timeout;
}

/* When a round was answered, the leader had heard of its `far`. That counts
 * only if the leader had not polled the session: the lease ran when the round
 * was answered, or the round was answered on this connection so long before
 * `sent` that a polled session would be closed by now. */
static void track(struct zkr__lease *lease, int64_t sent)
{
    int64_t before = sent - pass(lease);
    unsigned i = lease->rounds.count;

    while (i > 0 && at(&lease->rounds, i - 1)->far > lease->tracked)
        i--; /* those before tell nothing new */
    for (; i < lease->rounds.count; i++) {
        const struct zkr__lease_sign *x = at(&lease->rounds, i);

        if (runs(lease, x->acked) ||
            (before >= lease->connected && x->acked <= before))
            lease->tracked = max(lease->tracked, x->far);
    }
}

/* An own write has been committed that was sent then. If the session had been
 * polled when a round was answered that long before, it would be closed. */
static void confirm(struct zkr__lease *lease, int64_t sent)
{
    int64_t before = sent - pass(lease);

    for (unsigned i = lease->rounds.count; i-- > 0;) {
        const struct zkr__lease_sign *x = at(&lease->rounds, i);

        if (x->acked < lease->connected)
            return;
        if (x->acked <= before) {
            lease->firm = max(lease->firm, x->far);
            return;
        }
    }
}

static int64_t slowest(const struct zkr__lease_signs *signs, int64_t since)
{
    int64_t took = 0;

    for (unsigned i = signs->count; i-- > 0 && at(signs, i)->acked >= since;)
        took = max(took, at(signs, i)->acked - at(signs, i)->sent);
    return took;
}

/* R rises at once, and falls when the slow answer is T/3 ago: the proof that
 * begins with it has its m then. */
static void measure(struct zkr__lease *lease)
{
    int64_t since = lease->heard - lease->timeout / 3;
    int64_t took =
        max(slowest(&lease->requests, since), slowest(&lease->rounds, since));

    lease->slowest = min(max(took, lease->took), lease->timeout);
}

void zkr__lease_answered(struct zkr__lease *lease, int64_t sent, int64_t acked)
{
    if (acked - lease->heard > lease->timeout * 3 / 8)
        lease->served = acked;
    lease->heard = max(lease->heard, sent);
    if (remember(&lease->requests, apart(lease),
                 (struct zkr__lease_sign){
                     .sent = sent, .acked = acked, .near = sent }))
        measure(lease);
}

void zkr__lease_synced(struct zkr__lease *lease, int64_t sent, int64_t acked)
{
    int64_t m = answered(lease, sent);
    struct zkr__lease_sign x = { .sent = sent, .acked = acked };

    zkr__lease_answered(lease, sent, acked);
    x.near = prove(lease, &lease->requests, m);
    x.far = lease->hops > 1 ? prove(lease, &lease->rounds, m) : x.near;
    track(lease, sent);
    if (runs(lease, acked) || is_served(lease, sent))
        lease->tracked = max(lease->tracked, x.far);
    if (acked < end(lease, lease->firm))
        lease->firm = max(lease->firm, x.far);
    lease->last_round = max(lease->last_round, sent);
    if (remember(&lease->rounds, apart(lease), x))
        measure(lease);
}

void zkr__lease_committed(struct zkr__lease *lease, int64_t sent, int64_t acked)
{
    int64_t took = min(acked - sent, lease->timeout);

    lease->took = max(took, (lease->took + took) / 2);
    zkr__lease_synced(lease, sent, acked);
    confirm(lease, sent);
    lease->alive = max(lease->alive, lease->tracked);
    lease->last_committed = max(lease->last_committed, sent);
}

void zkr__lease_follows(struct zkr__lease *lease, int64_t since)
{
    lease->follows = since;
}

/* Each read that proves begins the next proof, too. */
void zkr__lease_shown(struct zkr__lease *lease, int64_t sent, int64_t mzxid)
{
    if (lease->follows == 0 || sent < lease->follows)
        return;
    if (lease->shown.firm != 0 && mzxid > lease->shown.mzxid) {
        lease->alive = max(lease->alive, lease->shown.firm);
        lease->last_committed = max(lease->last_committed, lease->shown.sent);
    }
    if (mzxid < lease->shown.mzxid)
        lease->firm = 0;
    lease->shown.firm = lease->firm;
    lease->shown.mzxid = mzxid;
    lease->shown.sent = sent;
}

int64_t zkr__lease_until(const struct zkr__lease *lease)
{
    return end(lease, lease->alive);
}

int64_t zkr__lease_promised(const struct zkr__lease *lease)
{
    return max(lease->longest, zkr__lease_until(lease));
}

int64_t zkr__lease_late(const struct zkr__lease *lease)
{
    return lease->last_committed + lease->timeout / 2;
}

/* -- the beat -------------------------------------------------------------- */

/* Beats from one chain to the next. */
#define CHAIN 3

/* The time that answers may take: a little more than they did. */
static int64_t slow(const struct zkr__lease *lease)
{
    return lease->slowest + lease->slowest / 16;
}

/* Returns what is left of T when a proof comes that has waited for three
 * answers only. */
static int64_t left(const struct zkr__lease *lease, int64_t took)
{
    return lease->timeout - lease->timeout / 1000 - lease->margin -
           lease->hops * (gap(lease) + 2 * took) - took;
}

static int64_t quickest(const struct zkr__lease *lease)
{
    return lease->timeout / 50;
}

/* The sign of the last chain is the j of the next. */
static int64_t longest(const struct zkr__lease *lease)
{
    int64_t chain = gap(lease) + 2 * lease->slowest + lease->timeout / 100;

    return min(max(chain, lease->timeout * 3 / 10), lease->timeout / 2) / CHAIN;
}

/* The beacon can be read, answers are quick, the session is firm, and G leaves
 * room for the beat. */
static bool can_share(const struct zkr__lease *lease)
{
    return lease->hops == 1 && lease->shown.firm != 0 &&
           lease->slowest <= lease->timeout / 20 &&
           gap(lease) <= lease->timeout / 3 &&
           lease->heard < end(lease, lease->firm);
}

bool zkr__lease_shares(const struct zkr__lease *lease, int64_t now,
                       int64_t oldest)
{
    return can_share(lease) &&
           (oldest == 0 || now < oldest + lease->slowest + quickest(lease));
}

bool zkr__lease_needs(const struct zkr__lease *lease, int64_t now)
{
    int64_t enough =
        now + zkr__lease_beat(lease) + 2 * lease->slowest + quickest(lease);

    return zkr__lease_until(lease) <= enough ||
           zkr__lease_late(lease) <= enough;
}

int64_t zkr__lease_beat(const struct zkr__lease *lease)
{
    int64_t beats = CHAIN + 2 * lease->hops - 1;
    int64_t rest = left(lease, slow(lease));

    if (can_share(lease))
        return gap(lease) / 3 + lease->timeout / 100;
    rest -= min(rest / 2, lease->timeout / 5); /* the reserve */
    if (left(lease, lease->took) <= 0)
        return longest(lease);
    return max(min(rest / beats, longest(lease)), quickest(lease));
}

uint32_t zkr__lease_chain(const struct zkr__lease *lease)
{
    return zkr__lease_beat(lease) > quickest(lease) && !can_share(lease) ? CHAIN
                                                                         : 1;
}

static int64_t quicker(const struct zkr__lease *lease)
{
    return max(zkr__lease_beat(lease) / 4, quickest(lease));
}

/* From then on a quick beat is needed: the third is a chain, whose answer comes
 * before the lease ends. */
static int64_t last_call(const struct zkr__lease *lease)
{
    return zkr__lease_until(lease) - zkr__lease_beat(lease) -
           2 * lease->slowest;
}

int64_t zkr__lease_next(const struct zkr__lease *lease, int64_t last,
                        int64_t oldest)
{
    int64_t quick = last_call(lease);

    if (oldest != 0)
        quick = min(quick, oldest + lease->slowest + quickest(lease));
    return min(last + zkr__lease_beat(lease),
               max(last + quicker(lease), quick));
}

static int64_t pace(const struct zkr__lease *lease, int64_t enough)
{
    return zkr__lease_until(lease) > enough ? zkr__lease_beat(lease)
                                            : quicker(lease);
}

int64_t zkr__lease_pace(const struct zkr__lease *lease, int64_t now)
{
    return pace(lease, now + lease->timeout / 4);
}

int64_t zkr__lease_first_pace(const struct zkr__lease *lease, int64_t now)
{
    return pace(lease, now + lease->timeout / 2);
}

/* Computes the lease after each of the chains to come, until there is a proof
 * that begins with one of their signs: from there on the beat is right. */
static bool lasts(const struct zkr__lease *lease, int64_t now, int64_t sent,
                  int64_t took)
{
    struct zkr__lease next = *lease;
    int64_t beat = zkr__lease_beat(lease);
    uint32_t chain = zkr__lease_chain(lease);
    int64_t write = sent + took; /* of the first chain */

    for (uint32_t i = 0; next.alive < now; i++, sent += beat) {
        for (; write <= sent; write += chain * beat) {
            if (zkr__lease_until(&next) <= write + took + beat / 4)
                return false;
            zkr__lease_committed(&next, write, write + took);
        }
        if (i % chain == 0 || lease->hops > 1)
            zkr__lease_synced(&next, sent, sent + took);
        else
            zkr__lease_answered(&next, sent, sent + took);
    }
    return true;
}

/* An instant may decide whether a request was answered in time to be a j or an
 * m, so it is judged with answers as they were, and a little slower. */
bool zkr__lease_lasts(const struct zkr__lease *lease, int64_t now,
                      int64_t under_way)
{
    int64_t sent = now - under_way;
    int64_t took = max(lease->took, under_way / 2);

    if (zkr__lease_until(lease) <= now)
        return false;
    if (under_way == 0)
        sent += zkr__lease_first_pace(lease, now);
    return lasts(lease, now, sent, took) &&
           lasts(lease, now, sent, took + took / 16);
}

bool zkr__lease_is_slow(const struct zkr__lease *lease)
{
    return lease->timeout != 0 &&
           lease->slowest > zkr__lease_keepalive(lease, false) / 2;
}

/* Very slow answers are given no more than T/6, or there might be no claim at
 * all. */
int64_t zkr__lease_ahead(const struct zkr__lease *lease, int64_t under_way)
{
    int64_t answer = max(2 * lease->slowest - under_way, 0);

    return min(answer + zkr__lease_beat(lease) / 2, lease->timeout / 6);
}

int64_t zkr__lease_proof_wait(const struct zkr__lease *lease)
{
    int64_t gaps = lease->hops * gap(lease);
    int64_t patience = gaps + lease->timeout * 11 / 30 + pass(lease);

    if (gaps + lease->margin >= lease->timeout)
        return 0;
    return left(lease, lease->took) > 0
               ? patience + (2 * lease->hops + 2) * lease->slowest
               : patience;
}

/* The second after j is an m while answers take less than T/10. With two hops
 * it is the eighth, while they take less than T/30. */
int64_t zkr__lease_keepalive(const struct zkr__lease *lease, bool idle)
{
    if (lease->hops > 1)
        return lease->timeout / 24;
    return idle ? lease->timeout * 7 / 24 : lease->timeout * 5 / 24;
}

bool zkr__lease_is_idle(const struct zkr__lease *lease, int64_t now)
{
    int64_t used = max(lease->connected, lease->last_committed);

    return lease->hops == 1 && now - used > lease->timeout;
}
