/* SPDX-License-Identifier: Apache-2.0 */
/* Watches that last: what is seen by looking, told to a callback when it is
 * another state. */
#include <zkrecipes/client.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "request/client.h"
#include "request/look.h"
#include "session/session.h"

struct zkr_watch {
    struct zkr_session *session;
    char *path; /* with the chroot */
    zkr_watch_fn fn;
    void *user;

    struct zkr__ref ref; /* the user's, the look's, and that of a callback */
    /* under the session lock */
    struct zkr__look look;

    /* The last result, as far as it is compared with the next. */
    uint64_t epoch; /* in which it was read; 0: nothing was read yet */
    int error;
    struct zkr_stat stat;

    struct zkr__notice notice;
    bool untold; /* there is something to tell: the error, and */
    struct zkr_reply *reply;
    enum zkr_watch_why why;
};

/* Under the session lock this never drops the last reference of the session,
 * because the connector or the timer thread still has one. */
static void free_watch(struct zkr__ref *ref)
{
    struct zkr_watch *w = ZKR__CONTAINER(ref, struct zkr_watch, ref);
    struct zkr_session *s = w->session;

    zkr_reply_free(w->reply);
    free(w->path);
    free(w);
    zkr__session_unref(s);
}

/* -- what is told --------------------------------------------------------- */

/* A result may come after the dispatcher took the notice and before this run
 * has the lock. It posts the notice again; this run tells it, and the next run
 * finds nothing to tell. */
static void run_told(struct zkr__notice *notice)
{
    struct zkr_watch *w = ZKR__CONTAINER(notice, struct zkr_watch, notice);
    struct zkr_reply *reply;
    enum zkr_watch_why why;
    int error;

    zkr__error_set_detail("");
    zkr__session_lock(w->session);
    if (!w->untold) {
        zkr__session_unlock(w->session);
        return;
    }
    w->untold = false;
    zkr__ref_take(&w->ref); /* the callback may free it */
    error = w->error;
    reply = w->reply;
    why = w->why;
    w->reply = NULL;
    const char *path = w->path + strlen(w->session->hosts.chroot);
    if (error != ZKR_OK)
        (void)zkr__fail(error, "watch '%.300s': refused",
                        path[0] == '\0' ? "/" : path);
    zkr__session_unlock(w->session);
    if (w->fn != NULL)
        w->fn(error, reply, why, w->user);
    zkr_reply_free(reply);
    zkr__ref_drop(&w->ref);
}

static bool differs(const struct zkr_watch *w, const struct zkr__zk_reply *from)
{
    const struct zkr_stat *a = &w->stat;
    const struct zkr_stat *b = &from->stat;

    if (w->error != from->rc || a->czxid != b->czxid)
        return true;
    if (w->look.what == ZKR_WATCH_DATA)
        return a->mzxid != b->mzxid;
    return w->look.what == ZKR_WATCH_CHILDREN &&
           (a->pzxid != b->pzxid || a->cversion != b->cversion);
}

static enum zkr_watch_why why_now(const struct zkr_watch *w, bool ended)
{
    if (w->untold && w->why != ZKR_WATCH_CHANGED)
        return w->why;
    if (w->epoch == 0)
        return ZKR_WATCH_FIRST;
    if (w->epoch != w->session->epoch)
        return ZKR_WATCH_GAP;
    return ended && !w->untold ? ZKR_WATCH_ENDED : ZKR_WATCH_CHANGED;
}

/* Tells a result, unless it is the one that was told last. Returns false when
 * there is no memory for it. */
