/* SPDX-License-Identifier: Apache-2.0 */
/* Watches that last: a read that is repeated whenever its result may have
 * changed, until the user frees it.
 *
 *   look -> read, which sets a one-shot watch -> that fires -> look ...
 *
 * While it is not freed, and the session is not over, it has a request under
 * way, or a one-shot watch set, or a timer armed; each of these leads to the
 * next look. */
#include <zkrecipes/watch.h>

#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/output.h"
#include "session/reply.h"
#include "session/session.h"
#include "session/timer_thread.h"
#include "session/watch.h"

/* A result, as far as two of them are compared. */
struct state {
    int error;
    struct zkr_stat stat;
};

struct zkr_watch {
    struct zkr_session *session;
    char *path; /* with the chroot */
    enum zkr_watch_what what;
    zkr_watch_fn fn;
    void *user;

    atomic_uint refs; /* the user's, of a request under way, of a callback */
    /* under the session lock */
    bool freed;
    struct zkr__op op;        /* the read */
    struct zkr__watch *watch; /* which the read sets, or has set */
    struct zkr__timer again;  /* after an error */

    uint64_t epoch; /* in which `last` was read; 0: nothing was read yet */
    struct state last;

    struct zkr__notice notice;
    bool untold; /* there is something to tell: */
    int error;
    struct zkr_reply *reply;
    enum zkr_watch_why why;
};

/* Under the session lock this never drops the last reference of the session,
 * because the connector or the timer thread still has one. */
