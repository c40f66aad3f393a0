/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of claims to events, one file for each step, as the tables of the
 * ways name them. Nobody else calls them: a step tells what it has found out by
 * an event. */
#pragma once

#include "lock/claim.h"
#include "lock/way.h"

/* enroll.c */
zkr__reaction_fn zkr__claim_probe ZKR__LOCKED;
zkr__reaction_fn zkr__claim_probed ZKR__LOCKED;
zkr__reaction_fn zkr__claim_enroll ZKR__LOCKED;
zkr__reaction_fn zkr__claim_enrolled ZKR__LOCKED;

/* create.c: the create has been answered; given up meanwhile; wait, then try it
 * again. */
zkr__reaction_fn zkr__claim_created ZKR__LOCKED;
zkr__reaction_fn zkr__claim_call_off ZKR__LOCKED;
zkr__reaction_fn zkr__claim_pause ZKR__LOCKED;

/* recover.c */
zkr__reaction_fn zkr__claim_recover ZKR__LOCKED;
void zkr__claim_stop_recovering(struct zkr__claim *c) ZKR__LOCKED;

/* survey.c: ask for a list; look at it; or do without one; look at one while
 * HELD. */
zkr__reaction_fn zkr__claim_list ZKR__LOCKED;
zkr__reaction_fn zkr__claim_survey ZKR__LOCKED;
zkr__reaction_fn zkr__claim_survey_early ZKR__LOCKED;
zkr__reaction_fn zkr__claim_survey_known ZKR__LOCKED;
zkr__reaction_fn zkr__claim_survey_held ZKR__LOCKED;
void zkr__claim_judge_queue(struct zkr__claim *c,
                            struct zkr__queue *queue) ZKR__LOCKED;
void zkr__claim_stop_surveying(struct zkr__claim *c) ZKR__LOCKED;

/* wait.c: for another contender; the same, which may be a ghost; for one of
 * ours. */
zkr__reaction_fn zkr__claim_watch_rival ZKR__LOCKED;
zkr__reaction_fn zkr__claim_wait_for ZKR__LOCKED;
zkr__reaction_fn zkr__claim_wait_behind ZKR__LOCKED;
zkr__reaction_fn zkr__claim_uprooted ZKR__LOCKED;
zkr__reaction_fn zkr__claim_relist ZKR__LOCKED;
void zkr__claim_stop_waiting(struct zkr__claim *c) ZKR__LOCKED;

/* prove.c */
zkr__reaction_fn zkr__claim_turn ZKR__LOCKED;
zkr__reaction_fn zkr__claim_prove ZKR__LOCKED;
zkr__reaction_fn zkr__claim_prove_on ZKR__LOCKED;
zkr__reaction_fn zkr__claim_confirmed ZKR__LOCKED;
zkr__reaction_fn zkr__claim_hold ZKR__LOCKED;
void zkr__claim_stop_proving(struct zkr__claim *c) ZKR__LOCKED;

/* grant.c: the answer to a confirm while HELD. */
zkr__reaction_fn zkr__grant_confirmed ZKR__LOCKED;
void zkr__claim_stop_holding(struct zkr__claim *c) ZKR__LOCKED;
/* grant_watch.c: it has been HELD for a while. */
zkr__reaction_fn zkr__grant_watch ZKR__LOCKED;

/* leave.c: delete our node; try once more what was refused; gone. */
zkr__reaction_fn zkr__claim_leave ZKR__LOCKED;
zkr__reaction_fn zkr__claim_leave_again ZKR__LOCKED;
zkr__reaction_fn zkr__claim_end ZKR__LOCKED;

/* -- what several steps do ------------------------------------------------ */

/* enroll.c: for the next create: a new name, so that no node of another epoch
 * can be taken for ours. When a node of this epoch may still turn up, the claim
 * keeps the name, by which it finds and deletes the node in the end. */
void zkr__claim_name_locked(struct zkr__claim *c) ZKR__LOCKED;
/* create.c: asks for c->node->request_path; ANSWERED follows. */
void zkr__claim_create_locked(struct zkr__claim *c) ZKR__LOCKED;
/* leave.c: it was given up. LEAVE follows, or END if it can have no node. */
zkr__reaction_fn zkr__claim_withdraw ZKR__LOCKED;
/* confirm.c: starts one, unless one is under way. CONFIRMED follows. ZKR_OK:
 * the node is there. ZKR_ZNONODE: it is not, or another client uses the name.
 * Otherwise the error of the servers, or of the client. */
void zkr__confirm_start_locked(struct zkr__claim *c,
                               enum zkr__op_retry retry) ZKR__LOCKED;
static inline bool zkr__confirm_is_under_way(const struct zkr__claim *c)
{
    return c->confirm.where != ZKR__OP_IDLE;
}
/* adopt.c: can a node of that name be of a create of ours? */
bool zkr__claim_asked_for(const struct zkr__claim *c, const char *name);
/* adopt.c: takes a node as ours if it is what we asked for, or ZKR_EPROTO. */
int zkr__claim_adopt(struct zkr__claim *c, const char *path,
                     const struct zkr__zk_reply *reply);
/* adopt.c: gives the claim up when the number of its node says nothing about
 * the order. */
bool zkr__claim_is_exhausted_locked(struct zkr__claim *c) ZKR__LOCKED;
