/* SPDX-License-Identifier: Apache-2.0 */
/* Releases a lock: now, later, or by freeing the grant; one, or several that
 * were granted together. */

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "lock/holds.h"

/* The result of the release, with its sentence. */
static int explain_release(const struct zkr_grant *g,
                           const struct zkr__claim *c)
{
    return g->released == ZKR_OK
               ? ZKR_OK
               : zkr__fail(g->released, "%s '%s': cannot delete '%s'",
                           c->recipe->noun, c->lock->path, c->node->path);
}

static void run_released(struct zkr__notice *notice)
{
    struct zkr_grant *g =
        ZKR__CONTAINER(notice, struct zkr_grant, release_notice);

    zkr__error_set_detail("");
    g->release_fn(explain_release(g, zkr__grant_claim(g)), g->release_user);
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

bool zkr__hold_is_mine_locked(const struct zkr__claim *c)
{
    return !c->lock->reentrant || c->owner == 0 ||
           (c->owner & ZKR__OWNER_NAMED) != 0 ||
           c->owner == zkr__thread_number();
}

bool zkr__hold_drop_locked(struct zkr__claim *c)
{
    if (c->hold.depth > 0 && --c->hold.depth > 0)
        return false;
    zkr__list_remove(&c->hold.link);
    return true;
}

/* Returns ZKR_OK when one acquire may be taken back. A lost one is taken back
 * here, and is an error. */
static int check_release_locked(struct zkr_grant *g, bool waits) ZKR__LOCKED
{
    struct zkr__claim *c = zkr__grant_claim(g);

    if (!zkr__hold_is_mine_locked(c))
        return zkr__grant_explain(g, ZKR_ENOTOWNER);
    if (g->sm.state == ZKR_GRANT_RELEASED)
        return zkr__grant_explain(g, ZKR_ENOTHELD);
    if (g->sm.state == ZKR_GRANT_LOST) {
        (void)zkr__hold_drop_locked(c);
        return zkr__grant_explain(g, ZKR_ELOST);
    }
    if (waits && c->hold.depth == 1 && zkr__session_is_outside(c->session) &&
        zkr__dispatch_inside_locked(c->session))
        return zkr__fail(ZKR_EDEADLK, "a callback cannot wait for a release");
    return ZKR_OK;
}

static int await_release_unlocks(struct zkr_grant *g,
                                 int64_t since) ZKR__UNLOCKS
{
    struct zkr__claim *c = zkr__grant_claim(g);
    struct zkr_session *s = c->session;
    int64_t deadline = since + s->opts.reply_timeout_ms * ZKR__MS;

    while (!g->left && zkr__cond_wait(&c->changed, &s->lock, deadline))
        ;
    if (!g->left)
        return zkr__reason_explain_locked(
            s, zkr__fail(ZKR_EPENDING, "%s '%s': no answer to the delete yet",
                         c->recipe->noun, c->lock->path));
    return explain_release(g, c);
}

void zkr__claim_release_locked(struct zkr__claim *c)
{
    zkr__grant_end_locked(&c->grant, ZKR_GRANT_RELEASED);
    zkr__claim_event_locked(c, ZKR__ON_RELEASE, "released");
}

/* zkr_grant_release() in two steps. Sends the delete, if that was the last
 * acquire of its owner. */
static int release_begin(struct zkr_grant *g)
{
    int rc = zkr__grant_check_handle(g);

    if (rc != ZKR_OK)
        return rc;
    zkr__grant_lock(g);
    rc = check_release_locked(g, true);
    if (rc == ZKR_OK && zkr__hold_drop_locked(zkr__grant_claim(g)))
        zkr__claim_release_locked(zkr__grant_claim(g));
    zkr__grant_unlock(g);
    return rc;
}

/* Waits for the answer, if it was the last. */
static int release_end(struct zkr_grant *g, int64_t since)
{
    int rc = zkr__grant_check_handle(g);

    if (rc != ZKR_OK)
        return rc;
    zkr__grant_lock(g);
    if (g->sm.state == ZKR_GRANT_RELEASED)
        rc = await_release_unlocks(g, since);
    zkr__grant_unlock(g);
    return rc;
}

int zkr_grant_release(zkr_grant *g)
{
    int64_t since = zkr__clock_now();
    int rc = release_begin(g);

    return rc == ZKR_OK ? release_end(g, since) : rc;
}

int zkr_grant_release_async(zkr_grant *g, zkr_release_fn fn, void *user)
{
    int rc = zkr__grant_check_handle(g);

    if (rc != ZKR_OK)
        return rc;
    zkr__grant_lock(g);
    struct zkr__claim *c = zkr__grant_claim(g);
    rc = check_release_locked(g, false);
    if (rc == ZKR_OK && zkr__hold_drop_locked(c)) {
        g->release_fn = fn;
        g->release_user = user;
        zkr__claim_release_locked(c);
    }
    zkr__grant_unlock(g);
    return rc;
}

/* Returns true when that was the last handle. */
static bool drop_handle_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (--c->hold.handles == 0)
        return true;
    if (c->hold.depth > c->hold.handles)
        (void)zkr__hold_drop_locked(c);
    return false;
}

