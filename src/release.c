/* Giving a lock back: now, later, or by freeing the grant. */
#include "grant_parts.h"

#include "error.h"

static void run_released(struct zkr__notice *notice)
{
    struct zkr_grant *g =
        ZKR__CONTAINER(notice, struct zkr_grant, release_notice);

    g->release_fn(g->released, g->release_user);
    zkr__claim_unref(zkr__grant_claim(g));
}

void zkr__release_init(struct zkr_grant *g)
{
    zkr__notice_init(&g->release_notice, run_released);
}

void zkr__grant_left_locked(struct zkr_grant *g, int rc)
{
    g->left = true;
    g->released = rc;
    if (g->release_fn != NULL) {
        zkr__claim_ref(zkr__grant_claim(g));
        zkr__dispatch_post_locked(zkr__grant_claim(g)->session,
                                  &g->release_notice);
    }
}

static int begin_release_locked(struct zkr_grant *g)
{
    if (g->sm.state == ZKR_GRANT_LOST)
        return zkr__grant_explain(g, ZKR_ELOST);
    if (g->sm.state == ZKR_GRANT_RELEASED)
        return zkr__grant_explain(g, ZKR_ENOTHELD);
    zkr__claim_release_locked(zkr__grant_claim(g));
    return ZKR_OK;
}

static int await_release_unlocks(struct zkr_grant *g)
{
    struct zkr__claim *c = zkr__grant_claim(g);
    struct zkr_session *s = c->session;
    int64_t deadline = zkr__clock_deadline(s->opts.reply_timeout_ms);

    while (!g->left && zkr__cond_wait(&c->changed, &s->lock, deadline))
        ;
    if (!g->left)
        return zkr__fail(ZKR_EPENDING, "%s '%s': no answer to the delete yet",
                         c->recipe->noun, c->lock->path);
    return g->released == ZKR_OK
               ? ZKR_OK
               : zkr__fail(g->released, "%s '%s': cannot delete '%s'",
                           c->recipe->noun, c->lock->path, c->node);
}

int zkr_grant_release(zkr_grant *g)
{
    int rc = zkr__grant_enter(g);

    if (rc != ZKR_OK)
        return rc;
    if (zkr__dispatch_inside_locked(zkr__grant_claim(g)->session))
        rc = zkr__fail(ZKR_EDEADLK, "a callback cannot wait for a release");
    else
        rc = begin_release_locked(g);
    if (rc == ZKR_OK)
        rc = await_release_unlocks(g);
    zkr__grant_leave(g);
    return rc;
}

int zkr_grant_release_async(zkr_grant *g, zkr_release_fn fn, void *user)
{
    int rc = zkr__grant_enter(g);

    if (rc != ZKR_OK)
        return rc;
    if (zkr__grant_is_ours(g)) {
        g->release_fn = fn;
        g->release_user = user;
    }
    rc = begin_release_locked(g);
    zkr__grant_leave(g);
    return rc;
}

void zkr_grant_free(zkr_grant *g)
{
    bool was_due;

    if (g == NULL || zkr__grant_enter(g) != ZKR_OK)
        return;
    was_due = zkr__dispatch_withdraw_unlocks(zkr__grant_claim(g)->session,
                                             &g->notice);
    g->fn = NULL;
    if (zkr__grant_is_ours(g))
        zkr__claim_release_locked(zkr__grant_claim(g));
    zkr__grant_leave(g);
    if (was_due)
        zkr__claim_unref(zkr__grant_claim(g));
    zkr__claim_unref(zkr__grant_claim(g));
}
