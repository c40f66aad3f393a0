/* SPDX-License-Identifier: Apache-2.0 */
/* The request to a holder to give its lock back, as it is written into its
 * node. */
#include "model/revoking.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "protocol/owner.h"

enum { ATTEMPTS = 5 };

bool revoking_path(const struct lock *lock, const struct contender *c,
                   char path[NODE_PATH_MAX])
{
    int len = snprintf(path, NODE_PATH_MAX, "%s/%s", lock->path, c->node->name);

    if (len < NODE_PATH_MAX)
        return true;
    (void)lockctl_fail(EX_DATAERR, "the name of the node is too long");
    return false;
}

bool revoking_is_read(const struct contender *c)
{
    return c->dialect == ZKR__DIALECT_ZKRECIPES;
}

/* Writes into the node of the token, and no other of that name. */
static int write_once(const struct lockctl *ctl, const char *node,
                      int64_t token, const char *message)
{
    struct zkr_reply *reply = NULL;
    int rc = zkr_session_sync(ctl->session, ctl->timeout_ms);

    if (rc == ZKR_OK)
        rc = zkr_session_exists(ctl->session, node, ctl->timeout_ms, &reply);
    if (rc == ZKR_OK && reply->stat.czxid != token)
        rc = ZKR_ZNONODE;
    if (rc == ZKR_OK)
        rc = zkr_session_set(ctl->session, node, message, strlen(message),
                             reply->stat.version, ctl->timeout_ms, NULL);
    zkr_reply_free(reply);
    return rc;
}

/* Others may write meanwhile, and nobody can tell whether a request that was
 * lost was carried out. To write it twice does no harm. */
int revoking_write(const struct lockctl *ctl, const char *node, int64_t token,
                   const char *reason)
{
    char message[sizeof(ZKR__REVOKE_BECAUSE) + ZKR__REVOKE_REASON_MAX];
    int rc = ZKR_EUNKNOWN;

    (void)snprintf(message, sizeof(message), "%s%s",
                   reason == NULL ? ZKR__REVOKE_MESSAGE : ZKR__REVOKE_BECAUSE,
                   reason == NULL ? "" : reason);
    for (int i = 0;
         i < ATTEMPTS && (rc == ZKR_EUNKNOWN || rc == ZKR_ZBADVERSION); i++)
        rc = write_once(ctl, node, token, message);
    return rc;
}

int revoking_check_reason(const char *reason)
{
    size_t len = reason == NULL ? 1 : strlen(reason);
    bool is_line = len > 0 && len <= ZKR__REVOKE_REASON_MAX;

    for (size_t i = 0; reason != NULL && is_line && i < len; i++)
        is_line = iscntrl((unsigned char)reason[i]) == 0;
    return is_line ? 0
                   : lockctl_fail(EX_USAGE,
                                  "--reason: one line of at most %d bytes",
                                  ZKR__REVOKE_REASON_MAX);
}
