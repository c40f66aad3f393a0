/* SPDX-License-Identifier: Apache-2.0 */
/* The way of all recipes with a queue: a claim makes a node at the end of the
 * queue, and waits for the nearest contender that conflicts with it. */
#include "lock/steps.h"

/* clang-format off */
static const struct zkr__reaction reactions[ZKR__CLAIM_STATES][ZKR__EVENTS] = {
    ZKR__MOVES(IDLE,       ACQUIRE,   ENROLLING,  zkr__claim_enroll),
    ZKR__MOVES(IDLE,       TRY,       PROBING,    zkr__claim_probe),

    ZKR__CALLS(PROBING,    LISTED,    zkr__claim_probed),
    ZKR__MOVES(PROBING,    FREE,      ENROLLING,  zkr__claim_enroll),
    ZKR__MOVES(PROBING,    GIVE_UP,   IDLE,       zkr__claim_end),
    ZKR__MOVES(PROBING,    END,       IDLE,       zkr__claim_end),

    ZKR__CALLS(ENROLLING,  CREATED,   zkr__claim_enrolled),
    ZKR__CALLS(ENROLLING,  LISTED,    zkr__claim_survey_early),
    ZKR__MOVES(ENROLLING,  SHOWN,     SURVEYING,  zkr__claim_survey),
    ZKR__MOVES(ENROLLING,  KNOWN,     SURVEYING,  zkr__claim_survey_known),
    ZKR__MOVES(ENROLLING,  LIST,      SURVEYING,  zkr__claim_list),

    ZKR__MOVES(RECOVERING, FOUND,     SURVEYING,  zkr__claim_list),

    ZKR__CALLS(SURVEYING,  LISTED,    zkr__claim_survey),
    ZKR__MOVES(SURVEYING,  AHEAD,     WAITING,    zkr__claim_wait_for),
    ZKR__MOVES(SURVEYING,  BEHIND,    WAITING,    zkr__claim_wait_behind),
    ZKR__CALLS(SURVEYING,  TURN,      zkr__claim_turn),
    ZKR__MOVES(SURVEYING,  PROVEN,    HELD,       zkr__claim_hold),
    ZKR__MOVES(SURVEYING,  UNPROVEN,  PROVING,    zkr__claim_prove),
    ZKR__MOVES(SURVEYING,  ITSELF,    RECOVERING, zkr__claim_recover),
    ZKR__MOVES(SURVEYING,  AGAIN,     ENROLLING,  zkr__claim_enroll),
    ZKR__CALLS(SURVEYING,  GIVE_UP,   zkr__claim_withdraw),
    ZKR__MOVES(SURVEYING,  LEAVE,     LEAVING,    zkr__claim_leave),
    ZKR__MOVES(SURVEYING,  END,       IDLE,       zkr__claim_end),

    ZKR__MOVES(WAITING,    CHANGED,   SURVEYING,  zkr__claim_list),
    ZKR__CALLS(WAITING,    UPROOTED,  zkr__claim_uprooted),
    ZKR__CALLS(WAITING,    DUE,       zkr__claim_relist),

    ZKR__WITH_ITS_OWN_NAME(zkr__claim_enroll),

    ZKR__CALLS(HELD,       LISTED,    zkr__claim_survey_held),
};
/* clang-format on */

const struct zkr__way zkr__in_a_queue = {
    .seek = zkr__seek_by_name,
    .has_own_path = true,
    .reactions = reactions,
    .judge = zkr__claim_judge_queue,
    .exits = { [ZKR__CLAIM_PROBING] = zkr__line_unask_locked,
               [ZKR__CLAIM_ENROLLING] = zkr__line_unask_locked,
               [ZKR__CLAIM_RECOVERING] = zkr__claim_stop_recovering,
               [ZKR__CLAIM_SURVEYING] = zkr__claim_stop_surveying,
               [ZKR__CLAIM_WAITING] = zkr__claim_stop_waiting,
               [ZKR__CLAIM_PROVING] = zkr__claim_stop_proving,
               [ZKR__CLAIM_HELD] = zkr__claim_stop_holding },
};
