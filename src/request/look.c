/* SPDX-License-Identifier: Apache-2.0 */
/* Looking: a read that is repeated whenever its result may have changed, until
 * the owner stops it.
 *
 *   look -> read, which sets a one-shot watch -> that fires -> look ...
 *
 * While it is not stopped, its node was not deleted for good, and the session
 * is not over, it has a request under way, or a one-shot watch set, or a timer
 * armed; each of these leads to the next look. */
#include "request/look.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "session/session.h"
#include "session/timer_thread.h"
#include "session/watch.h"

struct zkr__look {
    struct zkr_session *session;
    char *path;               /* with the chroot */
    enum zkr_watch_what what; /* without the flag: */
    bool until_deleted;
    void *owner;
    bool (*seen)(void *owner, const struct zkr__zk_reply *reply);
    void (*created)(void *owner); /* may be NULL */

    /* under the session lock */
    bool stopped;
    bool missing; /* in the last answer */
    int64_t pause_ms;
    int64_t rested;           /* the end of the pause after the last answer */
    struct zkr__op op;        /* the read */
    struct zkr__watch *watch; /* which the read sets, or has set */
    struct zkr__timer again;  /* after an error, or a pause */
};

static void free_look(struct zkr__look *l)
{
    free(l->path);
    free(l);
}

static bool is_over(const struct zkr__look *l)
{
    return l->stopped || l->session->over != 0;
}

static void on_read(struct zkr__op *op, const struct zkr__zk_reply *reply);

static void on_again(struct zkr__timer *timer)
{
    struct zkr__look *l = ZKR__CONTAINER(timer, struct zkr__look, again);

    zkr__session_assert_locked(l->session);
    zkr__look_start_locked(l);
}

static void look_later_locked(struct zkr__look *l) ZKR__LOCKED
{
    zkr__timer_thread_arm_locked(
        l->session, &l->again,
        zkr__clock_deadline(l->session->opts.retry.cap_ms), on_again);
}

static void look_after_pause_locked(struct zkr__look *l) ZKR__LOCKED
{
    if (l->pause_ms == 0 || zkr__clock_now() >= l->rested)
        zkr__look_start_locked(l);
    else
        zkr__timer_thread_arm_locked(l->session, &l->again, l->rested,
                                     on_again);
}

static void forget_locked(struct zkr__look *l) ZKR__LOCKED
{
    zkr__watch_forget_locked(l->watch);
    l->watch = NULL;
}

static void on_fired(void *owner, bool deleted)
{
    struct zkr__look *l = owner;

    zkr__session_assert_locked(l->session);
    l->watch = NULL;
    if (is_over(l))
        return;
    if (!deleted && l->missing && l->created != NULL)
        l->created(l->owner);
    else if (deleted && l->until_deleted)
        (void)l->seen(l->owner, NULL);
    else
        look_after_pause_locked(l);
}

/* The handle is closed. If a read for the next one waits already, the watch
 * that it was to set has gone, too. */
static void on_lost(void *owner)
{
    struct zkr__look *l = owner;

    zkr__session_assert_locked(l->session);
    l->watch = NULL;
    (void)zkr__op_cancel_locked(&l->op);
    zkr__look_start_locked(l);
}

static void read_locked(struct zkr__look *l, enum zkr__zk_type type) ZKR__LOCKED
{
    l->watch = zkr__watch_new_locked(l->session, l->path, l, on_fired);
    if (l->watch == NULL) {
        look_later_locked(l);
        return;
    }
    l->watch->lost = on_lost;
    if (type == ZKR__ZK_CHILDREN)
        zkr__watch_children_locked(l->watch);
    l->op.request.watch = l->watch;
    zkr__op_start_locked(&l->op, type, l->path, ZKR__RETRY_ALWAYS, on_read);
}

