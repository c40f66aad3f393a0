/* SPDX-License-Identifier: Apache-2.0 */
/* ENROLLING: puts a node of ours into the queue, in one flight. */
#include "lock/claim_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "lock/downgrade.h"
#include "lock/grant_parts.h"
#include "session/timer_thread.h"

static void enroll_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED;

/* A try writes nothing when the lock is taken. */
static void probe_locked(struct zkr__claim *c) ZKR__LOCKED
{
    zkr__claim_move_locked(c, ZKR__CLAIM_PROBING, "try");
    zkr__line_ask_locked(c);
}

/* The first of those that conflict has the lock, or is the next to have it. */
static const struct zkr__contender *holder(const struct zkr__claim *c,
                                           const struct zkr__queue *queue)
{
    size_t i;

    for (i = 0; i < queue->count; i++) {
        struct zkr__nearest nearest = ZKR__NEAREST_INIT;

        zkr__nearest_pass(&nearest, i, queue->all[i].kind);
        if (c->recipe->waits_for(&nearest) != ZKR__NOBODY)
            break;
    }
    return &queue->all[i];
}

static void busy_locked(struct zkr__claim *c,
                        const struct zkr__queue *queue) ZKR__LOCKED
{
    const struct zkr__contender *it = holder(c, queue);

    zkr__claim_give_up_locked(c, ZKR_EBUSY, "is %s by '%s'%s",
                              it == queue->all ? "held" : "wanted", it->name,
                              it->ours ? " of this session" : "");
}

void zkr__claim_probed_locked(struct zkr__claim *c, int rc,
                              const struct zkr__queue *queue)
{
    struct zkr__nearest nearest = ZKR__NEAREST_INIT;

    if (rc == ZKR_OK)
        nearest = zkr__queue_nearest(queue, ZKR__NOBODY);
    if (rc == ZKR_OK && c->recipe->waits_for(&nearest) != ZKR__NOBODY)
        busy_locked(c, queue);
    else if (rc == ZKR_OK || rc == ZKR_ZNONODE)
        zkr__claim_enter_locked(c, "free");
    else
        zkr__claim_give_up_locked(c, rc, "cannot list the contenders");
}

static void draw_name(struct zkr__claim *c)
{
    struct zkr__lock *lock = c->lock;
    char uuid[ZKR__UUID_LEN + 1];
    int64_t seq;
    size_t len;

    zkr__random_uuid(uuid);
    zkr__node_name_build(c->node.name, lock->layout, uuid,
                         c->recipe->marker[lock->layout]);
    len = strlen(c->node.name);
    c->node.complete = c->beside != NULL;
    if (c->node.complete &&
        zkr__node_name_parse(c->beside->node.path, c->recipe->markers, &seq) !=
            ZKR__FOREIGN)
        (void)snprintf(c->node.name + len, ZKR__NAME_MAX - len, "%010" PRId64,
                       seq);
}

void zkr__claim_name_locked(struct zkr__claim *c)
{
    zkr__grant_watch_stop_locked(&c->grant);
    zkr__line_drop_locked(c);
    if (c->node.thorough && c->epoch == c->session->epoch)
        return;
    draw_name(c);
    c->epoch = c->session->epoch;
    c->node.thorough = false;
}

/* Enters the queue at its tail. */
void zkr__claim_enter_locked(struct zkr__claim *c, const char *why)
{
    if (zkr__claim_in_state(c, ZKR__CLAIM_IDLE) && c->intent == ZKR__TRY) {
        probe_locked(c);
        return;
    }
    if (c->beside != NULL && !zkr__claim_beside(c)->place.counts) {
        zkr__downgrade_fail_locked(c); /* the next may have the lock */
        return;
    }
    zkr__claim_name_locked(c);
    enroll_locked(c, why);
}

/* Create and list are two requests in one flight: the list is answered after
 * the create, on the same connection, so it shows the queue with us in it.
 * Where nobody else has been seen, the create alone will probably do. */
static void enroll_locked(struct zkr__claim *c, const char *why)
{
    struct zkr__line *line = c->lock->line;
    bool quiet = zkr__line_is_quiet_locked(line) && c->beside == NULL;

    zkr__line_look_locked(line);
    zkr__claim_create_locked(c, why);
    if (c->beside != NULL) /* its number is known, and must not be passed */
        zkr__line_join_locked(c);
    if (!quiet)
        zkr__line_ask_locked(c);
}

/* The number tells that nobody came in between. Returns false when others, who
 * came before, may still be ahead. */
static bool follow_locked(struct zkr__claim *c) ZKR__LOCKED
{
    const struct zkr__claim *ahead = zkr__line_ahead_locked(c);

    if (ahead == NULL && !zkr__place_is_clear_locked(c))
        return false;
    zkr__line_unask_locked(c);
    zkr__claim_move_locked(c, ZKR__CLAIM_SURVEYING,
                           "created, with the next number");
    if (zkr__claim_is_exhausted_locked(c))
        zkr__claim_exhaust_locked(c);
    else if (ahead != NULL)
        zkr__claim_wait_behind_locked(c, zkr__path_name(ahead->node.path));
    else
        zkr__claim_turn_locked(c, "nobody is ahead");
    if (ahead != NULL) /* it may be one that watches its own node */
        zkr__line_advance_locked(c->lock->line);
    return true;
}

static void created_locked(struct zkr__claim *c) ZKR__LOCKED
{
    zkr__line_join_locked(c);
    if (zkr__line_follows_locked(c) && follow_locked(c))
        return;
    if (!zkr__line_is_asked_locked(c))
        zkr__claim_list_locked(c, "created");
}

void zkr__claim_enrolled_locked(struct zkr__claim *c)
{
    enum zkr__create_outcome outcome = zkr__claim_judge_create_locked(c);

    if (outcome != ZKR__CREATED)
        zkr__line_unask_locked(c);
    switch (outcome) {
    case ZKR__CREATE_SEEN_TO:
        break;
    case ZKR__CREATE_UNKNOWN:
        zkr__claim_recover_locked(c, "outcome of create unknown");
        break;
    case ZKR__CREATE_EXISTS:
        zkr__claim_recover_locked(c, "an earlier create was carried out late");
        break;
    case ZKR__CREATED:
        created_locked(c);
        break;
    }
}

/* While ENROLLING, a create that has been sent must be answered first. */
void zkr__claim_stop_enrolling_locked(struct zkr__claim *c)
{
    zkr__line_unask_locked(c);
    (void)zkr__op_cancel_locked(&c->own.op);
    if (c->own.op.where == ZKR__OP_IDLE)
        zkr__claim_withdraw_locked(c);
}
