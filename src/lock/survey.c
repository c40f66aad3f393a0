/* SPDX-License-Identifier: Apache-2.0 */
/* SURVEYING: asks for a list of the queue, and finds the contender that we wait
 * for. */
#include "lock/steps.h"

#include "base/error.h"
#include "base/path.h"
#include "lock/downgrade.h"
#include "lock/heartbeat.h"
#include "session/timer_thread.h"

/* A claim that has waited for long has sent no write for long, and so would be
 * granted the lock without a lease. So a write goes with the list, and is
 * answered before it; one for all who share the list. */
static void confirm_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (zkr__list_empty(&c->lock->line->next) &&
        zkr__heartbeat_wants_write(c->session))
        zkr__confirm_start_locked(c, ZKR__RETRY_NEVER);
}

void zkr__claim_list(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    confirm_locked(c);
    zkr__line_ask_locked(c);
}

/* -- what it shows -------------------------------------------------------- */

/* One of ours is ahead. */
static void behind_locked(struct zkr__claim *c, const char *name) ZKR__LOCKED
{
    if (c->intent != ZKR__WAIT)
        zkr__claim_give_up_locked(c, ZKR_EBUSY, "'%s' of this session is ahead",
                                  name);
    else
        zkr__claim_event_locked(c, ZKR__ON_BEHIND, "one of ours is ahead");
}

static void ahead_locked(struct zkr__claim *c, const char *name) ZKR__LOCKED
{
    zkr__claim_news_locked(c, ZKR__ON_AHEAD,
                           &(struct zkr__news){ .why = name, .name = name });
}

static void conflict_locked(struct zkr__claim *c,
                            const struct zkr__contender *ahead) ZKR__LOCKED
{
    if (zkr__claim_asked_for(c, ahead->name)) /* created later than we knew */
        zkr__claim_event_locked(c, ZKR__ON_ITSELF,
                                "we would wait for ourselves");
    else if (ahead->ours)
        behind_locked(c, ahead->name);
    else if (c->intent != ZKR__WAIT)
        zkr__claim_give_up_locked(c, ZKR_EBUSY, "'%s' is ahead", ahead->name);
    else
        ahead_locked(c, ahead->name);
}

/* Tells whether nobody is ahead when that one has gone. A writer of another
 * session can put a reader at its place before it goes; that matters to those
 * who wait for readers. */
static bool is_only_one(const struct zkr__claim *c, struct zkr__queue *queue,
                        size_t self, size_t ahead)
{
    struct zkr__contender *it = &queue->all[ahead];

    if (it->ours || (it->kind == ZKR__EXCLUSIVE &&
                     c->place.kind == ZKR__EXCLUSIVE && c->recipe->has_readers))
        return false;
    it->left_out = true;
    struct zkr__nearest nearest = zkr__queue_nearest(queue, self);
    it->left_out = false;
    return c->recipe->waits_for(&nearest) == ZKR__NOBODY;
}

static void survey_locked(struct zkr__claim *c, struct zkr__queue *queue,
                          size_t self, bool ghosts) ZKR__LOCKED
{
    struct zkr__nearest nearest = zkr__queue_nearest(queue, self);
    size_t ahead = c->recipe->waits_for(&nearest);
    const struct zkr__claim *beside =
        ahead == ZKR__NOBODY ? zkr__line_beside_ahead_locked(c) : NULL;

    zkr__place_see_locked(c, queue, self);
    zkr__grant_watch_counts_locked(&c->grant);
    if (ghosts) /* what only we leave out is no knowledge of the line */
        c->place.generation = ZKR__NEVER_SEEN;
    if (ahead != ZKR__NOBODY) {
        c->place.only = is_only_one(c, queue, self, ahead);
        conflict_locked(c, &queue->all[ahead]);
    } else if (beside != NULL) { /* its node came after the list */
        behind_locked(c, beside->node->name);
    } else if (ghosts) {
        zkr__claim_event_locked(c, ZKR__ON_UNPROVEN, "first, but for ghosts");
    } else {
        zkr__claim_event_locked(c, ZKR__ON_TURN, "first");
    }
}

/* A node at the place of another that we have counts only if the other was
 * still there when ours had been created, so that nobody was granted in
 * between. */
void zkr__claim_judge_queue(struct zkr__claim *c, struct zkr__queue *queue)
{
    size_t self = zkr__queue_find(queue, zkr__path_name(c->node->path));
    bool ghosts = zkr__ghosts_leave_out_locked(c, queue, true);
    size_t beside = zkr__downgrade_leave_out(c, queue, true);

    if (self == ZKR__NOBODY)
        zkr__claim_event_locked(c, ZKR__ON_AGAIN, "our node was deleted");
    else if (c->beside != NULL && beside == ZKR__NOBODY)
        zkr__downgrade_fail_locked(c);
    else if (!zkr__claim_is_exhausted_locked(c))
        survey_locked(c, queue, self, ghosts);
    (void)zkr__downgrade_leave_out(c, queue, false);
    (void)zkr__ghosts_leave_out_locked(c, queue, false);
}

void zkr__claim_survey(struct zkr__claim *c, const struct zkr__news *news)
{
    int rc = news->rc;

    if (rc == ZKR_OK)
        c->way->judge(c, news->queue);
    else if (rc == ZKR_ZNONODE)
        zkr__claim_event_locked(c, ZKR__ON_AGAIN, "directory gone");
    else
        zkr__claim_give_up_locked(c, rc, "cannot list the contenders");
}

/* While ENROLLING, a list that failed is asked for once more. It may fail
 * before the create is answered, when the client refuses it; then the answer to
 * the create asks. */
void zkr__claim_survey_early(struct zkr__claim *c, const struct zkr__news *news)
{
    struct zkr__news shown = { .why = "created and listed",
                               .queue = news->queue };

    if (c->own.op.where != ZKR__OP_IDLE)
        return;
    if (news->rc == ZKR_OK)
        zkr__claim_news_locked(c, ZKR__ON_SHOWN, &shown);
    else
        zkr__claim_event_locked(c, ZKR__ON_LIST, "created");
}

/* The number of our node has told enough. */
void zkr__claim_survey_known(struct zkr__claim *c, const struct zkr__news *news)
{
    const struct zkr__claim *ahead = zkr__line_ahead_locked(c);

    (void)news;
    if (zkr__claim_is_exhausted_locked(c))
        ;
    else if (ahead != NULL)
        behind_locked(c, zkr__path_name(ahead->node->path));
    else
        zkr__claim_event_locked(c, ZKR__ON_TURN, "nobody is ahead");
    if (ahead != NULL) /* it may be one that watches its own node */
        zkr__line_advance_locked(c->lock->line);
}

/* Who has the lock may ask who else is in the queue. */
void zkr__claim_survey_held(struct zkr__claim *c, const struct zkr__news *news)
{
    const struct zkr__queue *queue = news->queue;
    int what = news->rc;

    if (what == ZKR_OK)
        what = (int)queue->count -
               (zkr__queue_find(queue, zkr__path_name(c->node->path)) !=
                ZKR__NOBODY);
    zkr__role_tell_locked(c, ZKR__ROLE_LISTED, what);
}

void zkr__claim_stop_surveying(struct zkr__claim *c)
{
    zkr__line_unask_locked(c);
    (void)zkr__op_cancel_locked(&c->confirm);
}
