/* SPDX-License-Identifier: Apache-2.0 */
#include "run/policy.h"

enum { SHORTEST_SLEEP_MS = 10, GRACE_ENOUGH_MS = 5000 };

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool policy_is_ours(const struct policy_view *v)
{
    return (v->state == ZKR_GRANT_HELD || v->state == ZKR_GRANT_SUSPENDED) &&
           v->valid_until_ms != 0 &&
           v->now_ms < v->valid_until_ms - POLICY_LEAD_MS;
}

struct policy_plan policy_next(struct policy *p, const struct policy_view *v)
{
    int64_t kill_ms = v->valid_until_ms - POLICY_LEAD_MS;
    int64_t term_ms = kill_ms - p->grace_ms;
    struct policy_plan plan = { POLICY_NOTHING, 0 };

    if (!policy_is_ours(v)) {
        plan.action = POLICY_SEND_KILL;
        return plan;
    }
    if (!p->terminated && v->now_ms >= term_ms) {
        plan.action = POLICY_SEND_TERM;
        p->terminated = true;
    }
    /* Look again halfway: the lease has grown by then. */
    plan.wake_ms =
        v->now_ms + max(SHORTEST_SLEEP_MS, (kill_ms - v->now_ms) / 2);
    if (!p->terminated && v->now_ms < term_ms)
        plan.wake_ms = min(plan.wake_ms, term_ms);
    plan.wake_ms = min(plan.wake_ms, kill_ms);
    return plan;
}

int64_t policy_longest_grace_ms(int64_t session_timeout_ms)
{
    return session_timeout_ms / 6;
}

int64_t policy_default_grace_ms(int64_t session_timeout_ms)
{
    return min(GRACE_ENOUGH_MS, session_timeout_ms / 10);
}
