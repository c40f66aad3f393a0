/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of asking a holder to give its lock back: whom to ask, and how. */
#include "model/revoking.h"

bool revoking_is_heard(const struct contender *c, struct outcome *ret)
{
    bool unknown = c->dialect == DIALECT_UNKNOWN;
    char who[WHO_MAX];

    if (c->owner.is_asked || contender_hears_requests(c->node, c->dialect))
        return true;
    (void)outcome_set(ret, EX_TEMPFAIL,
                      "%s is not asked: %s %s (revoke --anyway asks)",
                      contender_who(c, who),
                      unknown ? "its node does not tell whether its client"
                              : dialect_name(c->dialect),
                      unknown ? "listens" : "does not listen");
    return false;
}

int revoking_ask(const struct lockctl *ctl, const struct target *t,
                 struct outcome *ret)
{
    int rc = ZKR_OK;

    if (!t->is_asked)
        rc = zkr_participants_revoke(ctl->session, t->node);
    if (rc == ZKR_ZNONODE)
        return outcome_set(ret, 0, "%s has let go by itself", t->who);
    if (rc != ZKR_OK)
        return outcome_fail(ret, rc);
    return outcome_set(ret, 0, "asked %s", t->who);
}
