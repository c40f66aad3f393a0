/* The watch on the holder's own node: reports its deletion, and requests for
 * the lock. */
#include "lock/grant_parts.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "lock/claim_steps.h"
#include "lock/cohort.h"
#include "lock/owner.h"
#include "session/timer_thread.h"

/* A lock that is held for a shorter time is not watched, because that would
 * cost a request for nothing. */
#define WATCH_AFTER_MS 50

static void on_own_node_changed(void *owner, bool deleted)
{
    struct zkr_grant *g = owner;

    zkr__session_assert_locked(zkr__grant_claim(g)->session);
    g->own.watch = NULL;
    if (deleted) /* its name never comes again */
        zkr__claim_lost_locked(zkr__grant_claim(g), "our node was deleted");
    else
        zkr__grant_watch_set_locked(g, ZKR__ZK_GET);
}

static bool is_revoke(const struct zkr__zk_reply *reply)
{
    return reply->data_len == strlen(ZKR__REVOKE_MESSAGE) &&
           memcmp(reply->data, ZKR__REVOKE_MESSAGE, reply->data_len) == 0;
}

void zkr__grant_revoked_locked(struct zkr_grant *g)
{
    g->revoke_requested = true;
    zkr__grant_tell_locked(g, ZKR_GRANT_REVOKE_REQUESTED);
    zkr__cohort_revoked_locked(zkr__grant_claim(g));
}

static void answered_locked(struct zkr_grant *g, enum zkr__zk_type type,
                            const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    struct zkr__watch *w = g->own.watch;

    if (reply->rc == ZKR_OK) {
        if (!zkr__grant_is_ours(g)) {
            zkr__watch_forget_locked(w); /* the delete makes it fire */
            g->own.watch = NULL;
        } else if (reply->czxid != zkr__grant_claim(g)->node.czxid) {
            zkr__claim_lost_locked(zkr__grant_claim(g),
                                   "another node has the name of ours");
        } else if (is_revoke(reply)) {
            zkr__grant_revoked_locked(g);
        }
        return;
    }
    g->own.watch = NULL;
    zkr__watch_not_set_locked(w, type, reply->rc);
    if (!zkr__grant_is_ours(g))
        return;
    if (reply->rc == ZKR__ZNONODE)
        zkr__claim_lost_locked(zkr__grant_claim(g), "our node was deleted");
    else if (reply->rc == ZKR__ZNOAUTH && type == ZKR__ZK_GET)
        zkr__grant_watch_set_locked(g, ZKR__ZK_EXISTS);
    else
        zkr__log(ZKR_LOG_WARNING, "cannot watch our own node %s: %s",
                 zkr__grant_claim(g)->node.path, zkr_strerror(reply->rc));
}

static void on_answer(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr_grant *g = ZKR__CONTAINER(op, struct zkr_grant, own.get);

    zkr__session_assert_locked(op->session);
    answered_locked(g, op->request.type, reply);
    zkr__claim_unref(zkr__grant_claim(g));
}

void zkr__grant_watch_set_locked(struct zkr_grant *g, enum zkr__zk_type type)
{
    struct zkr__claim *c = zkr__claim_with_node(zkr__grant_claim(g));

    g = &c->grant;
    if (!zkr__grant_is_ours(g) || g->own.watch != NULL)
        return;
    g->own.watch =
        zkr__watch_new_locked(c->session, c->node.path, g, on_own_node_changed);
    if (g->own.watch == NULL) {
        zkr__log(ZKR_LOG_WARNING, "cannot watch our own node %s: no memory",
                 c->node.path);
        return;
    }
    g->own.get.request.watch = g->own.watch;
    zkr__claim_ref(c);
    zkr__op_start_locked(&g->own.get, type, c->node.path, ZKR__RETRY_ALWAYS,
                         on_answer);
}

static void on_later(struct zkr__timer *timer)
{
    struct zkr_grant *g = ZKR__CONTAINER(timer, struct zkr_grant, own.later);

    zkr__session_assert_locked(zkr__grant_claim(g)->session);
    zkr__grant_watch_set_locked(g, ZKR__ZK_GET);
}

void zkr__grant_watch_set_later_locked(struct zkr_grant *g)
{
    if (zkr__claim_with_node(zkr__grant_claim(g)) != zkr__grant_claim(g))
        return; /* that has a grant, too, which watches */
    zkr__timer_thread_arm_locked(zkr__grant_claim(g)->session, &g->own.later,
                                 zkr__clock_deadline(WATCH_AFTER_MS), on_later);
}

void zkr__grant_watch_stop_locked(struct zkr_grant *g)
{
    struct zkr__claim *c = zkr__grant_claim(g);

    zkr__timer_thread_disarm_locked(c->session, &g->own.later);
    zkr__confirm_take_back_locked(&g->confirm);
    if (g->own.watch == NULL)
        return;
    if (zkr__op_cancel_locked(&g->own.get)) {
        zkr__claim_unref(c);
        zkr__watch_not_sent_locked(g->own.watch);
    } else if (g->own.get.where == ZKR__OP_IDLE) {
        zkr__watch_forget_locked(g->own.watch);
    } else {
        return; /* on_answer() */
    }
    g->own.watch = NULL;
}
