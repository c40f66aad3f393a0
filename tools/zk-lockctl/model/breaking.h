/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be known of a break before it is made: which contender is meant,
 * and what happens then; and the request to a holder to give its lock back. */
#pragma once

#include "common/lockctl.h"
#include "model/cons.h"
#include "model/lock_state.h"

/* The holder that is meant, by its token; 0: the only one. Without a holder of
 * that token it is the waiter. NULL after it was said why there is none. */
const struct contender *breaking_choose(const struct lock *lock, int64_t token);

/* "zk-lockctl break --token TOKEN LOCK", or "zk-lockctl revoke LOCK", with the
 * reason if there is one, as a shell reads it. To be freed. */
char *breaking_command(const struct contender *c, bool asks,
                       const char *reason);

/* Adds line by line who holds the lock, or waits, whether it lives, and what
 * happens when its node is deleted. `servers` is NULL when they were not asked.
 */
void breaking_tell(const struct lockctl *ctl, const struct lock *lock,
                   const struct contender *c, const struct servers *servers,
                   struct notes *lines);

/* Writes the request into the node of that token, with a reason or NULL; also
 * when another node has its name now, nobody else is asked. The request
 * replaces the record of the owner. ZKR_OK, or an error of the library;
 * ZKR_ZNONODE: it has let go by itself. */
int revoking_write(const struct lockctl *ctl, const char *node, int64_t token,
                   const char *reason);

/* The path of the node of a contender; false after it was said that it is too
 * long. */
enum { NODE_PATH_MAX = 2 * ZKR_PATH_MAX };
bool revoking_path(const struct lock *lock, const struct contender *c,
                   char path[NODE_PATH_MAX]);

/* Tells whether the client of a contender reads reasons. */
bool revoking_is_read(const struct contender *c);

/* 0, or an exit code after it was said why this is no reason; NULL is one. */
int revoking_check_reason(const char *reason);
