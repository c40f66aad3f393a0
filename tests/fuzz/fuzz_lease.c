/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the lease, against a proof that remembers every request. */
#include "fuzz.h"
#include "session/lease.h"

#define REQUESTS 80 /* more than are remembered */

/* A clock that counts nanoseconds since boot: some 70 years. */
#define CLOCK_MAX (INT64_C(1) << 61)

static struct request {
    int64_t sent;
    int64_t acked;
    enum { READ, SYNC, WRITE } kind;
    int64_t near; /* what the next server had heard of when it was answered */
    int64_t far;  /* what the leader had heard of then */
} requests[REQUESTS];

static size_t count;
static bool is_sparse; /* so that nothing is forgotten */
static int64_t timeout;
static int64_t ping_gap;
static int64_t margin;
static int hops;
static int64_t begun;
static int64_t connected;
static int64_t tracked;
static int64_t revalidated; /* the last request before this connection */
static int64_t served;      /* since when no answer was 3 T/8 apart */
static int64_t heard;

static int64_t gap(void)
{
    return ping_gap != 0 ? ping_gap : timeout * 3 / 10;
}

/* The condition of lease.h on j, answered then, for k: an m in between. */
static bool proves(int64_t acked, const struct request *k)
{
    for (size_t m = 0; m < count; m++) {
        if (requests[m].kind != READ && acked + gap() <= requests[m].sent &&
            requests[m].acked <= k->sent)
            return true;
    }
    return false;
}

static int64_t best_proof(const struct request *k, int hop)
{
    int64_t best = revalidated;

    for (size_t i = 0; i < count; i++) {
        const struct request *j = &requests[i];
        int64_t s_j = hop == 1 ? j->sent : j->kind == READ ? 0 : j->near;

        if (s_j > best && proves(j->acked, k))
            best = s_j;
    }
    return best;
}

/* The session had not been polled when x was answered: the lease ran, or y was
 * sent so much later that it would be closed, or x has been preceded by answers
 * all along. */
static bool counts(const struct request *x, const struct request *y)
{
    int64_t pass = timeout / 20 > 250000000 ? timeout / 20 : 250000000;
    bool ran = tracked != 0 && timeout != 0 && x->acked >= connected &&
               x->acked < tracked + timeout - timeout / 1000 - margin;

    if (x == y && y->sent - served >= timeout)
        return true;
    return x->kind != READ &&
           (ran || (y->sent - pass >= connected && x->acked + pass <= y->sent));
}

static void track(const struct request *x, const struct request *y)
{
    if (counts(x, y) && x->far > tracked)
        tracked = x->far;
}

/* A lease that ended before the clock began says as much as no proof. */
static int64_t until(const struct zkr__lease *lease)
{
    int64_t end = zkr__lease_until(lease);

    return end > 0 ? end : 0;
}

/* Evidence only grows, belongs to a request that was sent, and is never better
 * than a proof that forgets nothing. */
static void check_round(struct zkr__lease *lease, struct request *k)
{
    int64_t before = lease->alive;
    bool was_sent;

    k->near = best_proof(k, 1);
    k->far = hops == 1 ? k->near : best_proof(k, 2);
    for (size_t i = 0; i < count; i++)
        track(&requests[i], k);
    track(k, k);
    if (k->kind == SYNC) {
        zkr__lease_synced(lease, k->sent, k->acked);
        CHECK(lease->alive == before);
        return;
    }
    zkr__lease_committed(lease, k->sent, k->acked);
    CHECK(lease->alive >= before);
    CHECK(lease->alive <= (tracked > before ? tracked : before));
    CHECK(!is_sparse || lease->alive >= tracked);
    was_sent = lease->alive == 0 || lease->alive == begun;
    for (size_t i = 0; i < count; i++)
        was_sent = was_sent || requests[i].sent == lease->alive;
    CHECK(was_sent);
    CHECK(lease->last_committed >= k->sent);
}

