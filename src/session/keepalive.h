/* SPDX-License-Identifier: Apache-2.0 */
/* The keepalive: sends a sync now and then in place of the client's own pings,
 * whose answers the client does not report. A sync goes to the leader and back,
 * so after two of them a first write can prove a lease. */
#ifndef ZKR__KEEPALIVE_H
#define ZKR__KEEPALIVE_H

#include "session/locked.h"
#include "session/session.h"

/* Starts the keepalive, for as long as the connection lasts; not with
 * ZKR_SESSION_NO_LEASE. */
void zkr__keepalive_start_locked(struct zkr_session *s) ZKR__LOCKED;

#endif
