/* Guarded writes: one transaction that finds our lock node and writes. */
#include <zkrecipes/guarded.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "lock/claim_steps.h"
#include "lock/grant_parts.h"
#include "session/timer_thread.h"

/* A guarded write. It lives until it has been answered and nobody waits any
 * more. The grant may be freed before; the claim stays. */
struct guarded {
    /* set once */
    struct zkr__claim *claim;
    char *path; /* as the user gave it, and ... */
    char *full; /* ... with the chroot */
    char *data;
    zkr_guarded_fn fn; /* NULL: somebody waits */
    void *user;

    atomic_uint refs; /* the caller or the notice; the request under way */
    /* under the session lock */
    struct zkr__op op;
    struct zkr__zk_guard guard;
    struct zkr__timer timeout;
    struct zkr__notice notice;
    bool ended;
    int rc;
    char detail[ZKR__DETAIL_MAX];
    struct zkr_guarded_stat stat;
};

static void unref(struct guarded *g)
{
    if (atomic_fetch_sub(&g->refs, 1) != 1)
        return;
    zkr__claim_unref(g->claim);
    free(g->path);
    free(g->full);
    free(g->data);
    free(g);
}

/* -- the outcome ---------------------------------------------------------- */

static void end_locked(struct guarded *g, int rc, const char *why) ZKR__LOCKED
{
    struct zkr__claim *c = g->claim;

    if (g->ended)
        return;
    g->ended = true;
    g->rc = rc;
    zkr__error_format(g->detail, rc, "%s '%.150s', write to '%.150s': %s",
                      c->recipe->noun, c->lock->path, g->path, why);
    zkr__timer_thread_disarm_locked(c->session, &g->timeout);
    if (g->fn != NULL)
        zkr__dispatch_post_locked(c->session, &g->notice);
    else
        (void)pthread_cond_broadcast(&c->changed);
}

static void end_not_held_locked(struct guarded *g) ZKR__LOCKED
{
    if (g->claim->grant.sm.state == ZKR_GRANT_RELEASED)
        end_locked(g, ZKR_ENOTHELD, "the lock has been released");
    else
        end_locked(g, ZKR_ELOST, "the lock has been lost");
}

static void guard_failed_locked(struct guarded *g, int rc) ZKR__LOCKED
{
    if (rc != ZKR_ZNONODE) {
        end_locked(g, rc, "cannot read our lock node");
        return;
    }
    if (zkr__grant_is_ours(&g->claim->grant))
        zkr__claim_lost_locked(g->claim, "our node was deleted");
    end_not_held_locked(g);
}

/* Tells whether there is neither an answer nor the certainty that it was not
 * carried out. */
static bool is_unknown(const struct guarded *g, int rc)
{
    enum zkr__outcome outcome = zkr__error_outcome(rc);

    return g->op.sent != 0 && (outcome == ZKR__UNKNOWN || outcome == ZKR__OVER);
}

static bool is_answer(int rc)
{
    return rc > ZKR_EINVAL && zkr__error_outcome(rc) == ZKR__DONE;
}

static void on_answered(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct guarded *g = ZKR__CONTAINER(op, struct guarded, op);

    zkr__session_assert_locked(op->session);
    if (!is_unknown(g, reply->rc))
        zkr__claim_with_node(g->claim)->writes--;
    if (!g->ended) /* else the callback may be reading it */
        g->stat =
            (struct zkr_guarded_stat){ reply->stat.version, reply->stat.czxid,
                                       reply->stat.mzxid };
    if (reply->guard_failed)
        guard_failed_locked(g, reply->rc);
    else if (is_unknown(g, reply->rc))
        end_locked(g, ZKR_EUNKNOWN, zkr_strerror(reply->rc));
    else if (is_answer(reply->rc))
        end_locked(g, reply->rc, "refused");
    else if (op->session->over != 0)
        end_locked(g, op->session->over, "the session is over");
    else
        end_not_held_locked(g);
    unref(g);
}

static void time_out_locked(struct guarded *g) ZKR__LOCKED
{
    if (zkr__op_cancel_locked(&g->op)) {
        zkr__claim_with_node(g->claim)->writes--;
        unref(g); /* the request's */
        end_locked(g, ZKR_EUNREACHABLE, "no connection before the deadline");
    } else {
        g->op.retry = ZKR__RETRY_NEVER;
        end_locked(g, ZKR_EUNKNOWN, "no answer before the deadline");
    }
}

static void on_timeout(struct zkr__timer *timer)
{
    struct guarded *g = ZKR__CONTAINER(timer, struct guarded, timeout);

    zkr__session_assert_locked(g->op.session);
    time_out_locked(g);
}

