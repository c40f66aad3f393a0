/* SPDX-License-Identifier: Apache-2.0 */
/* The timer thread: the session's thread for timers. It never blocks, so that
 * timers are in time whatever servers and name servers do. */
#pragma once

#include "session/locked.h"
#include "session/session.h"

int zkr__timer_thread_start(struct zkr_session *s);

/* Wakes the timer thread, because something that it reads has changed. */
void zkr__timer_thread_wake_locked(struct zkr_session *s) ZKR__LOCKED;

/* Timers run on the timer thread, under the lock. */
void zkr__timer_thread_arm_locked(struct zkr_session *s,
                                  struct zkr__timer *timer, int64_t instant,
                                  void (*fn)(struct zkr__timer *)) ZKR__LOCKED;
void zkr__timer_thread_disarm_locked(struct zkr_session *s,
                                     struct zkr__timer *timer) ZKR__LOCKED;
