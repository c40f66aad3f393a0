/* SPDX-License-Identifier: Apache-2.0 */
/* The create of our node: the request that every way of claiming sends, and the
 * meaning of its answer. */
#include "lock/steps.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "session/retry.h"

static void on_create(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, own.op);

    zkr__session_assert_locked(c->session);
    c->create.rc = reply->rc;
    if (reply->rc == ZKR_OK)
        c->create.rc = zkr__claim_adopt(c, reply->path, reply);
    if (c->create.rc == ZKR_EPROTO ||
        zkr__error_outcome(c->create.rc) == ZKR__UNKNOWN)
        c->node->may_be_more = true;
    if (c->create.rc != ZKR_OK)
        zkr__line_unask_locked(c);
    zkr__claim_event_locked(c, ZKR__ON_ANSWERED, "the create is answered");
}

void zkr__claim_create_locked(struct zkr__claim *c)
{
    c->node->path[0] = '\0';
    if (c->create.retries == 0)
        c->create.since = zkr__clock_now();
    c->own.op.request.mode = c->node->complete
                                 ? ZKR_CREATE_EPHEMERAL
                                 : ZKR_CREATE_EPHEMERAL_SEQUENTIAL;
    c->own.op.request.data = c->node->record->data;
    c->own.op.request.data_len = c->node->record->len;
    zkr__op_start_locked(&c->own.op, ZKR__ZK_CREATE, c->node->request_path,
                         ZKR__RETRY_NEVER, on_create);
}

/* Our node certainly does not exist, and another attempt may help. */
void zkr__claim_pause(struct zkr__claim *c, const struct zkr__news *news)
{
    int64_t now = zkr__clock_now();
    uint32_t delay_ms;

    (void)news;
    if (!zkr__retry_next(&c->session->opts.retry, c->create.retries,
                         (uint64_t)((now - c->create.since) / ZKR__MS),
                         zkr__random(), &delay_ms)) {
        zkr__claim_give_up_locked(c, c->create.rc, "cannot create our node");
        return;
    }
    c->create.retries++;
    c->session->counters.retries++;
    zkr__claim_put_off_locked(c, now + delay_ms * ZKR__MS);
}

static void on_parents(struct zkr__parents *parents, int rc)
{
    struct zkr__claim *c =
        ZKR__CONTAINER(parents, struct zkr__claim, own.parents);

    zkr__session_assert_locked(c->session);
    if (zkr__claim_is_over(c))
        return;
    if (c->outcome.decided)
        zkr__claim_event_locked(c, ZKR__ON_GIVE_UP, "given up");
    else if (rc == ZKR_OK)
        zkr__claim_event_locked(c, ZKR__ON_AGAIN, "parents made");
    else
        zkr__claim_give_up_locked(c, rc, "cannot create '%s'", parents->path);
}

static void make_parents_locked(struct zkr__claim *c) ZKR__LOCKED
{
    zkr__parents_init(&c->own.parents, c->session, &c->ref);
    zkr__parents_start_locked(&c->own.parents,
                              strcpy(c->own.path, c->lock->dir),
                              c->lock->parents, on_parents);
}

/* The servers have carried it out, or refused it. */
static void judge_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (c->create.rc == ZKR_OK)
        zkr__claim_event_locked(c, ZKR__ON_CREATED, "created");
    else if (c->create.rc == ZKR_ZNODEEXISTS)
        zkr__claim_event_locked(c, ZKR__ON_EXISTS,
                                "an earlier create was carried out late");
    else if (c->create.rc == ZKR_ZNONODE)
        make_parents_locked(c);
    else
        zkr__claim_give_up_locked(c, c->create.rc, "cannot create our node");
}

/* A create that has been sent is answered first: that calls this again. */
void zkr__claim_call_off(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)zkr__op_cancel_locked(&c->own.op);
    zkr__line_unask_locked(c);
    if (c->own.op.where == ZKR__OP_IDLE)
        zkr__claim_withdraw(c, news);
}

void zkr__claim_created(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    if (c->outcome.decided) {
        zkr__claim_event_locked(c, ZKR__ON_GIVE_UP, "given up");
        return;
    }
    switch (zkr__error_outcome(c->create.rc)) {
    case ZKR__UNKNOWN:
        zkr__claim_event_locked(c, ZKR__ON_UNKNOWN,
                                "outcome of create unknown");
        break;
    case ZKR__NOT_DONE:
        zkr__claim_event_locked(c, ZKR__ON_REFUSED, "not carried out");
        break;
    case ZKR__OVER: /* then it is not told: event.c */
        break;
    case ZKR__DONE:
        judge_locked(c);
        break;
    }
}