static void run_told(struct zkr__notice *notice)
{
    struct guarded *g = ZKR__CONTAINER(notice, struct guarded, notice);
    bool was_set = g->guard.write == ZKR__ZK_SET;

    zkr__error_set_detail(g->rc == ZKR_OK ? "" : g->detail);
    g->fn(g->rc, g->rc == ZKR_OK && was_set ? &g->stat : NULL, g->user);
    unref(g);
}

/* -- the way there -------------------------------------------------------- */

struct write {
    enum zkr__zk_type type;
    const char *path;
    const void *data;
    size_t len;
    int32_t version;
    int64_t timeout_ms;
    zkr_guarded_fn fn;
    void *user;
};

static int check_write(const struct zkr__claim *c, const struct write *w)
{
    const char *fault =
        w->path == NULL ? "it is NULL" : zkr__path_fault(w->path);

    if (fault != NULL)
        return zkr__fail(w->path == NULL ? ZKR_EINVAL : ZKR_EPATH,
                         "guarded write: path '%.200s': %s",
                         w->path == NULL ? "" : w->path, fault);
    if (strlen(c->session->hosts.chroot) + strlen(w->path) > ZKR_PATH_MAX)
        return zkr__fail(ZKR_ETOOLONG,
                         "guarded write to '%.100s...': the path is longer "
                         "than %d bytes",
                         w->path, ZKR_PATH_MAX);
    if (w->data == NULL && w->len > 0)
        return zkr__fail(ZKR_EINVAL, "guarded write: data is NULL");
    if (w->len > ZKR_GUARDED_DATA_MAX)
        return zkr__fail(ZKR_ETOOLONG,
                         "guarded write to '%.200s': %zu bytes, at most %d",
                         w->path, w->len, ZKR_GUARDED_DATA_MAX);
    if (w->version < -1)
        return zkr__fail(ZKR_EINVAL, "guarded write: version is %d",
                         w->version);
    if (zkr__claim_identity(c)->cannot_guard != NULL)
        return zkr__fail(ZKR_EINVAL, "%s '%.200s': %s", c->recipe->noun,
                         c->lock->path, zkr__claim_identity(c)->cannot_guard);
    return ZKR_OK;
}

static char *full_path(const char *chroot, const char *path)
{
    return strcmp(path, "/") == 0 && chroot[0] != '\0'
               ? strdup(chroot)
               : zkr__path_join(chroot, path + 1);
}

static struct guarded *new_guarded(struct zkr__claim *c, const struct write *w)
{
    struct guarded *g = calloc(1, sizeof(*g));

    if (g == NULL)
        return NULL;
    atomic_init(&g->refs, 1);
    zkr__claim_ref(c);
    g->claim = c;
    g->fn = w->fn;
    g->user = w->user;
    zkr__op_init(&g->op, c->session);
    zkr__notice_init(&g->notice, run_told);
    g->path = strdup(w->path);
    g->full = full_path(c->session->hosts.chroot, w->path);
    g->data = malloc(w->len + 1);
    if (g->path == NULL || g->full == NULL || g->data == NULL) {
        unref(g);
        return NULL;
    }
    if (w->len > 0)
        memcpy(g->data, w->data, w->len);
    g->op.request.data = g->data;
    g->op.request.data_len = w->len;
    g->op.request.mode = ZKR__ZK_PERSISTENT;
    g->guard = (struct zkr__zk_guard){
        .path = c->node.path,
        .write = w->type,
        .version = w->version,
    };
    g->op.request.guard = &g->guard;
    return g;
}

static int check_held_locked(struct zkr_grant *grant) ZKR__LOCKED
{
    const struct zkr_session *s = zkr__grant_claim(grant)->session;

    if (grant->sm.state == ZKR_GRANT_RELEASED)
        return zkr__grant_explain(grant, ZKR_ENOTHELD);
    if (!zkr__grant_is_ours(grant))
        return zkr__grant_explain(grant, ZKR_ELOST);
    return s->over == 0 ? ZKR_OK : zkr__grant_explain(grant, s->over);
}

static void start_locked(struct guarded *g, int64_t deadline) ZKR__LOCKED
{
    (void)atomic_fetch_add(&g->refs, 1);
    zkr__claim_with_node(g->claim)->writes++;
    zkr__op_start_locked(&g->op, ZKR__ZK_GUARDED, g->full, ZKR__RETRY_UNDONE,
                         on_answered);
    if (g->fn != NULL && deadline != ZKR__NEVER)
        zkr__timer_thread_arm_locked(g->claim->session, &g->timeout, deadline,
                                     on_timeout);
}

