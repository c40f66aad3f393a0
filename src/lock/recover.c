/* SPDX-License-Identifier: Apache-2.0 */
/* RECOVERING: finds out whether our node was created, when the answer did not
 * come. */
#include "lock/steps.h"

#include <stdio.h>

#include "base/error.h"

static void found_locked(struct zkr__claim *c) ZKR__LOCKED
{
    zkr__line_join_locked(c);
    zkr__claim_event_locked(c, ZKR__ON_FOUND, "found, and ours");
}

static void looked_at_locked(struct zkr__claim *c,
                             const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    if (reply->rc == ZKR_ZNONODE)
        zkr__claim_event_locked(c, ZKR__ON_GONE, "it has gone");
    else if (reply->rc != ZKR_OK)
        zkr__claim_give_up_locked(c, reply->rc, "cannot look at our node");
    else if (zkr__claim_adopt(c, c->node->path, reply) == ZKR_OK)
        found_locked(c);
    else
        zkr__claim_give_up_locked(c, ZKR_EPROTO, "'%s' is not of our session",
                                  c->node->path);
}

static void on_read(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, own.op);

    zkr__session_assert_locked(c->session);
    if (zkr__claim_acts_in(c, ZKR__CLAIM_RECOVERING))
        looked_at_locked(c, reply);
    else
        zkr__claim_event_locked(c, ZKR__ON_ANSWERED, "it is answered");
}

/* The ensemble has agreed that our node is not there. After a create that has
 * succeeded the outcome to give up with would be ZKR_OK. */
static void not_found_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (c->create.rc == ZKR_OK) /* then it was there */
        zkr__claim_event_locked(c, ZKR__ON_AGAIN, "our node was deleted");
    else
        zkr__claim_event_locked(c, ZKR__ON_REFUSED, "it is not there");
}

static void searched_locked(struct zkr__claim *c, int rc,
                            const char *found) ZKR__LOCKED
{
    if (rc != ZKR_OK) {
        zkr__claim_give_up_locked(c, rc, "cannot search our node");
    } else if (found == NULL) {
        not_found_locked(c);
    } else {
        (void)snprintf(c->node->path, c->node->path_size, "%s/%s", c->lock->dir,
                       found);
        zkr__op_start_locked(&c->own.op, ZKR__ZK_EXISTS, c->node->path,
                             ZKR__RETRY_POLICY, on_read);
    }
}

static void on_searched(struct zkr__search *search, int rc, const char *found)
{
    struct zkr__claim *c =
        ZKR__CONTAINER(search, struct zkr__claim, own.search);

    zkr__session_assert_locked(c->session);
    if (zkr__claim_acts_in(c, ZKR__CLAIM_RECOVERING))
        searched_locked(c, rc, found);
    else
        zkr__claim_event_locked(c, ZKR__ON_ANSWERED, "it is answered");
}

/* The answer to the create did not come. It may have been carried out, now or a
 * little later; a second node would make us wait for ourselves. */
void zkr__claim_recover(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    c->node->may_be_more = true;
    c->node->path[0] = '\0';
    zkr__search_init(&c->own.search, c->session, &c->ref);
    c->way->seek(c, &c->own.search);
    zkr__search_start_locked(&c->own.search, ZKR__RETRY_POLICY, on_searched);
}

void zkr__claim_stop_recovering(struct zkr__claim *c)
{
    (void)zkr__op_cancel_locked(&c->own.op);
}
