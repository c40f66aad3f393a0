/* The lease: until when the server cannot have ended our session. Pure. */
#include "lease.h"

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static const struct zkr__lease_sign *at(const struct zkr__lease_signs *signs,
                                        unsigned i)
{
    return &signs->ring[(signs->first + i) % ZKR__LEASE_SIGNS];
}

void zkr__lease_reset(struct zkr__lease *lease, int64_t ping_gap,
                      int64_t margin)
{
    *lease = (struct zkr__lease){ .ping_gap = ping_gap, .margin = margin };
}

void zkr__lease_set_timeout(struct zkr__lease *lease, int64_t timeout)
{
    if (lease->timeout == 0 || timeout < lease->timeout)
        lease->timeout = timeout;
}

static int64_t gap(const struct zkr__lease *lease)
{
    return lease->ping_gap != 0 ? lease->ping_gap : lease->timeout * 3 / 10;
}

/* Dropping evidence is safe. Requests in quick succession are worth no more
 * than one of them, and would push out the older ones that the proof needs. */
static void remember(struct zkr__lease_signs *signs, int64_t apart,
                     struct zkr__lease_sign sign)
{
    if (signs->count > 0 &&
        sign.sent < at(signs, signs->count - 1)->sent + apart)
        return;
    if (signs->count == ZKR__LEASE_SIGNS)
        signs->first = (signs->first + 1) % ZKR__LEASE_SIGNS;
    else
        signs->count++;
    signs->ring[(signs->first + signs->count - 1) % ZKR__LEASE_SIGNS] = sign;
}

static int64_t apart(const struct zkr__lease *lease)
{
    return lease->timeout / (ZKR__LEASE_SIGNS + 16);
}

/* The last m that was answered when a write k was sent, at `sent`; 0: none. */
static int64_t answered(const struct zkr__lease *lease, int64_t sent)
{
    int64_t m = 0;

    for (unsigned i = 0; i < lease->rounds.count; i++) {
        if (at(&lease->rounds, i)->acked <= sent)
            m = max(m, at(&lease->rounds, i)->sent);
    }
    return m;
}

/* The best s_j for such an m. */
static int64_t prove(const struct zkr__lease *lease, int64_t m)
{
    int64_t j = 0;

    for (unsigned i = 0; i < lease->requests.count; i++) {
        if (at(&lease->requests, i)->acked + gap(lease) <= m)
            j = max(j, at(&lease->requests, i)->sent);
    }
    return j;
}

void zkr__lease_begin(struct zkr__lease *lease, int64_t since)
{
    lease->alive = since;
    lease->last_round = since;
}

void zkr__lease_answered(struct zkr__lease *lease, int64_t sent, int64_t acked)
{
    remember(&lease->requests, apart(lease),
             (struct zkr__lease_sign){ sent, acked });
}

void zkr__lease_synced(struct zkr__lease *lease, int64_t sent, int64_t acked)
{
    remember(&lease->rounds, apart(lease),
             (struct zkr__lease_sign){ sent, acked });
    lease->last_round = max(lease->last_round, sent);
    zkr__lease_answered(lease, sent, acked);
}

void zkr__lease_committed(struct zkr__lease *lease, int64_t sent, int64_t acked)
{
    lease->alive = max(lease->alive, prove(lease, answered(lease, sent)));
    lease->last_committed = max(lease->last_committed, sent);
    lease->took = acked - sent;
    zkr__lease_synced(lease, sent, acked);
}

int64_t zkr__lease_until(const struct zkr__lease *lease)
{
    if (lease->timeout == 0 || lease->alive == 0)
        return 0;
    return lease->alive + lease->timeout - lease->timeout / 1000 -
           lease->margin;
}

int64_t zkr__lease_late(const struct zkr__lease *lease)
{
    return lease->timeout / 3;
}

/* The third write after j must be an m when the second comes too early for it;
 * a quarter more for answers that take longer than the last. */
int64_t zkr__lease_beat(const struct zkr__lease *lease)
{
    int64_t beat = lease->timeout / 6;
    int64_t m = gap(lease) + lease->took + lease->took / 4;

    return m > 2 * beat && m < 3 * beat ? m / 3 : beat;
}

/* Its first beat is quick when the proof is old. Very slow answers are given no
 * more than a beat, or there might be no claim at all. */
int64_t zkr__lease_ahead(const struct zkr__lease *lease)
{
    int64_t ahead = lease->took + zkr__lease_beat(lease) / 2;

    return ahead < lease->timeout / 6 ? ahead : lease->timeout / 6;
}

int64_t zkr__lease_patience(const struct zkr__lease *lease)
{
    int64_t patience = gap(lease) + lease->timeout * 11 / 30;

    return gap(lease) + lease->margin < lease->timeout ? patience : 0;
}

/* The second after j is an m while answers take less than T/10. */
int64_t zkr__lease_pulse(const struct zkr__lease *lease)
{
    return lease->timeout * 5 / 24;
}