static int wait_unlocks(struct guarded *g, int64_t deadline,
                        struct zkr_guarded_stat *ret_stat) ZKR__UNLOCKS
{
    struct zkr__claim *c = g->claim;

    while (!g->ended &&
           zkr__cond_wait(&c->changed, &c->session->lock, deadline))
        ;
    if (!g->ended)
        time_out_locked(g);
    if (g->rc != ZKR_OK)
        zkr__error_set_detail(g->detail);
    else if (ret_stat != NULL)
        *ret_stat = g->stat;
    return g->rc;
}

static int write_unlocks(struct zkr_grant *grant, struct guarded *g,
                         int64_t timeout_ms,
                         struct zkr_guarded_stat *ret_stat) ZKR__UNLOCKS
{
    struct zkr_session *s = g->claim->session;
    int64_t deadline = zkr__clock_deadline(
        timeout_ms == 0 ? s->opts.reply_timeout_ms : timeout_ms);
    int rc = check_held_locked(grant);

    if (rc == ZKR_OK && g->fn == NULL && zkr__dispatch_inside_locked(s))
        rc = zkr__fail(ZKR_EDEADLK, "a callback cannot wait for a write");
    if (rc != ZKR_OK)
        return rc;
    start_locked(g, deadline);
    return g->fn == NULL ? wait_unlocks(g, deadline, ret_stat) : ZKR_OK;
}

static int write_guarded(struct zkr_grant *grant, const struct write *w,
                         struct zkr_guarded_stat *ret_stat)
{
    struct guarded *g;
    int rc = zkr__grant_check_handle(grant);

    if (rc != ZKR_OK)
        return rc;
    rc = check_write(zkr__grant_claim(grant), w);
    if (rc != ZKR_OK)
        return rc;
    g = new_guarded(zkr__grant_claim(grant), w);
    if (g == NULL)
        return zkr__fail(ZKR_ENOMEM, "guarded write: out of memory");
    zkr__session_lock(g->claim->session);
    rc = write_unlocks(grant, g, w->timeout_ms, ret_stat);
    zkr__session_unlock(g->claim->session);
    if (w->fn == NULL || rc != ZKR_OK)
        unref(g);
    return rc;
}

static int write_async(struct zkr_grant *grant, const struct write *w)
{
    if (w->fn == NULL)
        return zkr__fail(ZKR_EINVAL, "guarded write: the callback is NULL");
    return write_guarded(grant, w, NULL);
}

int zkr_grant_guarded_set(zkr_grant *grant, const char *path, const void *data,
                          size_t len, int32_t version, int64_t timeout_ms,
                          struct zkr_guarded_stat *ret_stat)
{
    return write_guarded(grant,
                         &(struct write){ ZKR__ZK_SET, path, data, len, version,
                                          timeout_ms, NULL, NULL },
                         ret_stat);
}

int zkr_grant_guarded_create(zkr_grant *grant, const char *path,
                             const void *data, size_t len, int64_t timeout_ms)
{
    return write_guarded(grant,
                         &(struct write){ ZKR__ZK_CREATE, path, data, len, -1,
                                          timeout_ms, NULL, NULL },
                         NULL);
}

int zkr_grant_guarded_delete(zkr_grant *grant, const char *path,
                             int32_t version, int64_t timeout_ms)
{
    return write_guarded(grant,
                         &(struct write){ ZKR__ZK_DELETE, path, NULL, 0,
                                          version, timeout_ms, NULL, NULL },
                         NULL);
}

int zkr_grant_guarded_set_async(zkr_grant *grant, const char *path,
                                const void *data, size_t len, int32_t version,
                                int64_t timeout_ms, zkr_guarded_fn fn,
                                void *user)
{
    return write_async(grant, &(struct write){ ZKR__ZK_SET, path, data, len,
                                               version, timeout_ms, fn, user });
}

int zkr_grant_guarded_create_async(zkr_grant *grant, const char *path,
                                   const void *data, size_t len,
                                   int64_t timeout_ms, zkr_guarded_fn fn,
                                   void *user)
{
    return write_async(grant, &(struct write){ ZKR__ZK_CREATE, path, data, len,
                                               -1, timeout_ms, fn, user });
}

int zkr_grant_guarded_delete_async(zkr_grant *grant, const char *path,
                                   int32_t version, int64_t timeout_ms,
                                   zkr_guarded_fn fn, void *user)
{
    return write_async(grant, &(struct write){ ZKR__ZK_DELETE, path, NULL, 0,
                                               version, timeout_ms, fn, user });
}
