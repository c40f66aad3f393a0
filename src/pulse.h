/* The pulse: a read now and then in place of the client's own pings, whose
 * answers we are told of. So there is always a request that the server answered
 * a while ago, by which a first write can prove a lease. */
#ifndef ZKR__PULSE_H
#define ZKR__PULSE_H

#include "session.h"

/* There is a connection: while it lasts, and without ZKR_SESSION_NO_LEASE. */
void zkr__pulse_start_locked(struct zkr_session *s);

#endif
