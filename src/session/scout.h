/* The scout: do the servers serve others, while they do not serve this session?
 *
 * A client tells each server which transaction it has seen last, and a server
 * that has not seen it hangs up. When all servers have been restored from an
 * older copy, none ever answers such a client again, not even that its session
 * has ended. Servers without a quorum hang up just so, but they serve nobody,
 * and sessions survive that. So a session that has been suspended for as long
 * as its timeout has a handle of its own opened, with a session of its own, and
 * closed again: the scout. When scouts have been served for as long as the
 * timeout, and the session has not, it has ended by the clock of those who
 * served them, or is one that they do not know, and a new one is begun. If
 * there was an election meanwhile, it may live a little longer than we say:
 * then our own node is ahead of us in the queue until it ends. */
#ifndef ZKR__SCOUT_H
#define ZKR__SCOUT_H

#include "session/locked.h"
#include "session/session.h"

/* The connection is lost: from now on it counts. Or it is there again. */
void zkr__scout_wait_locked(struct zkr_session *s) ZKR__LOCKED;
void zkr__scout_rest_locked(struct zkr_session *s) ZKR__LOCKED;

/* When the next one is due; ZKR__NEVER without a need. */
int64_t zkr__scout_due(const struct zkr_session *s);

/* On the connector: send one. */
void zkr__scout_send_unlocks(struct zkr_session *s) ZKR__UNLOCKS;

#endif
