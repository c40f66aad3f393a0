/* SPDX-License-Identifier: Apache-2.0 */
/* The rank: finds out whether the server of this connection leads, for shared
 * evidence.
 *
 * A server that begins or ends to lead closes all its connections. So it is
 * asked over a second connection when the first one stands: then no request
 * that is sent after its answer is answered by a leader over the first one. */
#pragma once

#include "session/locked.h"
#include "session/session.h"

/* Called when a connection has been made. With ZKR_SESSION_NOT_ON_LEADER nobody
 * is asked. */
void zkr__rank_ask_locked(struct zkr_session *s) ZKR__LOCKED;

/* Returns when the server is to be asked, or ZKR__NEVER. */
int64_t zkr__rank_due(const struct zkr_session *s);

/* Asks it. Runs on the connector. */
void zkr__rank_ask_unlocks(struct zkr_session *s,
                           const char *servers) ZKR__UNLOCKS;
