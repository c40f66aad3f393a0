/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded writes: a transaction that finds our lock node before it writes. */
#include <zkrecipes/grant.h>

#include "base/error.h"
#include "base/opts.h"
#include "lock/claim.h"
#include "request/txn.h"
#include "session/session.h"

/* -- the guard ------------------------------------------------------------- */

static struct zkr__claim *claim_of(struct zkr__ref *holder)
{
    return ZKR__CONTAINER(holder, struct zkr__claim, ref);
}

static int begin(struct zkr__ref *holder)
{
    struct zkr__claim *c = claim_of(holder);

    zkr__session_assert_locked(c->session);
    if (c->grant.sm.state == ZKR_GRANT_RELEASED)
        return zkr__grant_explain(&c->grant, ZKR_ENOTHELD);
    if (!zkr__grant_is_ours(&c->grant))
        return zkr__grant_explain(&c->grant, ZKR_ELOST);
    if (c->session->over != 0)
        return zkr__grant_explain(&c->grant, c->session->over);
    zkr__claim_with_node(c)->writes++;
    return ZKR_OK;
}

static void settle(struct zkr__ref *holder)
{
    zkr__claim_with_node(claim_of(holder))->writes--;
}

static int judge(struct zkr__ref *holder, int rc, const char **ret_why)
{
    struct zkr__claim *c = claim_of(holder);

    zkr__session_assert_locked(c->session);
    if (rc != ZKR_ZNONODE && rc != ZKR_ZSESSIONEXPIRED) {
        *ret_why = "cannot read our lock node";
        return rc;
    }
    if (rc == ZKR_ZNONODE && zkr__grant_is_ours(&c->grant))
        zkr__claim_lost_locked(c, ZKR_LOSS_DELETED);
    if (c->grant.sm.state == ZKR_GRANT_RELEASED) {
        *ret_why = "the lock has been released";
        return ZKR_ENOTHELD;
    }
    *ret_why = zkr_loss_text(rc == ZKR_ZNONODE ? zkr__loss_locked(&c->grant)
                                               : ZKR_LOSS_EXPIRED);
    return ZKR_ELOST;
}

static const char *path_of(struct zkr__ref *holder)
{
    return claim_of(holder)->node->path;
}

static const struct zkr__guard our_node = { begin, settle, judge, path_of };

/* -- the transaction ------------------------------------------------------- */

/* The transaction may outlive the grant; the claim stays. */
static int guard_with(zkr_grant *grant, struct zkr__txn_guard *ret_guard)
{
    int rc = zkr__grant_check_handle(grant);

    if (rc != ZKR_OK)
        return rc;
    struct zkr__claim *c = zkr__grant_claim(grant);
    if (!c->way->has_own_path)
        return zkr__fail(ZKR_EINVAL,
                         "%s '%.200s': its node has the same name for every "
                         "holder, so it cannot guard a write",
                         c->recipe->noun, c->lock->path);
    *ret_guard = (struct zkr__txn_guard){ .guard = &our_node,
                                          .holder = &c->ref,
                                          .noun = c->recipe->noun,
                                          .name = c->lock->path };
    return ZKR_OK;
}

int zkr_txn_new(zkr_session *s, const struct zkr_txn_opts *opts,
                zkr_txn **ret_txn)
{
    struct zkr__txn_guard guard = { .guard = NULL };
    struct zkr_txn_opts o;
    int rc = ZKR__OUTPUT(ret_txn);

    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, "transaction");
    if (rc == ZKR_OK && o.guard != NULL)
        rc = guard_with(o.guard, &guard);
    if (rc != ZKR_OK)
        return rc;
    if (s == NULL && o.guard != NULL)
        s = zkr__grant_claim(o.guard)->session;
    rc = zkr__session_check(s, "session");
    if (rc == ZKR_OK && o.guard != NULL &&
        zkr__grant_claim(o.guard)->session != s)
        rc = zkr__fail(ZKR_EINVAL,
                       "transaction: it is of another session than its guard");
    return rc == ZKR_OK ? zkr__txn_new(s, &guard, ret_txn) : rc;
}
