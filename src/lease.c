/* The lease: until when the server cannot have ended our session. Pure. */
#include "lease.h"

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static const struct zkr__lease_write *at(const struct zkr__lease *lease,
                                         unsigned i)
{
    return &lease->writes[(lease->first + i) % ZKR__LEASE_WRITES];
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
    return lease->ping_gap != 0 ? lease->ping_gap : lease->timeout / 4;
}

/* Dropping evidence is safe. Writes in quick succession are worth no more than
 * one of them, and would push out the older ones that the proof needs. */
static void remember(struct zkr__lease *lease, int64_t sent, int64_t acked)
{
    struct zkr__lease_write write = { sent, acked };

    if (lease->count > 0 &&
        sent < at(lease, lease->count - 1)->sent +
                   lease->timeout / (ZKR__LEASE_WRITES + 16))
        return;
    if (lease->count == ZKR__LEASE_WRITES)
        lease->first = (lease->first + 1) % ZKR__LEASE_WRITES;
    else
        lease->count++;
    lease->writes[(lease->first + lease->count - 1) % ZKR__LEASE_WRITES] =
        write;
}

/* The last m that was answered when a write k was sent, at `sent`; 0: none. */
static int64_t answered(const struct zkr__lease *lease, int64_t sent)
{
    int64_t m = 0;

    for (unsigned i = 0; i < lease->count; i++) {
        if (at(lease, i)->acked <= sent)
            m = max(m, at(lease, i)->sent);
    }
    return m;
}

/* The best s_j for such an m. */
static int64_t prove(const struct zkr__lease *lease, int64_t m)
{
    int64_t j = 0;

    for (unsigned i = 0; i < lease->count; i++) {
        if (at(lease, i)->acked + gap(lease) <= m)
            j = max(j, at(lease, i)->sent);
    }
    return j;
}

static bool was_quick(const struct zkr__lease *lease, int64_t sent,
                      int64_t acked)
{
    return acked - sent <= gap(lease) / 2;
}

void zkr__lease_acked(struct zkr__lease *lease, int64_t sent, int64_t acked)
{
    int64_t m = answered(lease, sent);

    if (lease->busy_since == 0)
        lease->busy_since = sent;
    else if (sent > lease->last_sent + zkr__lease_late(lease))
        lease->stalled = true;
    lease->alive = max(lease->alive, prove(lease, m));
    if (lease->alive < lease->busy_since && !lease->stalled)
        lease->provisional =
            max(lease->provisional, was_quick(lease, sent, acked) ? sent : m);
    lease->last_sent = max(lease->last_sent, sent);
    remember(lease, sent, acked);
}

void zkr__lease_rest(struct zkr__lease *lease)
{
    lease->busy_since = 0;
    lease->stalled = false;
}

int64_t zkr__lease_until(const struct zkr__lease *lease)
{
    int64_t t = lease->timeout - lease->timeout / 1000 - lease->margin;
    int64_t until = 0;

    if (lease->timeout == 0)
        return 0;
    if (lease->alive != 0)
        until = lease->alive + t;
    if (lease->provisional != 0)
        until = max(until,
                    lease->provisional + t - gap(lease) - lease->timeout / 3);
    return until;
}

int64_t zkr__lease_beat(const struct zkr__lease *lease)
{
    return lease->timeout / 6;
}

int64_t zkr__lease_late(const struct zkr__lease *lease)
{
    return lease->timeout / 3;
}
