/* SPDX-License-Identifier: Apache-2.0 */
/**
 * For tests of a program, and for nothing else: makes happen what the program
 * must survive. docs/guide.md, "Testing", has the other faults: a server that
 * stops, a process that stops, a node that an operator deletes.
 */
#ifndef ZKRECIPES_TESTING_H
#define ZKRECIPES_TESTING_H

#include <zkrecipes/session.h>

ZKR__BEGIN_C

/**
 * End the session on the servers, as happens when they have not heard of a
 * client for its session timeout. Every grant of it is LOST, its
 * listeners are told, its nodes are deleted, and the library opens a new
 * session, in which waiting claims enter the queue again.
 *
 * When the call returns, zkr_grant_check() says ZKR_ELOST for every grant of
 * the session, and zkr_session_epoch() is one higher. Callbacks are called as
 * ever, a moment later; wait for ZKR_SESSION_RECONNECTED before you count on
 * the new session.
 *
 * Time      Some milliseconds; at most reply_timeout_ms of the session.
 * On error  The session may have ended all the same.
 * Errors    ZKR_EUNREACHABLE (no connection now, or the connection broke before
 *           the server had answered), ZKR_ETIMEDOUT.
 * Example   examples/expiry.c
 */
ZKR_CALL int zkr_test_expire_session(zkr_session *session);

ZKR__END_C

#endif
