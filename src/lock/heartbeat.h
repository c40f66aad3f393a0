/* SPDX-License-Identifier: Apache-2.0 */
/* The heartbeat: the requests that keep the lease of held locks proven, and the
 * consequences when they are not answered. */
#pragma once

#include "session/locked.h"
#include "session/session.h"

/* Called when a lock is held, or cannot be proven fast enough by one question
 * after the other: beats, and watches the clock, while that lasts. */
void zkr__heartbeat_start_locked(struct zkr_session *s) ZKR__LOCKED;

/* The connection was lost: what is held is in doubt. */
void zkr__heartbeat_suspend_locked(struct zkr_session *s) ZKR__LOCKED;

/* There is a connection again: ask about grants in doubt. The lease may end
 * earlier than it did: a server has granted less at a reconnect. */
void zkr__heartbeat_resume_locked(struct zkr_session *s) ZKR__LOCKED;

/* A committed write has found a held node: try the others that are in doubt,
 * if they can be proven. */
void zkr__heartbeat_good_locked(struct zkr_session *s) ZKR__LOCKED;

/* Tells whether a lock that is granted now would be in doubt before its first
 * beat. Without a lease it never is. */
bool zkr__heartbeat_wants_write(const struct zkr_session *s);

/* Returns how long to wait before the next write that is to prove it. */
int64_t zkr__heartbeat_pace(const struct zkr_session *s);

/* Tells whether the lease runs for that many nanoseconds on. Without a lease it
 * always does. */
bool zkr__heartbeat_is_proven_for(const struct zkr_session *s, int64_t ahead);

/* Tells whether the lease runs for long enough that the next proof comes in
 * time. */
bool zkr__heartbeat_is_good(const struct zkr_session *s);

/* Tells whether the last committed write is so old that held locks are
 * SUSPENDED, or nearly so. */
bool zkr__heartbeat_is_late(const struct zkr_session *s);
