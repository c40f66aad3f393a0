/* SPDX-License-Identifier: Apache-2.0 */
/* LEAVING: deletes our node, and goes on until it is certainly gone. */
#include "lock/steps.h"

#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "lock/count.h"
#include "lock/leftover.h"
#include "session/timer_thread.h"

void zkr__claim_leave_again(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    if (c->own.op.where != ZKR__OP_IDLE)
        return;
    zkr__timer_thread_disarm_locked(c->session, &c->later);
    zkr__sweep_again_locked(&c->own.sweep);
}

/* Other claims cannot take its node for theirs. Those of the line must wait for
 * it, as those of other sessions do, so they have to list. */
static void try_later_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (!c->place.stuck)
        zkr__count_refusal_locked(c);
    zkr__line_stick_locked(c);
    zkr__claim_put_off_locked(
        c, zkr__clock_deadline(c->session->opts.session_timeout_ms));
    zkr__cond_wake(&c->changed);
}

/* When the session is over the node is gone, or the server will remove it. A
 * refusal is told to who waits for the release, and is not the end: ACLs
 * change. */
static void on_swept(struct zkr__sweep *sweep, int rc)
{
    struct zkr__claim *c = ZKR__CONTAINER(sweep, struct zkr__claim, own.sweep);

    zkr__session_assert_locked(c->session);
    if (zkr__error_outcome(rc) == ZKR__OVER) {
        zkr__leftover_add_locked(c, 0);
        rc = ZKR_OK;
    } else if (rc == ZKR_ZCLOSING)
        rc = c->session->told_server ? ZKR_OK : ZKR_EPENDING;
    if (!c->grant.left) {
        zkr__grant_left_locked(&c->grant, rc);
        zkr__role_tell_locked(c, ZKR__ROLE_LEFT, rc);
    }
    if (rc != ZKR_OK && c->session->over == 0)
        try_later_locked(c);
    else
        zkr__claim_event_locked(c, ZKR__ON_END, "left");
}

static void seek(struct zkr__sweep *sweep)
{
    const struct zkr__claim *c =
        ZKR__CONTAINER(sweep, struct zkr__claim, own.sweep);

    c->way->seek(c, &sweep->search);
}

/* A request of RECOVERING must be answered first: that calls this again. */
void zkr__claim_leave(struct zkr__claim *c, const struct zkr__news *news)
{
    struct zkr__sweep *sweep = &c->own.sweep;

    (void)news;
    if (c->own.op.where != ZKR__OP_IDLE)
        return;
    if (c->grant.own != NULL)
        zkr__grant_watch_stop_locked(&c->grant);
    zkr__sweep_init(sweep, c->session, &c->ref);
    sweep->seek = seek;
    if (c->grant.sm.state == ZKR_GRANT_RELEASED && !c->unused)
        sweep->search.op.class = ZKR__OP_RELEASES;
    sweep->retry = c->way->has_own_path ? ZKR__RETRY_ALWAYS : ZKR__RETRY_NEVER;
    sweep->node = strcpy(c->own.path, c->node->path);
    sweep->node_size = c->node->path_size;
    sweep->may_be_more = c->node->may_be_more;
    zkr__sweep_start_locked(sweep, on_swept);
    /* (5) of the theorem of the line: a guarded write that is applied late must
     * not find our node when the next one has been granted the lock. */
    if (c->writes == 0)
        zkr__line_leave_locked(c);
}

void zkr__claim_withdraw(struct zkr__claim *c, const struct zkr__news *news)
{
    bool any = c->node->path[0] != '\0' || c->node->may_be_more;

    zkr__claim_event_locked(c, any ? ZKR__ON_LEAVE : ZKR__ON_END, news->why);
}

/* It is in no list any more, and nothing of it is under way. */
void zkr__claim_end(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    zkr__line_drop_locked(c);
    if (zkr__list_empty(&c->link))
        return;
    zkr__list_remove(&c->link);
    c->session->claims--;
    zkr__list_remove(&c->of_line);
    zkr__list_remove(&c->of_lock);
    zkr__ref_drop(&c->lock->line->ref);
    zkr__cond_wake(&c->changed);
    zkr__claim_unref(c);
}
