/* SPDX-License-Identifier: Apache-2.0 */
/* A confirm: a write that finds our node, which proves that nobody else was
 * granted before it. A claim has one at a time, c->confirm, whose `sent` says
 * how old the answer is. Where others use the path, too, a read tells whose
 * node it has found. */
#include "lock/steps.h"

static void answered_locked(struct zkr__claim *c, int rc) ZKR__LOCKED
{
    zkr__claim_news_locked(
        c, ZKR__ON_CONFIRMED,
        &(struct zkr__news){ .why = "the write is answered", .rc = rc });
}

static void on_seen(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, confirm);
    bool another = reply->rc == ZKR_OK && reply->stat.czxid != c->node->czxid;

    zkr__session_assert_locked(op->session);
    answered_locked(c, another ? ZKR_ZNONODE : reply->rc);
}

static bool is_wanted(struct zkr__claim *c)
{
    return zkr__grant_is_ours(&c->grant) ||
           zkr__claim_acts_in(c, ZKR__CLAIM_PROVING);
}

static void on_written(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, confirm);

    zkr__session_assert_locked(c->session);
    if (reply->rc == ZKR_OK && is_wanted(c) && !c->way->has_own_path)
        zkr__op_start_locked(&c->confirm, ZKR__ZK_EXISTS, c->node->path,
                             ZKR__RETRY_NEVER, on_seen);
    else
        answered_locked(c, reply->rc);
}

void zkr__confirm_start_locked(struct zkr__claim *c, enum zkr__op_retry retry)
{
    if (!zkr__confirm_is_under_way(c))
        zkr__op_start_locked(&c->confirm, ZKR__ZK_CHECK, c->node->path, retry,
                             on_written);
}
