/* What must happen to the command at which instant, so that it is dead before
 * anybody else can hold the lock. Pure. */
#include "run_fence.h"

enum { SHORTEST_SLEEP_MS = 10, GRACE_ENOUGH_MS = 5000 };

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_ours(const struct fence_view *v)
{
    return (v->state == ZKR_GRANT_HELD || v->state == ZKR_GRANT_SUSPENDED) &&
           v->valid_until_ms != 0;
}

static enum fence_action policy_action(const struct fence *f,
                                       const struct fence_view *v)
{
    bool suspended = v->state == ZKR_GRANT_SUSPENDED;

    if (f->policy == FENCE_TERM && suspended && !f->terminated)
        return FENCE_SEND_TERM;
    if (f->policy == FENCE_PAUSE && suspended && !f->paused)
        return FENCE_SEND_STOP;
    if (f->paused && !suspended)
        return FENCE_SEND_CONT;
    return FENCE_NOTHING;
}

struct fence_plan fence_next(struct fence *f, const struct fence_view *v)
{
    int64_t kill_ms = v->valid_until_ms - FENCE_LEAD_MS;
    int64_t term_ms = kill_ms - f->grace_ms;
    struct fence_plan plan = { FENCE_NOTHING, 0 };

    if (!is_ours(v) || v->now_ms >= kill_ms) {
        plan.action = FENCE_SEND_KILL;
        return plan;
    }
    plan.action = policy_action(f, v);
    /* What is stopped cannot act on TERM; it waits for CONT or KILL. */
    if (plan.action == FENCE_NOTHING && !f->terminated && !f->paused &&
        v->now_ms >= term_ms)
        plan.action = FENCE_SEND_TERM;
    if (plan.action == FENCE_SEND_TERM)
        f->terminated = true;
    if (plan.action == FENCE_SEND_STOP || plan.action == FENCE_SEND_CONT)
        f->paused = plan.action == FENCE_SEND_STOP;
    /* Look again halfway: the lease has grown by then. */
    plan.wake_ms =
        v->now_ms + max(SHORTEST_SLEEP_MS, (kill_ms - v->now_ms) / 2);
    if (!f->terminated && !f->paused && v->now_ms < term_ms)
        plan.wake_ms = min(plan.wake_ms, term_ms);
    plan.wake_ms = min(plan.wake_ms, kill_ms);
    return plan;
}

int64_t fence_longest_grace_ms(int64_t session_timeout_ms)
{
    return session_timeout_ms / 6;
}

int64_t fence_default_grace_ms(int64_t session_timeout_ms)
{
    return min(GRACE_ENOUGH_MS, session_timeout_ms / 10);
}
