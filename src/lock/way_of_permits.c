/* SPDX-License-Identifier: Apache-2.0 */
/* The way of the permits of a semaphore: a claim makes a node, and counts those
 * ahead of it. */
#include "lock/steps.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/path.h"

/* The creates of an acquire and one list are one flight. */
static void enter(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    zkr__session_assert_locked(c->session);
    zkr__claim_name_locked(c);
    zkr__claim_create_locked(c);
    zkr__line_ask_locked(c);
}

static void wait(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    zkr__session_assert_locked(c->session);
    if (!zkr__line_is_asked_locked(c))
        zkr__line_ask_locked(c);
}

static void created(struct zkr__claim *c, const struct zkr__news *news)
{
    zkr__session_assert_locked(c->session);
    zkr__line_join_locked(c);
    wait(c, news);
}

static void busy_locked(struct zkr__claim *c, const struct zkr__queue *queue,
                        size_t self, size_t ahead) ZKR__LOCKED
{
    const char *first = queue->all[self == 0 ? ahead : 0].name;

    zkr__claim_give_up_locked(
        c, ZKR_EBUSY, "the limit is %" PRIu32 ", and %zu are ahead%s%.80s%s",
        c->lock->limit, ahead + queue->foreign, ahead == 0 ? "" : ", first '",
        ahead == 0 ? "" : first, ahead == 0 ? "" : "'");
}

/* Foreign children count as ahead: for Curator they take a permit, too. */
static void count_locked(struct zkr__claim *c,
                         struct zkr__queue *queue) ZKR__LOCKED
{
    size_t self = zkr__queue_find(queue, zkr__path_name(c->node->path));
    size_t ahead = self == ZKR__NOBODY ? 0 : zkr__queue_ahead(queue, self);

    if (self == ZKR__NOBODY)
        zkr__claim_event_locked(c, ZKR__ON_AGAIN, "our node was deleted");
    else if (zkr__claim_is_exhausted_locked(c))
        ;
    else if (ahead + queue->foreign < c->lock->limit)
        zkr__claim_event_locked(c, ZKR__ON_TURN, "a permit is free");
    else if (c->intent != ZKR__WAIT)
        busy_locked(c, queue, self, ahead);
    else if (!zkr__line_wait_locked(c, true))
        zkr__claim_give_up_locked(c, ZKR_ENOMEM, "out of memory");
}

static void hindrance(const struct zkr__claim *c, char *text)
{
    (void)snprintf(text, ZKR__HINDRANCE_MAX,
                   ", waiting for one of %" PRIu32 " in '%.150s'",
                   c->lock->limit, c->lock->dir);
}

/* clang-format off */
static const struct zkr__reaction reactions[ZKR__CLAIM_STATES][ZKR__EVENTS] = {
    ZKR__MOVES(IDLE,       ACQUIRE,   ENROLLING,  enter),
    ZKR__MOVES(IDLE,       TRY,       ENROLLING,  enter),

    ZKR__MOVES(ENROLLING,  CREATED,   WAITING,    created),
    ZKR__MOVES(RECOVERING, FOUND,     WAITING,    wait),
    ZKR__CALLS(WAITING,    LISTED,    zkr__claim_survey),

    ZKR__WITH_ITS_OWN_NAME(enter),
};
/* clang-format on */

const struct zkr__way zkr__among_a_few = {
    .seek = zkr__seek_by_name,
    .has_own_path = true,
    .reactions = reactions,
    .judge = count_locked,
    .exits = { [ZKR__CLAIM_RECOVERING] = zkr__claim_stop_recovering,
               [ZKR__CLAIM_WAITING] = zkr__line_unask_locked,
               [ZKR__CLAIM_PROVING] = zkr__claim_stop_proving,
               [ZKR__CLAIM_HELD] = zkr__claim_stop_holding },
    .hindrance = hindrance,
};