static bool on_seen(struct zkr__look *look, const struct zkr__zk_reply *from)
{
    static const struct zkr__zk_reply deleted = { .rc = ZKR_ZNONODE };
    bool ended = from == NULL;
    struct zkr_watch *w = ZKR__CONTAINER(look, struct zkr_watch, look);
    struct zkr_reply *reply = NULL;

    if (ended)
        from = &deleted;
    zkr__session_assert_locked(w->session);
    if (w->epoch == w->session->epoch && !differs(w, from))
        return true;
    if (from->rc == ZKR_OK && (reply = zkr__reply_copy(from, 0)) == NULL)
        return false;
    zkr_reply_free(w->reply); /* this one was not told yet */
    w->reply = reply;
    w->error = from->rc;
    w->why = why_now(w, ended);
    w->untold = true;
    w->stat = from->stat;
    w->epoch = w->session->epoch;
    zkr__dispatch_post_locked(w->session, &w->notice);
    return true;
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
    zkr__look_init(&w->look, s, &w->ref, w->path, what, on_seen);
    w->session = s;
    w->fn = fn;
    w->user = user;
    zkr__ref_init(&w->ref, free_watch);
    zkr__notice_init(&w->notice, run_told);
    return w;
}

static int check_args(zkr_session *s, const char *path,
                      enum zkr_watch_what what, zkr_watch **ret_watch)
{
    int rc = ZKR__OUTPUT(ret_watch);

    if (rc == ZKR_OK)
        rc = zkr__session_check(s, "session");
    if (rc != ZKR_OK)
        return rc;
    if (what != ZKR_WATCH_EXISTS &&
        (what & ~(unsigned)ZKR_WATCH_UNTIL_DELETED) != ZKR_WATCH_DATA &&
        (what & ~(unsigned)ZKR_WATCH_UNTIL_DELETED) != ZKR_WATCH_CHILDREN)
        return zkr__fail(ZKR_EINVAL, "watch: what is %d", (int)what);
    return zkr__session_check_path(s, "watch", "path", path, 2 * ZKR_PATH_MAX);
}

static int check_pause(int64_t pause_ms)
{
    return pause_ms >= 0 ? ZKR_OK
                         : zkr__fail(ZKR_EINVAL, "watch pause: %lld ms",
                                     (long long)pause_ms);
}

int zkr_session_watch(zkr_session *s, const char *path,
                      enum zkr_watch_what what,
                      const struct zkr_watch_opts *opts, zkr_watch_fn fn,
                      void *user, zkr_watch **ret_watch)
{
    struct zkr_watch_opts o;
    int rc = check_args(s, path, what, ret_watch);

    if (rc == ZKR_OK)
        rc = zkr__opts_load(&o, sizeof(o), sizeof(o), opts, "watch");
    if (rc == ZKR_OK)
        rc = check_pause(o.pause_ms);
    if (rc != ZKR_OK)
        return rc;
    struct zkr_watch *w = new_watch(s, path, what, fn, user);
    if (w == NULL)
        return zkr__no_memory("watch", path);
    zkr__session_lock(s);
    if (s->over != 0) {
        rc = zkr__fail(s->over, "watch '%.300s': the session is over", path);
    } else {
        *ret_watch = w;
        w->look.pause_ms = o.pause_ms;
        zkr__look_start_locked(&w->look);
    }
    zkr__session_unlock(s);
    if (rc != ZKR_OK)
        zkr__ref_drop(&w->ref);
    return rc;
}

int zkr_watch_set_pause(zkr_watch *w, int64_t pause_ms)
{
    int rc = w == NULL ? zkr__fail(ZKR_EINVAL, "watch pause: the watch is NULL")
                       : zkr__session_check(w->session, "watch");

    if (rc == ZKR_OK)
        rc = check_pause(pause_ms);
    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(w->session);
    w->look.pause_ms = pause_ms;
    zkr__session_unlock(w->session);
    return ZKR_OK;
}

void zkr_watch_free(zkr_watch *w)
{
    if (w == NULL || zkr__session_check(w->session, "watch") != ZKR_OK)
        return;
    zkr__session_lock(w->session);
    zkr__look_stop_locked(&w->look);
    (void)zkr__dispatch_withdraw_unlocks(w->session, &w->notice);
    zkr__session_unlock(w->session);
    zkr__ref_drop(&w->ref);
}
