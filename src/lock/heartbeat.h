/* The heartbeat: writes that keep the lease of what is held proven, and what it
 * means when they do not come back. */
#ifndef ZKR__HEARTBEAT_H
#define ZKR__HEARTBEAT_H

#include "session/locked.h"
#include "session/session.h"

/* Something is held, or cannot be proven fast enough by one question after the
 * other: beat, and watch the clock, while that lasts. */
void zkr__heartbeat_start_locked(struct zkr_session *s) ZKR__LOCKED;

/* The lease may end earlier than it did: a server has granted less at a
 * reconnect. */
void zkr__heartbeat_recheck_locked(struct zkr_session *s) ZKR__LOCKED;

/* A committed write has found a held node: try the others that are in doubt,
 * if they can be proven. */
void zkr__heartbeat_good_locked(struct zkr_session *s) ZKR__LOCKED;

/* Would what is granted now be in doubt before its first beat? Without a lease
 * never. */
bool zkr__heartbeat_wants_write(const struct zkr_session *s);

/* How long to wait before the next write that is to prove it. */
int64_t zkr__heartbeat_pace(const struct zkr_session *s);

/* Does the lease run, and for that many nanoseconds on? Without one always. */
bool zkr__heartbeat_is_proven_for(const struct zkr_session *s, int64_t ahead);

/* And long enough for the next proof to come in time? */
bool zkr__heartbeat_is_good(const struct zkr_session *s);

/* Is the last committed write so old that what is held is SUSPENDED, or all
 * but? */
bool zkr__heartbeat_is_late(const struct zkr_session *s);

#endif