static void end_hold_locked(struct zkr__claim *c) ZKR__LOCKED
{
    c->hold.depth = 0;
    zkr__list_remove(&c->hold.link);
}

static void release_ours_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (zkr__grant_is_ours(&c->grant))
        zkr__claim_release_locked(c);
}

void zkr__grant_free_locked(struct zkr_grant *g)
{
    struct zkr__claim *c = zkr__grant_claim(g);

    if (!drop_handle_locked(c))
        return;
    end_hold_locked(c);
    c->unused = zkr__grant_is_ours(&c->grant);
    release_ours_locked(c);
    zkr__claim_unref(c);
}

void zkr_grant_free(zkr_grant *g)
{
    bool was_due = false;

    if (g == NULL || zkr__grant_check_handle(g) != ZKR_OK)
        return;
    zkr__grant_lock(g);
    struct zkr__claim *c = zkr__grant_claim(g);
    bool last = drop_handle_locked(c);
    if (last) {
        end_hold_locked(c);
        was_due = zkr__dispatch_withdraw_unlocks(c->session, &g->notice);
        g->fn = NULL;
        release_ours_locked(c);
    }
    zkr__grant_unlock(g);
    if (was_due)
        zkr__claim_unref(c);
    if (last)
        zkr__claim_unref(c);
}

/* -- several grants -------------------------------------------------------- */

static int check_array(zkr_grant *const *grants, size_t count)
{
    return grants == NULL && count > 0
               ? zkr__fail(ZKR_EINVAL, "the array of grants is NULL")
               : ZKR_OK;
}

int zkr_grants_check(zkr_grant *const *grants, size_t count)
{
    int rc = check_array(grants, count);

    for (size_t i = 0; i < count && rc == ZKR_OK; i++)
        rc = zkr_grant_check(grants[i]);
    return rc;
}

/* The first error, with its sentence. */
struct first {
    int rc;
    char detail[ZKR__DETAIL_MAX];
};

static void note(struct first *first, int rc)
{
    if (first->rc != ZKR_OK || rc == ZKR_OK)
        return;
    first->rc = rc;
    (void)snprintf(first->detail, sizeof(first->detail), "%s",
                   zkr_error_detail());
}

/* All deletes are one flight. */
int zkr_grants_release(zkr_grant *const *grants, size_t count)
{
    struct first first = { .rc = ZKR_OK };
    int64_t since = zkr__clock_now();
    int rc = check_array(grants, count);

    if (rc != ZKR_OK)
        return rc;
    for (size_t i = count; i-- > 0;)
        note(&first, release_begin(grants[i]));
    for (size_t i = count; i-- > 0;)
        note(&first, release_end(grants[i], since));
    if (first.rc != ZKR_OK)
        zkr__error_set_detail(first.detail);
    return first.rc;
}

void zkr_grants_free(zkr_grant **grants, size_t count)
{
    for (size_t i = grants == NULL ? 0 : count; i-- > 0;) {
        zkr_grant_free(grants[i]);
        grants[i] = NULL;
    }
}
