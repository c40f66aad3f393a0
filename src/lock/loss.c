/* SPDX-License-Identifier: Apache-2.0 */
/* Losses: why a grant is LOST.
 *
 * When the servers end a session, they delete its nodes first, and report that
 * to a client that is connected. So a deletion that is the last thing we have
 * heard in a session that has ended was part of its end, as far as can be
 * told. */
#include "lock/claim.h"

static const char *const texts[] = {
    [ZKR_LOSS_NONE] = "not lost",
    [ZKR_LOSS_DELETED] = "its node was deleted",
    [ZKR_LOSS_REVOKED] = "its node was deleted after a request to give it back",
    [ZKR_LOSS_EXPIRED] = "the servers have ended the session",
    [ZKR_LOSS_CLOSED] = "the session was closed",
};

const char *zkr_loss_text(enum zkr_loss loss)
{
    return (unsigned)loss < sizeof(texts) / sizeof(texts[0]) ? texts[loss]
                                                             : "unknown loss";
}

enum zkr_loss zkr__loss_locked(const struct zkr_grant *g)
{
    const struct zkr__claim *c = ZKR__CONTAINER(g, struct zkr__claim, grant);
    const struct zkr_session *s = c->session;

    if (g->loss != ZKR_LOSS_NONE && s->epoch == c->epoch + 1 &&
        s->answers_before == g->answers)
        return ZKR_LOSS_EXPIRED;
    return g->loss;
}

void zkr__claim_lost_locked(struct zkr__claim *c, enum zkr_loss loss)
{
    if (!zkr__claim_in_state(c, ZKR__CLAIM_HELD))
        return;
    c->grant.loss = loss == ZKR_LOSS_DELETED && c->grant.revoke_requested
                        ? ZKR_LOSS_REVOKED
                        : loss;
    c->grant.answers = c->session->answers;
    zkr__grant_end_locked(&c->grant, ZKR_GRANT_LOST);
    zkr__claim_event_locked(c, ZKR__ON_LOST, zkr_loss_text(c->grant.loss));
    zkr__role_tell_locked(c, ZKR__ROLE_LOST, (int)loss);
}
