/**
 * Asking for a lock. Curator: Revoker.
 *
 * Works on lock paths of every recipe and of every client whose nodes it knows
 * (Curator, kazoo, go-zookeeper, ...). Nothing here takes part in the queue.
 *
 * Source    Curator Revoker.
 */
#ifndef ZKRECIPES_PARTICIPANTS_H
#define ZKRECIPES_PARTICIPANTS_H

#include <zkrecipes/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Ask the owner of a node to give the lock back: a holder, or a waiter. That
 * is all: it is up to the program. Ours are told by their listener
 * (ZKR_GRANT_REVOKE_REQUESTED), Curator's by makeRevocable().
 *
 * The request is the data of the node, and replaces what it said of its owner.
 *
 * @p node is the full path of the node, as zkr_grant_node() gives it.
 *
 * Time      reply_timeout_ms of the session at most, whatever the servers do.
 *           Within it the request is repeated as the retry policy says, and
 *           when a new session follows the present one.
 * Threads   Any, except a callback of the session (ZKR_EDEADLK).
 * Errors    ZNONODE (it has gone), ZNOAUTH (it needs WRITE on the node),
 *           ZKR_EPATH (not a path, or not the name of a contender),
 *           ZKR_ETOOLONG, ZCONNECTIONLOSS (the retry policy gave up) and
 *           ZOPERATIONTIMEOUT: it may have been asked; ZKR_EDEADLK,
 *           ZKR_EINVAL, ZKR_ENOMEM, ZKR_ECLOSED, ZKR_EFORKED, ZAUTHFAILED.
 * Source    Curator Revoker.attemptRevoke, which hides ZNONODE.
 */
ZKR_API int zkr_participants_revoke(zkr_session *session, const char *node);

#ifdef __cplusplus
}
#endif

#endif
