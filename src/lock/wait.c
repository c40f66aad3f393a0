/* SPDX-License-Identifier: Apache-2.0 */
/* WAITING: watches the one node that we wait for, unless it is one of ours. */
#include "lock/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "lock/heartbeat.h"
#include "lock/rival.h"

/* The interval between lists when the node before us cannot be read. */
#define RELIST_MS 1000

/* Nobody else was ahead, nor can be, and our own node is still there: it is
 * watched, and events come in the order of transactions. After a long wait a
 * list is better, because a write goes with it that proves the lease. */
static bool is_next_locked(const struct zkr__claim *c) ZKR__LOCKED
{
    /* (1), by the event, (2) and (3) of the theorem of the line */
    return c->place.only && zkr__line_ahead_locked(c) == NULL &&
           c->place.generation == c->lock->line->generation &&
           zkr__grant_node_is_there_locked(&c->grant) &&
           !zkr__heartbeat_wants_write(c->session);
}

static void on_left_before_us(void *owner, bool deleted)
{
    struct zkr__claim *c = owner;

    zkr__session_assert_locked(c->session);
    c->wait.watch = NULL;
    if (!zkr__claim_acts_in(c, ZKR__CLAIM_WAITING))
        return;
    if (deleted && is_next_locked(c)) {
        zkr__claim_event_locked(c, ZKR__ON_TURN,
                                "the only node ahead has gone");
    } else {
        zkr__claim_event_locked(c, ZKR__ON_CHANGED,
                                "the node before us has changed");
    }
}

/* A read that is in flight is answered first: there is one at a time. */
void zkr__claim_uprooted(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    zkr__claim_stop_waiting(c);
    c->uprooted = c->wait.get.where != ZKR__OP_IDLE;
    if (c->uprooted)
        return;
    zkr__claim_event_locked(c, ZKR__ON_CHANGED, "our own node has gone");
}

static void on_get(struct zkr__op *op, const struct zkr__zk_reply *reply);

static void relist_later_locked(struct zkr__claim *c) ZKR__LOCKED
{
    zkr__claim_put_off_locked(c, zkr__clock_deadline(RELIST_MS));
}

void zkr__claim_relist(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    if (c->wait.get.where != ZKR__OP_IDLE)
        relist_later_locked(c);
    else
        zkr__claim_event_locked(c, ZKR__ON_CHANGED,
                                "the node before us cannot be read");
}

/* GET and not EXISTS: that would leave a watch behind on a node that has gone.
 * Without the permission to read, EXISTS has to do; but servers since the fix
 * of CVE-2024-23944 do not tell us of a node that we may not read, and since
 * ZOOKEEPER-2590 (3.8.4, 3.9.2) they refuse EXISTS too. So we also list again
 * from time to time. */
static void watch_locked(struct zkr__claim *c, enum zkr__zk_type type,
                         const char *path) ZKR__LOCKED
{
    c->wait.watch =
        zkr__watch_new_locked(c->session, path, false, c, on_left_before_us);
    if (c->wait.watch == NULL) {
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
        return;
    }
    c->wait.get.request.watch = c->wait.watch;
    zkr__op_start_locked(&c->wait.get, type, c->wait.watch->path,
                         ZKR__RETRY_POLICY, on_get);
    if (c->place.only)
        (void)zkr__grant_watch_ahead_locked(&c->grant);
    if (type == ZKR__ZK_EXISTS)
        relist_later_locked(c);
}

/* Without memory a sentence is shorter. */
static void note_rival(struct zkr__claim *c, const struct zkr__zk_reply *node)
{
    free(c->wait.rival);
    c->wait.rival = node == NULL ? NULL : zkr__rival_copy(node);
}

static void wait_for_locked(struct zkr__claim *c, const char *name) ZKR__LOCKED
{
    note_rival(c, NULL);
    c->uprooted = false;
    if (!zkr__path_is_child_name(name)) {
        zkr__claim_give_up_locked(c, ZKR_EPROTO, "a child has a bad name");
        return;
    }
    char *path = zkr__path_join(c->lock->dir, name);
    if (path == NULL)
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
    else
        watch_locked(c, ZKR__ZK_GET, path);
    free(path);
}

void zkr__claim_watch_rival(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    wait_for_locked(c, c->node->name);
}

void zkr__claim_wait_for(struct zkr__claim *c, const struct zkr__news *news)
{
    wait_for_locked(c, news->name);
    if (zkr__claim_in_state(c, ZKR__CLAIM_WAITING) &&
        !zkr__ghosts_suspect_locked(c, news->name))
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
}

/* The line tells when that one has been given back. */
void zkr__claim_wait_behind(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    c->place.behind = true;
}

static void met_locked(struct zkr__claim *c,
                       const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    zkr__claim_news_locked(
        c, ZKR__ON_READ,
        &(struct zkr__news){ .why = "it was read", .node = reply });
}

static void not_watched_locked(struct zkr__claim *c, int rc) ZKR__LOCKED
{
    struct zkr__watch *w = c->wait.watch;

    c->wait.watch = NULL;
    if (!zkr__claim_acts_in(c, ZKR__CLAIM_WAITING))
        ;
    else if (rc == ZKR_ZNONODE)
        zkr__claim_event_locked(c, ZKR__ON_CHANGED,
                                "the node before us has gone");
    else if (rc == ZKR_ZNOAUTH) /* of GET: see on_get() */
        watch_locked(c, ZKR__ZK_EXISTS, w->path);
    else
        zkr__claim_give_up_locked(c, rc, "cannot watch '%s'", w->path);
    zkr__watch_drop_locked(w);
}

static void on_get(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__claim *c = ZKR__CONTAINER(op, struct zkr__claim, wait.get);
    enum zkr__zk_type type = op->request.type;

    zkr__session_assert_locked(c->session);
    if (reply->rc == ZKR_ZNOAUTH && type == ZKR__ZK_EXISTS &&
        zkr__claim_acts_in(c, ZKR__CLAIM_WAITING)) {
        zkr__watch_refused_locked(c->wait.watch); /* DUE has to do */
        met_locked(c, reply);
    } else if (reply->rc != ZKR_OK) {
        not_watched_locked(c, reply->rc);
    } else if (!zkr__claim_in_state(c, ZKR__CLAIM_WAITING)) {
        zkr__watch_remove_locked(c->wait.watch); /* given up in the meantime */
        c->wait.watch = NULL;
    } else {
        note_rival(c, reply);
        met_locked(c, reply);
    }
    if (c->uprooted)
        zkr__claim_event_locked(c, ZKR__ON_UPROOTED, "and our own has gone");
}

void zkr__claim_stop_waiting(struct zkr__claim *c)
{
    c->place.behind = false;
    c->place.only = false;
    zkr__ghosts_rest_locked(c);
    if (c->wait.watch == NULL)
        return;
    if (zkr__op_cancel_locked(&c->wait.get))
        zkr__watch_drop_locked(c->wait.watch);
    else if (c->wait.get.where == ZKR__OP_IDLE)
        zkr__watch_remove_locked(c->wait.watch);
    else
        return; /* on_get() */
    c->wait.watch = NULL;
}
