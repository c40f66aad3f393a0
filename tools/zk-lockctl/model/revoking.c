/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of asking a holder to give its lock back: whom to ask, and how. */
#include "model/revoking.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "protocol/owner.h"

enum { ATTEMPTS = 5 };

bool revoking_is_heard(const struct contender *c, struct outcome *ret)
{
    bool unknown = c->dialect == ZKR__DIALECT_UNKNOWN;
    char who[WHO_MAX];

    if (c->owner.is_asked || zkr__hears_requests(c->node, c->dialect))
        return true;
    (void)outcome_set(ret, EX_TEMPFAIL,
                      "%s is not asked: %s %s (revoke --anyway asks)",
                      contender_who(c, who),
                      unknown ? "its node does not tell whether its client"
                              : zkr__dialect_name(c->dialect),
                      unknown ? "listens" : "does not listen");
    return false;
}

/* Writes into the node of the token, and no other of that name. */
static int write_once(const struct lockctl *ctl, const struct target *t,
                      const char *message)
{
    struct zkr_reply *reply = NULL;
    int rc = zkr_session_sync(ctl->session, ctl->timeout_ms);

    if (rc == ZKR_OK)
        rc = zkr_session_exists(ctl->session, t->node, ctl->timeout_ms, &reply);
    if (rc == ZKR_OK && reply->stat.czxid != t->token)
        rc = ZKR_ZNONODE;
    if (rc == ZKR_OK)
        rc = zkr_session_set(ctl->session, t->node, message, strlen(message),
                             reply->stat.version, ctl->timeout_ms, NULL);
    zkr_reply_free(reply);
    return rc;
}

/* Others may write meanwhile, and nobody can tell whether a request that was
 * lost was carried out. To write it twice does no harm. */
static int write_message(const struct lockctl *ctl, const struct target *t,
                         const char *reason)
{
    char message[sizeof(ZKR__REVOKE_BECAUSE) + ZKR__REVOKE_REASON_MAX];
    int rc = ZKR_EUNKNOWN;

    (void)snprintf(message, sizeof(message), "%s%s",
                   reason == NULL ? ZKR__REVOKE_MESSAGE : ZKR__REVOKE_BECAUSE,
                   reason == NULL ? "" : reason);
    for (int i = 0;
         i < ATTEMPTS && (rc == ZKR_EUNKNOWN || rc == ZKR_ZBADVERSION); i++)
        rc = write_once(ctl, t, message);
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

int revoking_ask(const struct lockctl *ctl, const struct target *t,
                 const char *reason, struct outcome *ret)
{
    const char *told = t->reads_reasons ? reason : NULL;
    int rc = ZKR_OK;

    if (t->token == 0)
        return outcome_set(ret, EX_NOPERM,
                           "the node of the holder may not be read, so it "
                           "cannot be known again");
    if (!t->is_asked || told != NULL)
        rc = write_message(ctl, t, told);
    if (rc == ZKR_ZNONODE)
        return outcome_set(ret, 0, "%s has let go by itself", t->who);
    if (rc != ZKR_OK)
        return outcome_fail(ret, rc);
    return outcome_set(ret, 0, "asked %s%s", t->who,
                       told == reason ? ""
                                      : "; its client does not read reasons");
}
