/* SPDX-License-Identifier: Apache-2.0 */
/* The way of all recipes with a queue: a claim makes a node at the end of the
 * queue, and waits for the nearest contender that conflicts with it. */
#include "lock/claim_steps.h"

#define TO(state)        ZKR__BIT(ZKR__CLAIM_##state)
#define ROW(state, next) [ZKR__CLAIM_##state] = { #state, next }

/* clang-format off */
static const struct zkr__sm_state moves[ZKR__CLAIM_STATES] = {
    ROW(IDLE,       TO(PROBING) | TO(ENROLLING)),
    ROW(PROBING,    TO(ENROLLING) | TO(IDLE)),
    ROW(ENROLLING,  TO(ENROLLING) | TO(RECOVERING) | TO(SURVEYING) |
                    TO(LEAVING) | TO(IDLE)),
    ROW(RECOVERING, TO(RECOVERING) | TO(ENROLLING) | TO(SURVEYING) |
                    TO(LEAVING) | TO(IDLE)),
    ROW(SURVEYING,  TO(WAITING) | TO(PROVING) | TO(HELD) | TO(ENROLLING) |
                    TO(RECOVERING) | TO(LEAVING) | TO(IDLE)),
    ROW(WAITING,    TO(SURVEYING) | TO(PROVING) | TO(HELD) | TO(ENROLLING) |
                    TO(LEAVING) | TO(IDLE)),
    ROW(PROVING,    TO(HELD) | TO(ENROLLING) | TO(LEAVING) | TO(IDLE)),
    ROW(HELD,       TO(LEAVING) | TO(LOST)),
    ROW(LEAVING,    TO(IDLE)),
    ROW(LOST,       0),
};
/* clang-format on */

const struct zkr__way zkr__in_a_queue = {
    .moves = moves,
    .identity = &zkr__by_name,
    .enter = zkr__claim_enter_locked,
    .created = zkr__claim_enrolled_locked,
    .withdraw = zkr__claim_withdraw_locked,
    .leave = zkr__claim_leave_locked,
    .go_on = zkr__claim_list_locked,
    .listed = zkr__claim_listed_locked,
};
