/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded writes: a transaction that finds our lock node before it writes. */
#include <zkrecipes/grant.h>

#include <stdlib.h>

#include "base/error.h"
#include "base/opts.h"
#include "lock/claim.h"
#include "request/operation.h"
#include "request/txn.h"
#include "session/session.h"

/* -- the guard ------------------------------------------------------------- */

static int begin(void *holder)
{
    struct zkr__claim *c = holder;

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

static void settle(void *holder)
{
    zkr__claim_with_node(holder)->writes--;
}

static int judge(void *holder, int rc, const char **ret_why)
{
    struct zkr__claim *c = holder;

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

static void hold(void *holder)
{
    zkr__claim_ref(holder);
}

static void release(void *holder)
{
    zkr__claim_unref(holder);
}

static const struct zkr__guard our_node = { hold, begin, settle, judge,
                                            release };

static int check_grant(zkr_grant *grant)
{
    int rc = zkr__grant_check_handle(grant);
    const struct zkr__claim *c;

    if (rc != ZKR_OK)
        return rc;
    c = zkr__grant_claim(grant);
    if (!zkr__claim_identity(c)->has_own_path)
        return zkr__fail(ZKR_EINVAL,
                         "%s '%.200s': its node has the same name for every "
                         "holder, so it cannot guard a write",
                         c->recipe->noun, c->lock->path);
    return ZKR_OK;
}

/* The transaction may outlive the grant; the claim stays. */
static int commit(zkr_grant *grant, zkr_txn *txn, int64_t timeout_ms,
                  zkr_txn_fn fn, void *user)
{
    struct zkr__claim *c = zkr__grant_claim(grant);
    struct zkr__txn_guard guard = { .guard = &our_node,
                                    .holder = c,
                                    .path = c->node->path,
                                    .noun = c->recipe->noun,
                                    .name = c->lock->path };

    return zkr__txn_commit(txn, &guard, timeout_ms, fn, user);
}

static int commit_given(zkr_grant *grant, zkr_txn *txn, int64_t timeout_ms,
                        zkr_txn_fn fn, void *user)
{
    int rc = check_grant(grant);

    if (rc == ZKR_OK && txn != NULL &&
        !zkr__txn_is_of(txn, zkr__grant_claim(grant)->session))
        rc = zkr__fail(ZKR_EINVAL,
                       "transaction: it is of another session than the grant");
    return rc == ZKR_OK ? commit(grant, txn, timeout_ms, fn, user) : rc;
}

int zkr_grant_guarded_commit(zkr_grant *grant, zkr_txn *txn, int64_t timeout_ms)
{
    return commit_given(grant, txn, timeout_ms, NULL, NULL);
}

int zkr_grant_guarded_commit_async(zkr_grant *grant, zkr_txn *txn,
                                   int64_t timeout_ms, zkr_txn_fn fn,
                                   void *user)
{
    if (fn == NULL)
        return zkr__fail(ZKR_EINVAL, "transaction: the callback is NULL");
    return commit_given(grant, txn, timeout_ms, fn, user);
}

/* -- transactions of one write --------------------------------------------- */

static int new_write(zkr_grant *grant, const struct zkr__zk_request *asked,
                     zkr_txn **ret_txn)
{
    struct zkr_create_opts unused;
    zkr_txn *txn;
    int rc = zkr__grant_check_handle(grant);

    if (rc == ZKR_OK)
        rc = zkr__operation_check(zkr__grant_claim(grant)->session, asked, NULL,
                                  &unused);
    if (rc == ZKR_OK)
        rc = check_grant(grant);
    if (rc == ZKR_OK)
        rc = zkr_txn_new(zkr__grant_claim(grant)->session, &txn);
    if (rc != ZKR_OK)
        return rc;
    rc = zkr__txn_add(txn, asked, NULL);
    if (rc == ZKR_OK)
        *ret_txn = txn;
    else
        zkr_txn_free(txn);
    return rc;
}

static int make(zkr_grant *grant, const struct zkr__zk_request *asked,
                int64_t timeout_ms, struct zkr_stat *ret_stat)
{
    zkr_txn *txn;
    int rc = new_write(grant, asked, &txn);

    ZKR__OUTPUT_IF_ANY(ret_stat);
    if (rc != ZKR_OK)
        return rc;
    rc = commit(grant, txn, timeout_ms, NULL, NULL);
    if (rc == ZKR_OK && ret_stat != NULL)
        *ret_stat = *zkr_txn_stat(txn, 0);
    zkr_txn_free(txn);
    return rc;
}

struct single_write {
    zkr_guarded_fn fn;
    void *user;
};

static void on_outcome(int error, zkr_txn *txn, void *user)
{
    struct single_write *told = user;

    told->fn(error, zkr_txn_stat(txn, 0), told->user);
    free(told);
}

static int make_async(zkr_grant *grant, const struct zkr__zk_request *asked,
                      int64_t timeout_ms, zkr_guarded_fn fn, void *user)
{
    struct single_write *told;
    zkr_txn *txn;
    int rc;

    if (fn == NULL)
        return zkr__fail(ZKR_EINVAL, "guarded write: the callback is NULL");
    rc = new_write(grant, asked, &txn);
    if (rc != ZKR_OK)
        return rc;
    told = malloc(sizeof(*told));
    if (told == NULL) {
        zkr_txn_free(txn);
        return zkr__no_memory("guarded write", NULL);
    }
    *told = (struct single_write){ fn, user };
    rc = commit(grant, txn, timeout_ms, on_outcome, told);
    if (rc != ZKR_OK)
        free(told);
    zkr_txn_free(txn);
    return rc;
}

int zkr_grant_guarded_set(zkr_grant *grant, const char *path, const void *data,
                          size_t len, int32_t version, int64_t timeout_ms,
                          struct zkr_stat *ret_stat)
{
    return make(grant, ZKR__SET(path, data, len, version), timeout_ms,
                ret_stat);
}

int zkr_grant_guarded_create(zkr_grant *grant, const char *path,
                             const void *data, size_t len, int64_t timeout_ms)
{
    return make(grant, ZKR__CREATE(path, data, len), timeout_ms, NULL);
}

int zkr_grant_guarded_delete(zkr_grant *grant, const char *path,
                             int32_t version, int64_t timeout_ms)
{
    return make(grant, ZKR__DELETE(path, version), timeout_ms, NULL);
}

int zkr_grant_guarded_set_async(zkr_grant *grant, const char *path,
                                const void *data, size_t len, int32_t version,
                                int64_t timeout_ms, zkr_guarded_fn fn,
                                void *user)
{
    return make_async(grant, ZKR__SET(path, data, len, version), timeout_ms, fn,
                      user);
}

int zkr_grant_guarded_create_async(zkr_grant *grant, const char *path,
                                   const void *data, size_t len,
                                   int64_t timeout_ms, zkr_guarded_fn fn,
                                   void *user)
{
    return make_async(grant, ZKR__CREATE(path, data, len), timeout_ms, fn,
                      user);
}

int zkr_grant_guarded_delete_async(zkr_grant *grant, const char *path,
                                   int32_t version, int64_t timeout_ms,
                                   zkr_guarded_fn fn, void *user)
{
    return make_async(grant, ZKR__DELETE(path, version), timeout_ms, fn, user);
}
