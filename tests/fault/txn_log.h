/* What a server's transaction log says: the truth about a session's end. */
#ifndef TEST_TXN_LOG_H
#define TEST_TXN_LOG_H

#include <stdint.h>

#include "server.h"

/* When the leader made the transaction that closes the session: milliseconds
 * of CLOCK_REALTIME, rounded down; no server deletes its nodes earlier. 0 when
 * this server's log has no such transaction. */
int64_t txn_log_session_closed(const struct server *s, int64_t session_id);

#endif