static void unref(struct zkr_watch *w)
{
    struct zkr_session *s = w->session;

    if (atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    zkr_reply_free(w->reply);
    free(w->path);
    free(w);
    zkr__session_unref(s);
}

static bool is_over(const struct zkr_watch *w)
{
    return w->freed || w->session->over != 0;
}

/* -- what is told --------------------------------------------------------- */

/* The dispatcher has taken the notice, so a result that comes before this has
 * the lock posts it again: this tells that result, and the next run nothing. */
static void run_told(struct zkr__notice *notice)
{
    struct zkr_watch *w = ZKR__CONTAINER(notice, struct zkr_watch, notice);
    struct zkr_reply *reply;
    enum zkr_watch_why why;
    int error;

    zkr__session_lock(w->session);
    if (!w->untold) {
        zkr__session_unlock(w->session);
        return;
    }
    w->untold = false;
    (void)atomic_fetch_add(&w->refs, 1); /* the callback may free it */
    error = w->error;
    reply = w->reply;
    why = w->why;
    w->reply = NULL;
    zkr__session_unlock(w->session);
    w->fn(error, reply, why, w->user);
    zkr_reply_free(reply);
    unref(w);
}

static bool differs(const struct zkr_watch *w, const struct state *state)
{
    const struct zkr_stat *a = &w->last.stat;
    const struct zkr_stat *b = &state->stat;

    if (state->error != w->last.error || a->czxid != b->czxid)
        return true;
    if (w->what == ZKR_WATCH_DATA)
        return a->mzxid != b->mzxid;
    return w->what == ZKR_WATCH_CHILDREN &&
           (a->pzxid != b->pzxid || a->cversion != b->cversion);
}

static enum zkr_watch_why why_now(const struct zkr_watch *w)
{
    if (w->untold && w->why != ZKR_WATCH_CHANGED)
        return w->why;
    if (w->epoch == 0)
        return ZKR_WATCH_FIRST;
    return w->epoch == w->session->epoch ? ZKR_WATCH_CHANGED : ZKR_WATCH_GAP;
}

/* Tells a result, unless it is the one that was told last. Returns false when
 * there is no memory for it. */
static bool tell_locked(struct zkr_watch *w,
                        const struct zkr__zk_reply *from) ZKR__LOCKED
{
    const struct state state = { from->rc, from->stat };
    struct zkr_reply *reply = NULL;

    if (w->epoch == w->session->epoch && !differs(w, &state))
        return true;
    if (from->rc == ZKR_OK && (reply = zkr__reply_copy(from, 0)) == NULL)
        return false;
    zkr_reply_free(w->reply); /* this one was not told yet */
    w->reply = reply;
    w->error = from->rc;
    w->why = why_now(w);
    w->untold = true;
    w->last = state;
    w->epoch = w->session->epoch;
    zkr__dispatch_post_locked(w->session, &w->notice);
    return true;
}

/* -- looking -------------------------------------------------------------- */

static void look_locked(struct zkr_watch *w) ZKR__LOCKED;
static void on_read(struct zkr__op *op, const struct zkr__zk_reply *reply);

static void on_again(struct zkr__timer *timer)
{
    struct zkr_watch *w = ZKR__CONTAINER(timer, struct zkr_watch, again);

    zkr__session_assert_locked(w->session);
    look_locked(w);
}

static void look_later_locked(struct zkr_watch *w) ZKR__LOCKED
{
    zkr__timer_thread_arm_locked(
        w->session, &w->again,
        zkr__clock_deadline(w->session->opts.retry.cap_ms), on_again);
}

static void forget_locked(struct zkr_watch *w) ZKR__LOCKED
{
    zkr__watch_forget_locked(w->watch);
    w->watch = NULL;
}

static void on_fired(void *owner, bool deleted)
{
    struct zkr_watch *w = owner;

    (void)deleted;
    zkr__session_assert_locked(w->session);
    w->watch = NULL;
    look_locked(w);
}

/* The handle is closed. If a read for the next one waits already, the watch
 * that it was to set has gone, too. */
static void on_lost(void *owner)
{
    struct zkr_watch *w = owner;

    zkr__session_assert_locked(w->session);
    w->watch = NULL;
    if (zkr__op_cancel_locked(&w->op))
        unref(w); /* the user still has a reference */
    look_locked(w);
}

static void read_locked(struct zkr_watch *w, enum zkr__zk_type type) ZKR__LOCKED
{
    w->watch = zkr__watch_new_locked(w->session, w->path, w, on_fired);
    if (w->watch == NULL) {
        look_later_locked(w);
        return;
    }
    w->watch->lost = on_lost;
    w->watch->children = type == ZKR__ZK_SURVEY;
    w->op.request.watch = w->watch;
    (void)atomic_fetch_add(&w->refs, 1);
    zkr__op_start_locked(&w->op, type, w->path, ZKR__RETRY_ALWAYS, on_read);
}

static enum zkr__zk_type read_of(enum zkr_watch_what what)
{
    switch (what) {
    case ZKR_WATCH_DATA:
        return ZKR__ZK_GET;
    case ZKR_WATCH_EXISTS:
        return ZKR__ZK_EXISTS;
    case ZKR_WATCH_CHILDREN:
        return ZKR__ZK_SURVEY;
    }
    abort();
}

/* The read has set the watch. For a node that was missing, that was EXISTS; it
 * may have been created meanwhile. */
static void watched_locked(struct zkr_watch *w, enum zkr__zk_type type,
                           const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    if (reply->rc == ZKR_OK && type != read_of(w->what)) {
        forget_locked(w);
        look_locked(w);
    } else if (!tell_locked(w, reply)) {
        forget_locked(w);
        look_later_locked(w);
    }
}

static void not_watched_locked(struct zkr_watch *w,
                               const struct zkr__zk_reply *reply) ZKR__LOCKED
{
    if (is_over(w))
        return;
    if (zkr__error_outcome(reply->rc) == ZKR__OVER) {
        look_locked(w);
    } else if (reply->rc == ZKR_ZNONODE) {
        read_locked(w, ZKR__ZK_EXISTS);
    } else {
        (void)tell_locked(w, reply);
        look_later_locked(w);
    }
}

static void on_read(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr_watch *w = ZKR__CONTAINER(op, struct zkr_watch, op);
    enum zkr__zk_type type = op->request.type;
    struct zkr__watch *watch = w->watch;
    bool is_set = reply->rc == ZKR_OK ||
                  (reply->rc == ZKR_ZNONODE && type == ZKR__ZK_EXISTS);

    zkr__session_assert_locked(op->session);
    if (!is_set || w->freed)
        w->watch = NULL;
    if (!is_set) {
        zkr__watch_not_set_locked(watch, type, reply->rc);
        not_watched_locked(w, reply);
    } else if (w->freed) {
        zkr__watch_remove_locked(watch);
    } else if (!is_over(w)) {
        watched_locked(w, type, reply);
    }
    unref(w);
}

static void look_locked(struct zkr_watch *w)
{
    if (!is_over(w))
        read_locked(w, read_of(w->what));
}

static void stop_locked(struct zkr_watch *w) ZKR__LOCKED
{
    w->freed = true;
    w->op.retry = ZKR__RETRY_NEVER;
    zkr__timer_thread_disarm_locked(w->session, &w->again);
    if (zkr__op_cancel_locked(&w->op)) {
        zkr__watch_not_sent_locked(w->watch);
        unref(w); /* the user still has a reference */
    } else if (w->op.where == ZKR__OP_IDLE && w->watch != NULL) {
        zkr__watch_remove_locked(w->watch);
    } else {
        return; /* on_read() */
    }
    w->watch = NULL;
}

/* -- the interface -------------------------------------------------------- */

static struct zkr_watch *new_watch(struct zkr_session *s, const char *path,
                                   enum zkr_watch_what what, zkr_watch_fn fn,
                                   void *user)
{
    struct zkr_watch *w = calloc(1, sizeof(*w));

    if (w == NULL || (w->path = zkr__session_full_path(s, path)) == NULL) {
        free(w);
        return NULL;
    }
    zkr__session_ref(s);
    w->session = s;
    w->what = what;
    w->fn = fn;
    w->user = user;
    atomic_init(&w->refs, 1);
    zkr__op_init(&w->op, s);
    zkr__notice_init(&w->notice, run_told);
    return w;
}

static int check_args(zkr_session *s, const char *path,
                      enum zkr_watch_what what, zkr_watch_fn fn,
                      zkr_watch **ret_watch)
{
    int rc = ZKR__OUTPUT(ret_watch);

    if (rc == ZKR_OK)
        rc = zkr__session_check(s, "session");
    if (rc != ZKR_OK)
        return rc;
    if (fn == NULL)
        return zkr__fail(ZKR_EINVAL, "watch: the callback is NULL");
    if (what != ZKR_WATCH_DATA && what != ZKR_WATCH_EXISTS &&
        what != ZKR_WATCH_CHILDREN)
        return zkr__fail(ZKR_EINVAL, "watch: what is %d", (int)what);
    return zkr__session_check_path(s, "watch", "path", path, ZKR_PATH_MAX);
}

enum zkr_error zkr_session_watch(zkr_session *s, const char *path,
                                 enum zkr_watch_what what, zkr_watch_fn fn,
                                 void *user, zkr_watch **ret_watch)
{
    struct zkr_watch *w;
    int rc = check_args(s, path, what, fn, ret_watch);

    if (rc != ZKR_OK)
        return rc;
    w = new_watch(s, path, what, fn, user);
    if (w == NULL)
        return zkr__fail(ZKR_ENOMEM, "watch '%.300s': out of memory", path);
    zkr__session_lock(s);
    if (s->over != 0) {
        rc = zkr__fail(s->over, "watch '%.300s': the session is over", path);
    } else {
        *ret_watch = w;
        look_locked(w);
    }
    zkr__session_unlock(s);
    if (rc != ZKR_OK)
        unref(w);
    return rc;
}

void zkr_watch_free(zkr_watch *w)
{
    if (w == NULL || zkr__session_check(w->session, "watch") != ZKR_OK)
        return;
    zkr__session_lock(w->session);
    stop_locked(w);
    (void)zkr__dispatch_withdraw_unlocks(w->session, &w->notice);
    zkr__session_unlock(w->session);
    unref(w);
}
