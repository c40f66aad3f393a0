/* SPDX-License-Identifier: Apache-2.0 */
/* PROVING: our turn has come, but nothing proves yet that our session will live
 * on, for example after the process was stopped, or a link has stalled. */
#include "lock/steps.h"

#include <assert.h>

#include "base/clock.h"
#include "lock/heartbeat.h"

/* Our node belongs to this session, whose epoch is still the same. */
void zkr__claim_hold(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    assert(c->epoch == c->session->epoch && !c->outcome.decided);
    zkr__grant_begin_locked(&c->grant);
    zkr__claim_decide_locked(c, ZKR_OK);
    zkr__line_granted_locked(c);
}

static void ask_later_locked(struct zkr__claim *c) ZKR__LOCKED
{
    zkr__claim_put_off_locked(c, zkr__clock_now() +
                                     zkr__heartbeat_pace(c->session));
}

/* Tells whether it is a fresh answer of the servers: one that has waited while
 * the process was stopped proves nothing, because our node may have gone
 * since. */
static bool is_fresh(const struct zkr__claim *c, int rc)
{
    return zkr__error_outcome(rc) == ZKR__DONE && rc != ZKR_ENOMEM &&
           zkr__clock_boot() - c->confirm.sent < c->session->lease.timeout / 2;
}

static bool proof_is_overdue(const struct zkr__claim *c)
{
    return zkr__clock_now() - c->proving_since >=
           zkr__lease_proof_wait(&c->session->lease);
}

/* When the proof is withheld, by an ACL or by slow answers, the lock is granted
 * all the same, and check() tells the truth. It is not granted by answers that
 * are not fresh, however long that takes, up to the caller's deadline. */
void zkr__claim_confirmed(struct zkr__claim *c, const struct zkr__news *news)
{
    int rc = news->rc;

    if (rc == ZKR_ZNONODE)
        zkr__claim_event_locked(c, ZKR__ON_AGAIN, "our node was deleted");
    else if (!is_fresh(c, rc))
        ask_later_locked(c);
    else if (zkr__heartbeat_is_good(c->session))
        zkr__claim_event_locked(c, ZKR__ON_PROVEN, "proven");
    else if (rc != ZKR_OK || proof_is_overdue(c))
        zkr__claim_event_locked(c, ZKR__ON_PROVEN, "without a proof");
    else
        ask_later_locked(c);
}

/* A question of ours may still be under way: one that travelled with a list, or
 * where answers take longer than the pace. Then a write of the heartbeat goes
 * on with the proof. */
void zkr__claim_prove_on(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    ask_later_locked(c);
    if (zkr__confirm_is_under_way(c))
        zkr__heartbeat_start_locked(c->session);
    else
        zkr__confirm_start_locked(c, ZKR__RETRY_NEVER);
}

/* The claim is the first of those that conflict, in a list that is younger than
 * our node: nobody can get ahead of us while our node exists. Mostly the proof
 * needs only a second write, and otherwise some time. That the lease runs is
 * (4) of the theorem of the line. */
void zkr__claim_turn(struct zkr__claim *c, const struct zkr__news *news)
{
    if (zkr__heartbeat_is_good(c->session))
        zkr__claim_event_locked(c, ZKR__ON_PROVEN, news->why);
    else
        zkr__claim_event_locked(c, ZKR__ON_UNPROVEN, news->why);
}

void zkr__claim_prove(struct zkr__claim *c, const struct zkr__news *news)
{
    c->proving_since = zkr__clock_now();
    zkr__claim_prove_on(c, news);
}

void zkr__claim_stop_proving(struct zkr__claim *c)
{
    (void)zkr__op_cancel_locked(&c->confirm);
}
