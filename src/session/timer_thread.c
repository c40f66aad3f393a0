/* SPDX-License-Identifier: Apache-2.0 */
/* The timer thread: the session's thread for timers, which never blocks. */
#include "session/timer_thread.h"

#include <assert.h>

#include "base/clock.h"
#include "base/thread.h"

void zkr__timer_thread_wake_locked(struct zkr_session *s)
{
    s->timers_sleeps_until = 0;
    zkr__cond_wake(&s->timers_wake);
}

void zkr__timer_thread_arm_locked(struct zkr_session *s,
                                  struct zkr__timer *timer, int64_t instant,
                                  void (*fn)(struct zkr__timer *))
{
    assert(zkr__mtx_mine(&s->lock));
    zkr__timer_arm(&s->timers, timer, instant, fn);
    /* Waking up for a timer that was disarmed meanwhile costs less than waking
     * the thread for every timer: most are disarmed long before they are
     * due. */
    if (instant < s->timers_sleeps_until)
        zkr__timer_thread_wake_locked(s);
}

void zkr__timer_thread_disarm_locked(struct zkr_session *s,
                                     struct zkr__timer *timer)
{
    assert(zkr__mtx_mine(&s->lock));
    zkr__timer_disarm(&s->timers, timer);
}

/* Thousands of timers may be due at once, so others have the lock in between.
 */
static void turn_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    struct zkr__timer *timer = zkr__timers_pop(&s->timers, zkr__clock_now());

    if (timer != NULL) {
        timer->fn(timer);
        zkr__session_unlock(s);
        zkr__session_lock(s);
    } else {
        s->timers_sleeps_until = zkr__timers_next(&s->timers);
        (void)zkr__cond_wait(&s->timers_wake, &s->lock, s->timers_sleeps_until);
        s->timers_sleeps_until = 0;
    }
}

static void *timer_thread_main(void *arg)
{
    struct zkr_session *s = arg;

    zkr__session_lock(s);
    while (!s->connector_done)
        turn_unlocks(s);
    zkr__session_unlock(s);
    zkr__session_unref(s);
    return NULL;
}

int zkr__timer_thread_start(struct zkr_session *s)
{
    int rc;

    zkr__session_ref(s);
    rc =
        zkr__thread_start(&s->timer_thread, "zkr-timers", timer_thread_main, s);
    if (rc != ZKR_OK)
        zkr__session_unref(s);
    return rc;
}
