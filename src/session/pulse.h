/* SPDX-License-Identifier: Apache-2.0 */
/* The pulse: sends a sync now and then in place of the client's own pings,
 * whose answers the client does not report. A sync goes to the leader and back,
 * so after two of them a first write can prove a lease. */
#ifndef ZKR__PULSE_H
#define ZKR__PULSE_H

#include "session/locked.h"
#include "session/session.h"

/* Starts the pulse, for as long as the connection lasts; not with
 * ZKR_SESSION_NO_LEASE. */
void zkr__pulse_start_locked(struct zkr_session *s) ZKR__LOCKED;

#endif
