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

static struct zkr_session *session_of(const struct zkr__look *l)
{
    return l->op.session;
}

static bool is_over(const struct zkr__look *l)
{
    return l->stopped || session_of(l)->over != 0;
}

static void on_read(struct zkr__op *op, const struct zkr__zk_reply *reply);

static void on_again(struct zkr__timer *timer)
{
    struct zkr__look *l = ZKR__CONTAINER(timer, struct zkr__look, again);

    zkr__session_assert_locked(session_of(l));
    zkr__look_start_locked(l);
}

static void look_later_locked(struct zkr__look *l) ZKR__LOCKED
{
    zkr__timer_thread_arm_locked(
        session_of(l), &l->again,
        zkr__clock_deadline(session_of(l)->opts.retry.cap_ms), on_again);
}

static void look_after_pause_locked(struct zkr__look *l) ZKR__LOCKED
{
    if (l->pause_ms == 0 || zkr__clock_now() >= l->rested)
        zkr__look_start_locked(l);
    else
        zkr__timer_thread_arm_locked(session_of(l), &l->again, l->rested,
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

    zkr__session_assert_locked(session_of(l));
    l->watch = NULL;
    if (is_over(l))
        return;
    if (!deleted && l->missing && l->created != NULL)
        l->created(l);
    else if (deleted && l->until_deleted)
        (void)l->seen(l, NULL);
    else
        look_after_pause_locked(l);
}

/* The handle is closed. If a read for the next one waits already, the watch
 * that it was to set has gone, too. */
static void on_lost(void *owner)
{
    struct zkr__look *l = owner;

    zkr__session_assert_locked(session_of(l));
    l->watch = NULL;
    (void)zkr__op_cancel_locked(&l->op);
    zkr__look_start_locked(l);
}

static void read_locked(struct zkr__look *l, enum zkr__zk_type type) ZKR__LOCKED
{
    l->watch = zkr__watch_new_locked(session_of(l), l->path,
                                     type == ZKR__ZK_CHILDREN, l, on_fired);
    if (l->watch == NULL) {
        look_later_locked(l);
        return;
    }
    l->watch->lost = on_lost;
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
    } else if (!l->seen(l, reply)) {
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
        (void)l->seen(l, reply);
    } else if (reply->rc == ZKR_ZNONODE) {
        read_locked(l, ZKR__ZK_EXISTS);
    } else {
        (void)l->seen(l, reply);
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
        zkr__watch_drop_locked(watch);
    else if (l->stopped)
        zkr__watch_remove_locked(watch);
    if (l->stopped)
        return;
    if (!is_set)
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

void zkr__look_init(struct zkr__look *l, struct zkr_session *s,
                    struct zkr__ref *owner, const char *path,
                    enum zkr_watch_what what,
                    bool (*seen)(struct zkr__look *,
                                 const struct zkr__zk_reply *))
{
    *l = (struct zkr__look){
        .path = path,
        .what = what & ~(enum zkr_watch_what)ZKR_WATCH_UNTIL_DELETED,
        .until_deleted = (what & ZKR_WATCH_UNTIL_DELETED) != 0,
        .seen = seen,
    };
    zkr__op_init(&l->op, s, owner);
}

void zkr__look_stop_locked(struct zkr__look *l)
{
    l->stopped = true;
    l->op.retry = ZKR__RETRY_NEVER;
    zkr__timer_thread_disarm_locked(session_of(l), &l->again);
    if (zkr__op_cancel_locked(&l->op))
        zkr__watch_drop_locked(l->watch);
    else if (l->op.where == ZKR__OP_IDLE && l->watch != NULL)
        zkr__watch_remove_locked(l->watch);
}