static enum zkr__zk_type read_of(enum zkr_watch_what what)
{
    switch (what) {
    case ZKR_WATCH_DATA:
        return ZKR__ZK_GET;
    case ZKR_WATCH_EXISTS:
        return ZKR__ZK_EXISTS;
    case ZKR_WATCH_CHILDREN:
        return ZKR__ZK_CHILDREN;
    case ZKR_WATCH_UNTIL_DELETED:
        break;
    }
    abort();
}

/* The read has set the watch. For a node that was missing, that was EXISTS; it
 * may have been created meanwhile. */
static void watched_locked(struct zkr__look *l, enum zkr__zk_type type,
                           const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    if (reply->rc == ZKR_OK && type != read_of(l->what)) {
        forget_locked(l);
        zkr__look_start_locked(l);
    } else if (!l->seen(l->owner, reply)) {
        forget_locked(l);
        look_later_locked(l);
    }
}

static void not_watched_locked(struct zkr__look *l,
                               const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    if (is_over(l))
        return;
    if (zkr__error_outcome(reply->rc) == ZKR__OVER) {
        zkr__look_start_locked(l);
    } else if (reply->rc == ZKR_ZNONODE && l->until_deleted) {
        (void)l->seen(l->owner, reply);
    } else if (reply->rc == ZKR_ZNONODE) {
        read_locked(l, ZKR__ZK_EXISTS);
    } else {
        (void)l->seen(l->owner, reply);
        look_later_locked(l);
    }
}

static void on_read(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__look *l = ZKR__CONTAINER(op, struct zkr__look, op);
    enum zkr__zk_type type = op->request.type;
    struct zkr__watch *watch = l->watch;
    bool is_set = reply->rc == ZKR_OK ||
                  (reply->rc == ZKR_ZNONODE && type == ZKR__ZK_EXISTS);

    zkr__session_assert_locked(op->session);
    l->rested = zkr__clock_deadline(l->pause_ms);
    l->missing = reply->rc == ZKR_ZNONODE;
    if (!is_set || l->stopped)
        l->watch = NULL;
    if (!is_set)
        zkr__watch_not_set_locked(watch, type, reply->rc);
    else if (l->stopped)
        zkr__watch_remove_locked(watch);
    if (l->stopped)
        free_look(l);
    else if (!is_set)
        not_watched_locked(l, reply);
    else if (!is_over(l))
        watched_locked(l, type, reply);
}

void zkr__look_start_locked(struct zkr__look *l)
{
    if (!is_over(l))
        read_locked(l, read_of(l->what));
}

/* -- for the owner --------------------------------------------------------- */

struct zkr__look *
zkr__look_new(struct zkr_session *s, const char *path, enum zkr_watch_what what,
              void *owner, bool (*seen)(void *, const struct zkr__zk_reply *),
              void (*created)(void *))
{
    struct zkr__look *l = calloc(1, sizeof(*l));

    if (l == NULL || (l->path = zkr__session_full_path(s, path)) == NULL) {
        free(l);
        return NULL;
    }
    l->session = s;
    l->what = what & ~(enum zkr_watch_what)ZKR_WATCH_UNTIL_DELETED;
    l->until_deleted = (what & ZKR_WATCH_UNTIL_DELETED) != 0;
    l->owner = owner;
    l->seen = seen;
    l->created = created;
    zkr__op_init(&l->op, s, NULL);
    return l;
}

void zkr__look_set_pause_locked(struct zkr__look *l, int64_t pause_ms)
{
    l->pause_ms = pause_ms;
}

void zkr__look_stop_locked(struct zkr__look *l)
{
    l->stopped = true;
    l->op.retry = ZKR__RETRY_NEVER;
    zkr__timer_thread_disarm_locked(l->session, &l->again);
    if (zkr__op_cancel_locked(&l->op))
        zkr__watch_free_locked(l->watch);
    else if (l->op.where != ZKR__OP_IDLE)
        return; /* on_read() frees it */
    else if (l->watch != NULL)
        zkr__watch_remove_locked(l->watch);
    free_look(l);
}
