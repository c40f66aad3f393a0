/* SPDX-License-Identifier: Apache-2.0 */
/* The keepalive: sends a request now and then in place of the client's own
 * pings, whose answers the client does not report. A sync goes to the leader
 * and back, so after two of them a first write can prove a lease; an idle
 * session has reads instead, which cost the leader nothing. */
#include "base/clock.h"
#include "session/session.h"
#include "session/timer_thread.h"

static void on_keepalive(struct zkr__timer *timer)
{
    struct zkr_session *s =
        ZKR__CONTAINER(timer, struct zkr_session, keepalive);
    int64_t now = zkr__clock_boot();
    bool idle = s->claims == 0 && zkr__lease_is_idle(&s->lease, now);
    int64_t keepalive = zkr__lease_keepalive(&s->lease, idle);
    int64_t last = idle ? s->lease.heard : s->lease.last_round;
    int64_t quiet = now - (s->beat_at > last ? s->beat_at : last);

    zkr__session_assert_locked(s);
    if (!zkr__session_connected(s))
        return;
    if (quiet >= keepalive && s->touch.where == ZKR__OP_IDLE)
        zkr__op_start_locked(&s->touch, idle ? ZKR__ZK_EXISTS : ZKR__ZK_SYNC,
                             zkr__session_root(s), ZKR__RETRY_NEVER,
                             NULL); /* the lease is told */
    zkr__timer_thread_arm_locked(s, timer,
                                 zkr__clock_now() + keepalive -
                                     (quiet < keepalive ? quiet : 0),
                                 on_keepalive);
}

void zkr__keepalive_start_locked(struct zkr_session *s)
{
    if (zkr__session_has_lease(s) && !zkr__timer_is_armed(&s->keepalive))
        zkr__timer_thread_arm_locked(s, &s->keepalive, zkr__clock_now(),
                                     on_keepalive);
}
