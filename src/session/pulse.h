/* The pulse: a sync now and then in place of the client's own pings, of whose
 * answers we are not told. It goes to the leader and back, so by two of them a
 * first write can prove a lease. */
#ifndef ZKR__PULSE_H
#define ZKR__PULSE_H

#include "session/locked.h"
#include "session/session.h"

/* There is a connection: while it lasts, and without ZKR_SESSION_NO_LEASE. */
void zkr__pulse_start_locked(struct zkr_session *s) ZKR__LOCKED;

#endif
