/* SPDX-License-Identifier: Apache-2.0 */
/* A claim by a campaign: it is granted when this program leads, and the grant
 * is that of the term. Others end a campaign that has no time left. */
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

static void give_up(struct claim *c)
{
    zkr_leader_free(c->leader);
    c->leader = NULL;
}

/* When it has returned, there is no event any more. */
static void cancel(struct claim *c, int error)
{
    give_up(c);
    grants_free(&c->grants);
    if (atomic_load(&c->done))
        c->error = error;
    else
        claim_decide(c, error);
}

/* Without time it is asked at once whether others come first. */
static int try_once(struct claim *c)
{
    int rc = zkr_leader_wait(c->leader, 0);

    if (rc == ZKR_EBUSY || rc == ZKR_ZOPERATIONTIMEOUT) {
        cancel(c, rc == ZKR_EBUSY ? rc : ZKR_ETIMEDOUT);
        return ZKR_OK;
    }
    return rc;
}

static int start(struct claim *c, zkr_session *session, int64_t timeout_ms)
{
    struct zkr_leader_opts opts = ZKR_LEADER_OPTS_INIT;
    zkr_leader **leader = &c->leader;
    int rc;

    opts.label = c->wanted.label;
    rc =
        zkr_leader_new(session, c->wanted.paths[0], &opts, on_event, c, leader);
    if (rc == ZKR_OK)
        rc = zkr_leader_campaign(*leader);
    return rc == ZKR_OK && timeout_ms == 0 ? try_once(c) : rc;
}

static int release(struct claim *c, const struct grants *grants)
{
    (void)grants;
    return zkr_leader_leave(c->leader);
}

const struct claim_way claim_by_campaign = { start, cancel, release, give_up };
