/* A confirm: a write that finds our node, which proves that nobody else was
 * granted before it. */
#include "lock/confirm.h"

#include "base/error.h"
#include "lock/claim_steps.h"
#include "lock/grant_parts.h"

void zkr__confirm_init(struct zkr__confirm *f, struct zkr__claim *c)
{
    zkr__op_init(&f->op, c->session);
    f->claim = c;
}

static void end_locked(struct zkr__confirm *f, int rc) ZKR__LOCKED
{
    struct zkr__claim *c = f->claim;

    f->done(c, rc);
    zkr__claim_unref(c);
}

static void on_seen(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__confirm *f = ZKR__CONTAINER(op, struct zkr__confirm, op);
    bool another = reply->rc == ZKR_OK && reply->czxid != f->claim->node.czxid;

    zkr__session_assert_locked(op->session);
    end_locked(f, another ? ZKR__ZNONODE : reply->rc);
}

static bool is_wanted(struct zkr__claim *c)
{
    return zkr__grant_is_ours(&c->grant) ||
           (zkr__claim_in_state(c, ZKR__CLAIM_PROVING) &&
            !zkr__claim_is_over(c));
}

void zkr__confirm_read_locked(struct zkr__confirm *f)
{
    zkr__op_start_locked(&f->op, ZKR__ZK_EXISTS, f->claim->node.path,
                         ZKR__RETRY_NEVER, on_seen);
}

static void on_written(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__confirm *f = ZKR__CONTAINER(op, struct zkr__confirm, op);
    struct zkr__claim *c = f->claim;

    zkr__session_assert_locked(c->session);
    if (reply->rc == ZKR_OK && is_wanted(c) &&
        zkr__claim_identity(c)->ask_whose(f))
        return;
    end_locked(f, reply->rc);
}

void zkr__confirm_start_locked(struct zkr__confirm *f, enum zkr__op_retry retry,
                               void (*done)(struct zkr__claim *c, int rc))
{
    f->done = done;
    zkr__claim_ask_locked(f->claim, &f->op, ZKR__ZK_CHECK, f->claim->node.path,
                          retry, on_written);
}

void zkr__confirm_take_back_locked(struct zkr__confirm *f)
{
    (void)zkr__claim_take_back_locked(f->claim, &f->op);
}
