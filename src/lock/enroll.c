/* SPDX-License-Identifier: Apache-2.0 */
/* ENROLLING: puts a node of ours into the queue, in one flight. */
#include "lock/steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "lock/downgrade.h"
#include "session/timer_thread.h"

/* A try writes nothing when the lock is taken. */
void zkr__claim_probe(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
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

void zkr__claim_probed(struct zkr__claim *c, const struct zkr__news *news)
{
    const struct zkr__queue *queue = news->queue;
    struct zkr__nearest nearest = ZKR__NEAREST_INIT;
    int rc = news->rc;

    if (rc == ZKR_OK)
        nearest = zkr__queue_nearest(queue, ZKR__NOBODY);
    if (rc == ZKR_OK && c->recipe->waits_for(&nearest) != ZKR__NOBODY)
        busy_locked(c, queue);
    else if (rc == ZKR_OK || rc == ZKR_ZNONODE)
        zkr__claim_event_locked(c, ZKR__ON_FREE, "free");
    else
        zkr__claim_give_up_locked(c, rc, "cannot list the contenders");
}

static void draw_name(struct zkr__claim *c)
{
    struct zkr__lock *lock = c->lock;
    char uuid[ZKR__UUID_LEN + 1];
    int64_t seq;

    zkr__random_uuid(uuid);
    zkr__node_name_build(c->node->name, lock->layout, uuid,
                         c->recipe->marker[lock->layout]);
    size_t len = strlen(c->node->name);
    c->node->complete = c->beside != NULL;
    if (c->node->complete &&
        zkr__node_name_parse(c->beside->node->path, c->recipe->markers, &seq) !=
            ZKR__FOREIGN)
        (void)snprintf(c->node->name + len, ZKR__NAME_MAX - len, "%010" PRId64,
                       seq);
}

void zkr__claim_name_locked(struct zkr__claim *c)
{
    zkr__grant_watch_stop_locked(&c->grant);
    zkr__line_drop_locked(c);
    if (!c->node->may_be_more)
        draw_name(c);
}

/* Create and list are two requests in one flight: the list is answered after
 * the create, on the same connection, so it shows the queue with us in it.
 * Where nobody else has been seen, the create alone will probably do. */
static void enroll_locked(struct zkr__claim *c) ZKR__LOCKED
{
    struct zkr__line *line = c->lock->line;
    bool quiet = zkr__line_is_quiet_locked(line) && c->beside == NULL;

    zkr__line_watch_dir_locked(line);
    zkr__claim_create_locked(c);
    if (c->beside != NULL) /* its number is known, and must not be passed */
        zkr__line_join_locked(c);
    if (!quiet)
        zkr__line_ask_locked(c);
}

/* Enters the queue at its tail. */
void zkr__claim_enroll(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    if (c->beside != NULL && !zkr__claim_beside(c)->place.counts) {
        zkr__downgrade_fail_locked(c); /* the next may have the lock */
        return;
    }
    zkr__claim_name_locked(c);
    enroll_locked(c);
}

/* The number tells that nobody came in between, or else others, who came
 * before, may still be ahead. */
void zkr__claim_enrolled(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    zkr__line_join_locked(c);
    if (zkr__line_follows_locked(c) &&
        (zkr__line_ahead_locked(c) != NULL || zkr__place_is_clear_locked(c)))
        zkr__claim_event_locked(c, ZKR__ON_KNOWN,
                                "created, with the next number");
    else if (!zkr__line_is_asked_locked(c))
        zkr__claim_event_locked(c, ZKR__ON_LIST, "created");
}
