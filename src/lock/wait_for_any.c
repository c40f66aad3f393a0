/* SPDX-License-Identifier: Apache-2.0 */
/* WAITING for any contender to come or go: lists the directory, first without a
 * watch, and then with one. */
#include "lock/claim_steps.h"

#include "base/error.h"
#include "base/path.h"

static void failed_locked(struct zkr__claim *c, int rc) ZKR__LOCKED
{
    if (rc == ZKR_ZNONODE)
        c->way->enter(c, "directory gone");
    else
        zkr__claim_give_up_locked(c, rc, "cannot list the contenders");
}

/* While ENROLLING, the create is answered before the list that follows it. */
static bool is_looking(const struct zkr__claim *c)
{
    return zkr__claim_in_state(c, ZKR__CLAIM_WAITING) && !zkr__claim_is_over(c);
}

static void on_list(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, wait.get);
    struct zkr__watch *w = c->wait.watch;

    zkr__session_assert_locked(c->session);
    if (w != NULL && reply->rc != ZKR_OK) {
        c->wait.watch = NULL;
        zkr__watch_not_set_locked(w, ZKR__ZK_CHILDREN, reply->rc);
    }
    if (!is_looking(c))
        zkr__claim_stop_watching_locked(c);
    else if (reply->rc == ZKR_OK)
        c->way->listed(c, reply);
    else
        failed_locked(c, reply->rc);
    zkr__claim_unref(c);
}

static void on_changed(void *owner, bool deleted)
{
    struct zkr__claim *c = owner;

    (void)deleted;
    zkr__session_assert_locked(c->session);
    c->wait.watch = NULL;
    if (is_looking(c) && c->wait.get.where == ZKR__OP_IDLE)
        zkr__claim_wait_for_any_locked(c, "a contender has come or gone");
}

static void list_locked(struct zkr__claim *c) ZKR__LOCKED
{
    c->wait.get.request.watch = c->wait.watch;
    zkr__claim_ask_locked(c, &c->wait.get, ZKR__ZK_CHILDREN, c->lock->dir,
                          ZKR__RETRY_POLICY, on_list);
}

void zkr__claim_look_locked(struct zkr__claim *c)
{
    if (c->wait.get.where == ZKR__OP_IDLE)
        list_locked(c);
}

/* A list that is still in flight will do: our node was there when it was sent.
 * One that waits for another attempt will not come soon. */
void zkr__claim_wait_for_any_locked(struct zkr__claim *c, const char *why)
{
    zkr__claim_move_locked(c, ZKR__CLAIM_WAITING, why);
    (void)zkr__claim_take_back_locked(c, &c->wait.get);
    if (c->wait.get.where != ZKR__OP_IDLE)
        return;
    c->wait.watch =
        zkr__watch_new_locked(c->session, c->lock->dir, c, on_changed);
    if (c->wait.watch == NULL) {
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
        return;
    }
    c->wait.watch->children = true;
    list_locked(c);
}
