/* SPDX-License-Identifier: Apache-2.0 */
/* The watch on the holder's own node: reports its deletion, and requests for
 * the lock. */

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "lock/steps.h"
#include "protocol/owner.h"

/* A lock that is held for a shorter time is not watched, because that would
 * cost a request for nothing. */
#define WATCH_AFTER_MS 50
/* When it could not be watched, because there was no memory. */
#define AGAIN_MS 1000

/* Most claims that wait do without. */
struct zkr__own {
    struct zkr_grant *grant;
    struct zkr__op get;
    struct zkr__watch *watch; /* on our own node */
    uint64_t generation; /* of the line, in which it was seen, and is watched */
    bool refused;        /* it cannot be watched before the lock is granted */
};

static struct zkr__own *own_of(struct zkr_grant *g)
{
    if (g->own != NULL)
        return g->own;
    g->own = calloc(1, sizeof(*g->own));
    if (g->own == NULL)
        return NULL;
    g->own->grant = g;
    zkr__op_init(&g->own->get, zkr__grant_claim(g)->session,
                 &zkr__grant_claim(g)->ref);
    return g->own;
}

/* A claim that is to be granted the lock soon watches its node, too. */
static bool is_next(struct zkr_grant *g)
{
    const struct zkr__claim *c = zkr__grant_claim(g);

    return c->place.counts && zkr__claim_acts_in(c, ZKR__CLAIM_WAITING);
}

static void gone_locked(struct zkr_grant *g) ZKR__LOCKED
{
    if (zkr__grant_is_ours(g))
        zkr__claim_lost_locked(zkr__grant_claim(g), ZKR_LOSS_DELETED);
    else if (is_next(g))
        zkr__claim_event_locked(zkr__grant_claim(g), ZKR__ON_UPROOTED,
                                "our own node has gone");
}

static void on_own_node_changed(void *owner, bool deleted)
{
    struct zkr_grant *g = owner;

    zkr__session_assert_locked(zkr__grant_claim(g)->session);
    g->own->watch = NULL;
    if (deleted) /* its name never comes again */
        gone_locked(g);
    else
        zkr__grant_watch_set_locked(g, ZKR__ZK_GET);
}

void zkr__grant_revoked_locked(struct zkr_grant *g)
{
    g->revoke_requested = true;
    zkr__grant_tell_locked(g, ZKR_GRANT_REVOKE_REQUESTED);
    zkr__role_tell_locked(zkr__grant_claim(g), ZKR__ROLE_REVOKED, 0);
}

static void watched_locked(struct zkr_grant *g,
                           const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    struct zkr__claim *c = zkr__grant_claim(g);

    if (reply->stat.czxid != c->node->czxid) {
        zkr__watch_forget_locked(g->own->watch);
        g->own->watch = NULL;
        g->own->refused = true; /* a list tells the truth */
        if (zkr__grant_is_ours(g))
            zkr__claim_lost_locked(c, ZKR_LOSS_DELETED);
        return;
    }
    g->own->generation = c->lock->line->generation;
    if (zkr__owner_is_asked(reply->data, reply->data_len))
        zkr__grant_revoked_locked(g);
}

static void not_watched_locked(struct zkr_grant *g, enum zkr__zk_type type,
                               int rc) ZKR__LOCKED
{
    struct zkr__watch *w = g->own->watch;

    g->own->watch = NULL;
    zkr__watch_drop_locked(w);
    g->own->refused = rc != ZKR_ZNONODE;
    if (rc == ZKR_ZNONODE)
        gone_locked(g);
    else if (!zkr__grant_is_ours(g))
        ;
    else if (rc == ZKR_ZNOAUTH && type == ZKR__ZK_GET)
        zkr__grant_watch_set_locked(g, ZKR__ZK_EXISTS);
    else
        zkr__log(ZKR_LOG_WARNING, "cannot watch our own node %s: %s",
                 zkr__grant_claim(g)->node->path, zkr_strerror(rc));
}

