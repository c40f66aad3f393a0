/* SPDX-License-Identifier: Apache-2.0 */
/* The scout: finds out whether the servers serve others, while they do not
 * serve this session.
 *
 * A client tells each server which transaction it has seen last, and a server
 * that has not seen it hangs up. When all servers have been restored from an
 * older copy, none ever answers such a client again, not even that its session
 * has ended. Servers without a quorum hang up in the same way, but they serve
 * nobody, and sessions survive that. So a session that has been suspended for
 * as long as its timeout opens and closes another handle, with a session of its
 * own: the scout. When scouts have been served for as long as the timeout, and
 * the session has not, then the session has ended by the clock of the servers
 * that served them, or they do not know it, and a new one is begun. If there
 * was an election meanwhile, the old session may live a little longer than we
 * say: then our own old node is ahead of us in the queue until it ends. */
#pragma once

#include "session/locked.h"
#include "session/session.h"

/* Called when the connection is lost: the time begins to count. */
void zkr__scout_wait_locked(struct zkr_session *s) ZKR__LOCKED;
/* Called when the connection is there again. */
void zkr__scout_rest_locked(struct zkr_session *s) ZKR__LOCKED;

/* Returns when the next scout is due, or ZKR__NEVER when none is needed. */
int64_t zkr__scout_due(const struct zkr_session *s);

/* Sends a scout. Runs on the connector. */
void zkr__scout_send_unlocks(struct zkr_session *s,
                             const char *servers) ZKR__UNLOCKS;
