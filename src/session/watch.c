/* SPDX-License-Identifier: Apache-2.0 */
/* One-shot watches whose context outlives every late or repeated event. */
#include "session/watch.h"

#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "session/session.h"

/* -- the nodes that are watched ------------------------------------------- */

static int by_path(const void *a, const void *b)
{
    const struct zkr__watched *x = a;
    const struct zkr__watched *y = b;

    return strcmp(x->path, y->path);
}

static struct zkr__watched *node_locked(struct zkr_session *s,
                                        const char *path) ZKR__LOCKED
{
    struct zkr__watched *node = calloc(1, sizeof(*node) + strlen(path) + 1);

    if (node == NULL)
        return NULL;
    (void)strcpy(node->path, path);
    struct zkr__watched **place = tsearch(node, &s->watched, by_path);
    if (place == NULL || *place != node)
        free(node);
    return place == NULL ? NULL : *place;
}

static void unuse_locked(struct zkr_session *s,
                         struct zkr__watched *node) ZKR__LOCKED
{
    if (--node->users > 0)
        return;
    (void)tdelete(node, &s->watched, by_path);
    free(node);
}

/* Called when anything has changed that says whether somebody cares. */
static void count_locked(struct zkr__watch *w) ZKR__LOCKED
{
    bool wanted = w->owner != NULL && !w->spent;

    w->node->wanted[w->children] += wanted;
    w->node->wanted[w->children] -= w->wanted;
    w->wanted = wanted;
}

void zkr__watch_forget_locked(struct zkr__watch *w)
{
    w->owner = NULL;
    count_locked(w);
}

/* -- watches -------------------------------------------------------------- */

struct zkr__watch *
zkr__watch_new_locked(struct zkr_session *s, const char *path, bool children,
                      void *owner, void (*fired)(void *owner, bool deleted))
{
    struct zkr__watch *w = calloc(1, sizeof(*w));

    assert(zkr__mtx_mine(&s->lock));
    if (w == NULL)
        return NULL;
    w->node = node_locked(s, path);
    if (w->node == NULL) {
        free(w);
        return NULL;
    }
    w->node->users++;
    w->path = w->node->path;
    w->session = s;
    w->children = children;
    w->owner = owner;
    w->fired = fired;
    count_locked(w);
    zkr__op_init(&w->unwatch, s, NULL);
    zkr__list_append(&s->watches, &w->link);
    return w;
}

static void free_locked(struct zkr__watch *w) ZKR__LOCKED
{
    zkr__list_remove(&w->link);
    zkr__watch_forget_locked(w);
    unuse_locked(w->session, w->node);
    free(w);
}

/* The client registers an EXISTS of a missing node, too, and the watch of an
 * answer that it could not read to its end, which the client inside calls
 * ZRUNTIMEINCONSISTENCY. It is not known what it has registered for a session
 * that is over. */
static bool may_be_set(enum zkr__zk_type type, int rc)
{
    return rc == ZKR_OK || rc == ZKR_ZMARSHALLINGERROR ||
           rc == ZKR_ZRUNTIMEINCONSISTENCY ||
           (type == ZKR__ZK_EXISTS && rc == ZKR_ZNONODE) ||
           zkr__error_outcome(rc) == ZKR__OVER;
}

void zkr__watch_answered_locked(struct zkr__watch *w, enum zkr__zk_type type,
                                int rc, bool again)
{
    w->set |= may_be_set(type, rc);
    w->again = again;
}

void zkr__watch_drop_locked(struct zkr__watch *w)
{
    w->again = false;
    if (w->set)
        zkr__watch_forget_locked(w);
    else
        free_locked(w);
}

void zkr__watch_refused_locked(struct zkr__watch *w)
{
    w->spent = !w->set;
    count_locked(w);
}

static void fire_locked(struct zkr__watch *w, bool deleted) ZKR__LOCKED
{
    void *owner = w->owner;

    w->spent = true;
    zkr__watch_forget_locked(w);
    if (owner != NULL)
        w->fired(owner, deleted);
    /* Frees it, unless a removal is under way: then the answer to that frees
     * it. */
    if (w->unwatch.where == ZKR__OP_IDLE || zkr__op_cancel_locked(&w->unwatch))
        free_locked(w);
}

void zkr__watch_on_event(struct zkr__watch *w, bool deleted)
{
    struct zkr_session *s = w->session;

    zkr__session_lock(s);
    if (w->again)
        w->set = false;
    else
        fire_locked(w, deleted);
    zkr__op_pump_locked(s);
    zkr__session_unlock(s);
}

/* OK: the client has dropped the context. Anything else: it may still fire,
 * until the handle is closed. */
static void on_unwatched(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__watch *w = ZKR__CONTAINER(op, struct zkr__watch, unwatch);

    zkr__session_assert_locked(op->session);
    if (reply->rc == ZKR_OK || w->spent)
        free_locked(w);
}

void zkr__watch_remove_locked(struct zkr__watch *w)
{
    zkr__watch_forget_locked(w);
    if (w->spent) {
        free_locked(w);
        return;
    }
    if (w->session->over != 0 || w->session->handle_dead)
        return; /* the flush frees it */
    w->unwatch.request.watch = w->node->wanted[w->children] > 0 ? w : NULL;
    /* The removal is not repeated: by then another caller may watch the same
     * node, and the client can only remove all watches on it. */
    zkr__op_start_locked(
        &w->unwatch, w->children ? ZKR__ZK_UNWATCH_CHILDREN : ZKR__ZK_UNWATCH,
        w->path, ZKR__RETRY_NEVER, on_unwatched);
}

void zkr__watch_flush_locked(struct zkr_session *s)
{
    struct zkr__list gone;

    zkr__list_init(&gone);
    zkr__list_splice(&gone, &s->watches);
    while (!zkr__list_empty(&gone)) {
        struct zkr__watch *w =
            ZKR__CONTAINER(gone.next, struct zkr__watch, link);
        void (*lost)(void *owner) = w->lost;
        void *owner = w->owner;

        free_locked(w);
        if (owner != NULL && lost != NULL)
            lost(owner);
    }
}
