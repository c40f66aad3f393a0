/* SPDX-License-Identifier: Apache-2.0 */
/* The way of the unfair mutex: one node, which a claim creates, or watches.
 *
 * The name says nothing about the owner. A node is ours if our session made it
 * and its data has the number of our claim. After an unknown outcome it is also
 * ours if somebody else has replaced its data, and no claim of the session
 * knows the node. */
#include <string.h>

#include "base/error.h"
#include "lock/rival.h"
#include "lock/steps.h"

/* A try waits, too, when the node may be its own. */
static void exists(struct zkr__claim *c, const struct zkr__news *news)
{
    zkr__session_assert_locked(c->session);
    if (c->intent != ZKR__WAIT && !c->node->thorough)
        zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held by '%s'",
                                  c->node->request_path);
    else
        zkr__claim_event_locked(c, ZKR__ON_AHEAD, news->why);
}

static void take(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    zkr__session_assert_locked(c->session);
    c->node->complete = true;
    (void)strcpy(c->node->name, ZKR__UNFAIR_NAME);
    zkr__claim_create_locked(c);
}

static void busy_locked(struct zkr__claim *c) ZKR__LOCKED
{
    char text[ZKR__RIVAL_MAX];

    zkr__rival_describe(c->wait.rival, text);
    zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held by '%s'%s",
                              c->node->request_path, text);
}

static void read(struct zkr__claim *c, const struct zkr__news *news)
{
    zkr__session_assert_locked(c->session);
    if (zkr__by_data_is_ours_locked(c, news->node) &&
        zkr__claim_adopt(c, c->node->request_path, news->node) == ZKR_OK)
        zkr__claim_event_locked(c, ZKR__ON_UNPROVEN, "found, and ours");
    else if (c->intent != ZKR__WAIT)
        busy_locked(c);
}

/* clang-format off */
static const struct zkr__reaction reactions[ZKR__CLAIM_STATES][ZKR__EVENTS] = {
    ZKR__MOVES(IDLE,      ACQUIRE,   ENROLLING, take),
    ZKR__MOVES(IDLE,      TRY,       ENROLLING, take),

    ZKR__CALLS(ENROLLING, ANSWERED,  zkr__claim_created),
    ZKR__CALLS(ENROLLING, CREATED,   zkr__claim_turn),
    ZKR__MOVES(ENROLLING, PROVEN,    HELD,      zkr__claim_hold),
    ZKR__MOVES(ENROLLING, UNPROVEN,  PROVING,   zkr__claim_prove),
    ZKR__MOVES(ENROLLING, UNKNOWN,   WAITING,   zkr__claim_watch_rival),
    ZKR__CALLS(ENROLLING, EXISTS,    exists),
    ZKR__MOVES(ENROLLING, AHEAD,     WAITING,   zkr__claim_watch_rival),
    ZKR__CALLS(ENROLLING, REFUSED,   zkr__claim_pause),
    ZKR__MOVES(ENROLLING, AGAIN,     ENROLLING, take),
    ZKR__CALLS(ENROLLING, GIVE_UP,   zkr__claim_call_off),
    ZKR__MOVES(ENROLLING, LEAVE,     LEAVING,   zkr__claim_leave),
    ZKR__MOVES(ENROLLING, END,       IDLE,      zkr__claim_end),

    ZKR__MOVES(WAITING,   CHANGED,   ENROLLING, take),
    ZKR__CALLS(WAITING,   READ,      read),
    ZKR__MOVES(WAITING,   UNPROVEN,  PROVING,   zkr__claim_prove),
    ZKR__MOVES(WAITING,   AGAIN,     ENROLLING, take),
    ZKR__CALLS(WAITING,   GIVE_UP,   zkr__claim_withdraw),
    ZKR__MOVES(WAITING,   LEAVE,     LEAVING,   zkr__claim_leave),
    ZKR__MOVES(WAITING,   END,       IDLE,      zkr__claim_end),

    ZKR__FROM_PROVING_ON(take),
};
/* clang-format on */

const struct zkr__way zkr__by_creating_it = {
    .lock_size = sizeof(struct zkr__lock),
    .identity = &zkr__by_data,
    .reactions = reactions,
    .exits = { [ZKR__CLAIM_WAITING] = zkr__claim_stop_waiting,
               [ZKR__CLAIM_PROVING] = zkr__claim_stop_proving,
               [ZKR__CLAIM_HELD] = zkr__claim_stop_holding },
};
