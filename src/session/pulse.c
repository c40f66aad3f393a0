/* SPDX-License-Identifier: Apache-2.0 */
/* The pulse: sends a sync now and then in place of the client's own pings. */
#include "session/pulse.h"

#include "base/clock.h"
#include "session/timer_thread.h"

static void on_touched(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    (void)op; /* the lease has been told */
    (void)reply;
}

static void on_pulse(struct zkr__timer *timer)
{
    struct zkr_session *s = ZKR__CONTAINER(timer, struct zkr_session, pulse);
    int64_t pulse = zkr__lease_pulse(&s->lease);
    int64_t quiet = zkr__clock_boot() - s->lease.last_round;

    zkr__session_assert_locked(s);
    if (!zkr__session_connected(s))
        return;
    if (quiet >= pulse && s->touch.where == ZKR__OP_IDLE)
        zkr__op_start_locked(&s->touch, ZKR__ZK_SYNC, zkr__session_root(s),
                             ZKR__RETRY_NEVER, on_touched);
    zkr__timer_thread_arm_locked(
        s, timer, zkr__clock_now() + pulse - (quiet < pulse ? quiet : 0),
        on_pulse);
}

void zkr__pulse_start_locked(struct zkr_session *s)
{
    if (zkr__session_has_lease(s) && !zkr__timer_is_armed(&s->pulse))
        zkr__timer_thread_arm_locked(s, &s->pulse, zkr__clock_now(), on_pulse);
}
