/* SPDX-License-Identifier: Apache-2.0 */
/* A claim by a campaign: it is granted when this program leads, and the grant
 * is that of the term. */
#include "run/claim_way.h"

/* A term that was over before its grant was had is none: another may follow. */
static void on_event(zkr_leader *leader, const struct zkr_leader_event *event,
                     void *user)
{
    struct claim *c = user;

    if (atomic_load(&c->done))
        return;
    if (event->kind == ZKR_LEADER_FAILED) {
        claim_decide(c, event->error);
    } else if (event->kind == ZKR_LEADER_GAINED &&
               zkr_leader_grant(leader, &c->grants.items[0]) == ZKR_OK) {
        c->grants.count = 1;
        claim_decide(c, ZKR_OK);
    }
}

static int start(struct claim *c, zkr_session *session, int64_t timeout_ms)
{
    struct zkr_leader_opts opts = ZKR_LEADER_OPTS_INIT;
    zkr_leader **leader = &c->locks[0].leader;
    int rc;

    (void)timeout_ms;
    opts.label = c->wanted.label;
    rc =
        zkr_leader_new(session, c->wanted.paths[0], &opts, on_event, c, leader);
    return rc == ZKR_OK ? (int)zkr_leader_campaign(*leader) : rc;
}

static void give_up(struct claim *c)
{
    zkr_leader_free(c->locks[0].leader);
    c->locks[0].leader = NULL;
}

/* When it has returned, there is no event any more. */
static void cancel(struct claim *c)
{
    give_up(c);
    grants_free(&c->grants);
    if (atomic_load(&c->done))
        c->error = ZKR_ECANCELED;
    else
        claim_decide(c, ZKR_ECANCELED);
}

static int release(struct claim *c, const struct grants *grants)
{
    (void)grants;
    return zkr_leader_leave(c->locks[0].leader);
}

const struct claim_way claim_by_campaign = { start, cancel, release, give_up };
