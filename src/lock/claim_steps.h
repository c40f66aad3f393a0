/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a claim, as they call each other: one file each. */
#ifndef ZKR__CLAIM_STEPS_H
#define ZKR__CLAIM_STEPS_H

#include "lock/claim.h"
#include "session/locked.h"

static inline bool zkr__claim_in_state(const struct zkr__claim *c,
                                       enum zkr__claim_state state)
{
    return c->sm.state == (int)state;
}

static inline const struct zkr__identity *
zkr__claim_identity(const struct zkr__claim *c)
{
    return c->way->identity;
}

/* The claim whose node it has: of a member of a cohort that has held the lock,
 * its delegate; of all others, itself. */
static inline struct zkr__claim *zkr__claim_with_node(struct zkr__claim *c)
{
    return c->cohort.delegate != NULL ? c->cohort.delegate : c;
}

/* The claim at whose place it stands, or NULL. */
static inline struct zkr__claim *zkr__claim_beside(const struct zkr__claim *c)
{
    return c->beside == NULL ? NULL : zkr__claim_with_node(c->beside);
}

/* After the session has ended, answers mean nothing: the connector closes the
 * handle and then calls zkr__claim_epoch_over_locked(). */
static inline bool zkr__claim_is_over(const struct zkr__claim *c)
{
    return c->epoch != c->session->epoch || c->session->over != 0;
}

/* claim.c: the only place where the state of a claim changes. */
void zkr__claim_move_locked(struct zkr__claim *c, enum zkr__claim_state state,
                            const char *why) ZKR__LOCKED;

/* claim.c: the outcome, once; and the end of the machine. */
void zkr__claim_decide_locked(struct zkr__claim *c, int rc) ZKR__LOCKED;
void zkr__claim_end_locked(struct zkr__claim *c, enum zkr__claim_state state,
                           const char *why) ZKR__LOCKED;

/* give_up.c: the sentence of its outcome: set it, or set it for the thread. */
void zkr__claim_explain(struct zkr__claim *c, int rc, const char *reason);
void zkr__claim_set_detail(const struct zkr__claim *c);
/* Give up with the error of another claim. */
void zkr__claim_give_up_like_locked(struct zkr__claim *c,
                                    const struct zkr__claim *other) ZKR__LOCKED;
/* Decide it with an error. It does not leave yet. */
void zkr__claim_fail_locked(struct zkr__claim *c, int rc,
                            const char *reason) ZKR__LOCKED;

/* enroll.c */
void zkr__claim_enter_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED;
void zkr__claim_enrolled_locked(struct zkr__claim *c) ZKR__LOCKED;
/* For the next create: a new name, so that no node of another epoch can be
 * taken for ours. When a node of this epoch may still turn up, the claim keeps
 * the name, by which it finds and deletes the node in the end. */
void zkr__claim_name_locked(struct zkr__claim *c) ZKR__LOCKED;
void zkr__claim_probed_locked(struct zkr__claim *c, int rc,
                              const struct zkr__queue *queue) ZKR__LOCKED;
void zkr__claim_stop_enrolling_locked(struct zkr__claim *c) ZKR__LOCKED;

/* create.c: ask for c->node.request_path. way->created() runs when that has
 * been answered, and can ask how it went. */
void zkr__claim_create_locked(struct zkr__claim *c,
                              const char *why) ZKR__LOCKED;
enum zkr__create_outcome {
    ZKR__CREATED,        /* it is c->node.path */
    ZKR__CREATE_EXISTS,  /* there is a node of that name */
    ZKR__CREATE_UNKNOWN, /* it may have been carried out, or may be yet */
    ZKR__CREATE_SEEN_TO, /* the claim has ended, or tries again later */
};
enum zkr__create_outcome
zkr__claim_judge_create_locked(struct zkr__claim *c) ZKR__LOCKED;
/* Our node certainly does not exist, and another attempt may help. */
void zkr__claim_pause_locked(struct zkr__claim *c) ZKR__LOCKED;

/* adopt.c: can a node of that name be of a create of ours? */
bool zkr__claim_asked_for(const struct zkr__claim *c, const char *name);
/* Take a node as ours if it is what we asked for, or ZKR_EPROTO. */
int zkr__claim_adopt(struct zkr__claim *c, const char *path,
                     const struct zkr__zk_reply *reply);

/* recover.c */
void zkr__claim_recover_locked(struct zkr__claim *c,
                               const char *why) ZKR__LOCKED;

/* survey.c: ask for a list; and the list: see way->listed(). */
void zkr__claim_list_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED;
void zkr__claim_listed_locked(struct zkr__claim *c, int rc,
                              struct zkr__queue *queue) ZKR__LOCKED;
bool zkr__claim_is_exhausted_locked(const struct zkr__claim *c) ZKR__LOCKED;
void zkr__claim_exhaust_locked(struct zkr__claim *c) ZKR__LOCKED;

/* prove.c: it has the lock. */
void zkr__claim_hold_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED;
/* Nobody is ahead of us any more. */
void zkr__claim_turn_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED;
/* The same, unless our node is gone: the server that has shown it may be
 * behind. */
void zkr__claim_prove_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED;
/* The answer to a confirm; see confirm.h. */
void zkr__claim_confirmed_locked(struct zkr__claim *c, int rc) ZKR__LOCKED;

/* wait.c */
void zkr__claim_wait_for_locked(struct zkr__claim *c,
                                const char *name) ZKR__LOCKED;
/* Our own node has gone while we waited. */
void zkr__claim_uprooted_locked(struct zkr__claim *c) ZKR__LOCKED;
/* Wait for the claim of ours that is ahead, whose node has that name; a try is
 * given up. */
void zkr__claim_wait_behind_locked(struct zkr__claim *c,
                                   const char *name) ZKR__LOCKED;
void zkr__claim_stop_watching_locked(struct zkr__claim *c) ZKR__LOCKED;

/* leave.c */
void zkr__claim_leave_locked(struct zkr__claim *c, const char *why) ZKR__LOCKED;
/* A claim that leaves, and what it asked before about its node is answered. */
void zkr__claim_sweep_locked(struct zkr__claim *c) ZKR__LOCKED;
/* Given up, with no create under way. */
void zkr__claim_withdraw_locked(struct zkr__claim *c) ZKR__LOCKED;

#endif
