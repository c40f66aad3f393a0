/* SPDX-License-Identifier: Apache-2.0 */
/* The request to a holder to give its lock back, as it is written into its
 * node. */
#pragma once

#include "common/lockctl.h"
#include "model/lock_state.h"

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