static void check_request(struct zkr__lease *lease, struct request r)
{
    int64_t end = until(lease);

    if (r.acked - heard > timeout * 3 / 8)
        served = r.acked;
    heard = r.sent > heard ? r.sent : heard;
    if (r.kind == READ)
        zkr__lease_answered(lease, r.sent, r.acked);
    else
        check_round(lease, &r);
    if (count > 0)
        is_sparse = is_sparse && count < ZKR__LEASE_SIGNS &&
                    r.sent >= requests[count - 1].sent + timeout / 56;
    requests[count++] = r;
    CHECK(r.kind == WRITE || until(lease) == end);
    CHECK(until(lease) >= end);
    CHECK(until(lease) <= (begun > r.sent ? begun : r.sent) + timeout);
    CHECK(r.kind == READ || lease->last_round >= r.sent);
    CHECK(zkr__lease_beat(lease) >= timeout / 50);
    CHECK(zkr__lease_pace(lease, 0) <= zkr__lease_beat(lease));
    CHECK(lease->took <= timeout);
    CHECK(zkr__lease_beat(lease) <= timeout / 6);
    CHECK(lease->requests.count <= ZKR__LEASE_SIGNS);
    CHECK(lease->rounds.count <= ZKR__LEASE_SIGNS);
}

static void reconnect(struct zkr__lease *lease, int64_t now, int64_t to)
{
    int64_t end = until(lease);

    zkr__lease_connected(lease, now, to);
    connected = now;
    tracked = lease->alive;
    served = heard = now;
    revalidated = 0;
    for (size_t i = 0; i < count; i++)
        revalidated =
            requests[i].sent > revalidated ? requests[i].sent : revalidated;
    timeout = timeout == 0 || to < timeout ? to : timeout;
    CHECK(lease->timeout == timeout);
    CHECK(end == 0 || until(lease) <= end);
    CHECK(hops > 1 ||
          zkr__lease_beat(lease) <= zkr__lease_keepalive(lease, false));
    CHECK(zkr__lease_late(lease) - lease->last_committed >=
          zkr__lease_keepalive(lease, false));
    CHECK(zkr__lease_proof_wait(lease) == 0 ||
          zkr__lease_proof_wait(lease) >= gap());
    CHECK(zkr__lease_ahead(lease, 0) <= timeout / 6);
    CHECK(zkr__lease_ahead(lease, timeout) <= zkr__lease_ahead(lease, 0));
}

static void begin(struct zkr__lease *lease, struct fuzz_input *in)
{
    margin = (int64_t)fuzz_number(in, 1) * 1000000;
    count = 0;
    is_sparse = true;
    timeout = 0;
    ping_gap = (int64_t)fuzz_number(in, 1) * 100000000;
    hops = 1 + (int)(fuzz_number(in, 1) % 2);
    zkr__lease_reset(lease, ping_gap, hops, margin);
    CHECK(zkr__lease_until(lease) == 0);
    /* A timeout as a server reports it: milliseconds in 32 bits. */
    reconnect(lease, 0, (int64_t)(fuzz_number(in, 4) & INT32_MAX) * 1000000);
    begun = 1 + (int64_t)(fuzz_number(in, 8) % (CLOCK_MAX / 2));
    zkr__lease_begin(lease, begun);
    tracked = begun;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    struct zkr__lease lease;

    begin(&lease, &in);
    int64_t unit = timeout / 64 + 1;
    int64_t now = begun;
    while (in.size > 0 && count < REQUESTS && now < CLOCK_MAX) {
        uint8_t step = (uint8_t)fuzz_number(&in, 1);
        int64_t took = unit * (int64_t)fuzz_number(&in, 1);

        now += unit * (step % 32);
        if (step == 0xff)
            reconnect(&lease, now,
                      timeout - took > 0 ? timeout - took : timeout);
        else
            check_request(&lease,
                          (struct request){
                              .sent = now,
                              .acked = now + (step & 0x40 ? took : took / 64),
                              .kind = (step & 0x80) == 0   ? WRITE
                                      : (step & 0x20) == 0 ? SYNC
                                                           : READ,
                          });
    }
    return 0;
}
