/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what claims do, for the lock object and for its session. */
#include "lock/count.h"

#include "base/clock.h"

#define COUNT(c, member, number)                                               \
    do {                                                                       \
        (c)->lock->counters.member += (number);                                \
        (c)->session->counters.member += (number);                             \
    } while (0)

/* Row i has the times from 2^i microseconds on. */
static unsigned row_of(uint64_t us)
{
    unsigned row = us < 2 ? 0 : 63 - (unsigned)__builtin_clzll(us);

    return row < ZKR_STATS_ROWS ? row : ZKR_STATS_ROWS - 1;
}

static uint64_t us_since(int64_t instant)
{
    return (uint64_t)((zkr__clock_now() - instant) / ZKR__US);
}

void zkr__count_acquire_locked(struct zkr__claim *c)
{
    c->since = zkr__clock_now();
    if (c->role->for_caller)
        COUNT(c, acquires, 1);
}

void zkr__count_wait_locked(struct zkr__claim *c)
{
    if (!c->has_waited)
        COUNT(c, waits, 1);
    c->has_waited = true;
}

void zkr__count_refusal_locked(struct zkr__claim *c)
{
    COUNT(c, refusals, 1);
}

static void granted_locked(struct zkr__claim *c) ZKR__LOCKED
{
    uint64_t us = us_since(c->since);

    COUNT(c, grants, 1);
    COUNT(c, handoffs, c->cohort.handoff > 0);
    COUNT(c, wait_us, us);
    COUNT(c, wait_us_log2[row_of(us)], 1);
    c->since = zkr__clock_now();
}

void zkr__count_outcome_locked(struct zkr__claim *c)
{
    if (!c->role->for_caller)
        return;
    switch (c->outcome.rc) {
    case ZKR_OK:
        granted_locked(c);
        break;
    case ZKR_EBUSY:
        COUNT(c, busy, 1);
        break;
    case ZKR_ETIMEDOUT:
    case ZKR_ZOPERATIONTIMEOUT:
        COUNT(c, timeouts, 1);
        break;
    case ZKR_ECANCELED:
        COUNT(c, cancels, 1);
        break;
    default:
        COUNT(c, failures, 1);
        break;
    }
}

static void ended_locked(struct zkr__claim *c) ZKR__LOCKED
{
    uint64_t us = us_since(c->since);

    COUNT(c, hold_us, us);
    COUNT(c, hold_us_log2[row_of(us)], 1);
}

void zkr__count_grant_locked(struct zkr__claim *c,
                             enum zkr_grant_state_kind state)
{
    if (!c->role->for_caller)
        return;
    COUNT(c, releases, state == ZKR_GRANT_RELEASED);
    COUNT(c, losses, state == ZKR_GRANT_LOST);
    COUNT(c, unsures, state == ZKR_GRANT_UNSURE);
    if (state == ZKR_GRANT_RELEASED || state == ZKR_GRANT_LOST)
        ended_locked(c);
}