static void on_answer(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr_grant *g = ZKR__CONTAINER(op, struct zkr__own, get)->grant;
    enum zkr__zk_type type = op->request.type;

    zkr__session_assert_locked(op->session);
    if (reply->rc != ZKR_OK) {
        not_watched_locked(g, type, reply->rc);
    } else if (!zkr__grant_is_ours(g) && !is_next(g)) {
        zkr__watch_forget_locked(g->own->watch); /* the delete makes it fire */
        g->own->watch = NULL;
    } else {
        watched_locked(g, reply);
    }
    if (is_next(g))
        zkr__line_advance_locked(zkr__grant_claim(g)->lock->line);
}

void zkr__grant_watch(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    zkr__grant_watch_set_locked(&c->grant, ZKR__ZK_GET);
}

/* Nothing else would tell the holder that its node has gone. A claim that waits
 * lists, instead. */
static void no_memory_locked(struct zkr__claim *c) ZKR__LOCKED
{
    zkr__log(ZKR_LOG_WARNING, "cannot watch our own node %s: no memory",
             c->node->path);
    if (zkr__claim_in_state(c, ZKR__CLAIM_HELD))
        zkr__claim_put_off_locked(c, zkr__clock_deadline(AGAIN_MS));
}

static struct zkr__watch *watch_of_locked(struct zkr_grant *g) ZKR__LOCKED
{
    struct zkr__claim *c = zkr__grant_claim(g);

    return own_of(g) == NULL
               ? NULL
               : zkr__watch_new_locked(c->session, c->node->path, false, g,
                                       on_own_node_changed);
}

void zkr__grant_watch_set_locked(struct zkr_grant *g, enum zkr__zk_type type)
{
    struct zkr__claim *c = zkr__claim_with_node(zkr__grant_claim(g));

    g = &c->grant;
    if ((!zkr__grant_is_ours(g) && !is_next(g)) ||
        (g->own != NULL && g->own->watch != NULL))
        return;
    struct zkr__watch *w = watch_of_locked(g);
    if (w == NULL) {
        no_memory_locked(c);
        return;
    }
    g->own->generation = ZKR__NEVER_SEEN;
    g->own->watch = w;
    g->own->get.request.watch = g->own->watch;
    zkr__op_start_locked(&g->own->get, type, c->node->path, ZKR__RETRY_ALWAYS,
                         on_answer);
}

bool zkr__grant_watch_ahead_locked(struct zkr_grant *g)
{
    if (g->own == NULL || !g->own->refused)
        zkr__grant_watch_set_locked(g, ZKR__ZK_GET);
    return g->own != NULL && g->own->watch != NULL &&
           g->own->get.where != ZKR__OP_IDLE;
}

static bool is_watched(const struct zkr_grant *g)
{
    return g->own != NULL && g->own->watch != NULL &&
           g->own->get.where == ZKR__OP_IDLE;
}

void zkr__grant_watch_counts_locked(struct zkr_grant *g)
{
    if (is_watched(g))
        g->own->generation = zkr__grant_claim(g)->lock->line->generation;
}

bool zkr__grant_node_is_there_locked(const struct zkr_grant *g)
{
    const struct zkr__claim *c = ZKR__CONTAINER(g, struct zkr__claim, grant);

    /* (3) of the theorem of the line: read, and watched, in this generation */
    return is_watched(g) && g->own->generation == c->lock->line->generation;
}

void zkr__grant_watch_set_later_locked(struct zkr_grant *g)
{
    struct zkr__claim *c = zkr__grant_claim(g);

    if (zkr__claim_with_node(c) != c)
        return; /* that has a grant, too, which watches */
    zkr__claim_put_off_locked(c, zkr__clock_deadline(WATCH_AFTER_MS));
}

void zkr__grant_watch_flushed_locked(struct zkr_grant *g)
{
    if (g->own != NULL)
        g->own->watch = NULL;
}

void zkr__grant_watch_stop_locked(struct zkr_grant *g)
{
    g->revoke_requested = false;
    if (g->own == NULL)
        return;
    g->own->refused = false;
    if (g->own->watch == NULL)
        return;
    if (zkr__op_cancel_locked(&g->own->get))
        zkr__watch_drop_locked(g->own->watch);
    else if (g->own->get.where == ZKR__OP_IDLE)
        zkr__watch_forget_locked(g->own->watch);
    else
        return; /* on_answer() */
    g->own->watch = NULL;
}
