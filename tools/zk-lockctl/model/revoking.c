/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of asking a holder to give its lock back: whom to ask, and how. */
#include "model/revoking.h"

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
static int write_once(const struct lockctl *ctl, const struct target *t)
{
    struct zkr_reply *reply = NULL;
    int rc = zkr_session_sync(ctl->session, ctl->timeout_ms);

    if (rc == ZKR_OK)
        rc = zkr_session_exists(ctl->session, t->node, ctl->timeout_ms, &reply);
    if (rc == ZKR_OK && reply->stat.czxid != t->token)
        rc = ZKR_ZNONODE;
    if (rc == ZKR_OK)
        rc = zkr_session_set(ctl->session, t->node, ZKR__REVOKE_MESSAGE,
                             strlen(ZKR__REVOKE_MESSAGE), reply->stat.version,
                             ctl->timeout_ms, NULL);
    zkr_reply_free(reply);
    return rc;
}

/* Others may write meanwhile, and nobody can tell whether a request that was
 * lost was carried out. To write it twice does no harm. */
static int write_message(const struct lockctl *ctl, const struct target *t)
{
    int rc = ZKR_EUNKNOWN;

    for (int i = 0;
         i < ATTEMPTS && (rc == ZKR_EUNKNOWN || rc == ZKR_ZBADVERSION); i++)
        rc = write_once(ctl, t);
    return rc;
}

int revoking_ask(const struct lockctl *ctl, const struct target *t,
                 struct outcome *ret)
{
    int rc = ZKR_OK;

    if (t->token == 0)
        return outcome_set(ret, EX_NOPERM,
                           "the node of the holder may not be read, so it "
                           "cannot be known again");
    if (!t->is_asked)
        rc = write_message(ctl, t);
    if (rc == ZKR_ZNONODE)
        return outcome_set(ret, 0, "%s has let go by itself", t->who);
    if (rc != ZKR_OK)
        return outcome_fail(ret, rc);
    return outcome_set(ret, 0, "asked %s", t->who);
}
