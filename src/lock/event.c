/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what happens to a claim, and how it goes on.
 *
 * This is the only place where the state of a claim changes. It calls the steps
 * through the table of the claim's way only, and so does whoever tells an
 * event: no step calls another one. */
#include "lock/claim.h"

#include <assert.h>

#include "lock/count.h"
#include "lock/locks.h"
#include "session/timer_thread.h"

#define NAME(name) [ZKR__ON_##name] = #name,
const char *const zkr__event_names[ZKR__EVENTS] = { ZKR__CLAIM_EVENTS(NAME) };
#undef NAME

/* The tables of the ways say which moves there are. */
#define STATE(name) [ZKR__CLAIM_##name] = { #name, UINT32_MAX }
const struct zkr__sm_state zkr__claim_states[ZKR__CLAIM_STATES] = {
    STATE(IDLE),      STATE(PROBING), STATE(ENROLLING), STATE(RECOVERING),
    STATE(SURVEYING), STATE(WAITING), STATE(PROVING),   STATE(HELD),
    STATE(LEAVING),   STATE(LOST),
};

static void move_locked(struct zkr__claim *c, enum zkr__claim_state state,
                        const char *why) ZKR__LOCKED
{
    void (*stop)(struct zkr__claim *) = c->way->exits[c->sm.state];

    if (stop != NULL)
        stop(c);
    zkr__sm_move(&c->sm, (int)state, why);
    if (zkr__timer_is_armed(&c->later))
        zkr__timer_thread_disarm_locked(c->session, &c->later);
    zkr__list_remove(&c->leased);
    if (state == ZKR__CLAIM_PROVING || state == ZKR__CLAIM_HELD)
        zkr__list_append(&zkr__locks_of(c->session)->leased, &c->leased);
    if (state == ZKR__CLAIM_WAITING)
        c->create.retries = 0; /* the next create is another request */
    if (state == ZKR__CLAIM_WAITING && c->role->waits != NULL)
        c->role->waits(c);
    zkr__claim_tell_observer_locked(c);
}

void zkr__claim_news_locked(struct zkr__claim *c, enum zkr__event event,
                            const struct zkr__news *news)
{
    const struct zkr__reaction *reaction =
        &c->way->reactions[c->sm.state][event];

    if (event < ZKR__EVENTS_OF_THE_LIVING && zkr__claim_is_over(c))
        return;
    if (reaction->run == NULL) {
        if (event >= ZKR__EVENTS_OF_ANY_STATE)
            zkr__sm_refuse(&c->sm, zkr__event_names[event], news->why);
        return;
    }
    if (reaction->next != ZKR__CLAIM_STATES)
        move_locked(c, reaction->next, news->why);
    reaction->run(c, news);
}

static void on_later(struct zkr__timer *timer)
{
    struct zkr__claim *c = ZKR__CONTAINER(timer, struct zkr__claim, later);

    zkr__session_assert_locked(c->session);
    zkr__claim_event_locked(c, ZKR__ON_DUE, "what was put off");
}

void zkr__claim_put_off_locked(struct zkr__claim *c, int64_t instant)
{
    zkr__timer_thread_disarm_locked(c->session, &c->later);
    zkr__timer_thread_arm_locked(c->session, &c->later, instant, on_later);
}

void zkr__claim_decide_locked(struct zkr__claim *c, int rc)
{
    assert(!c->outcome.decided);
    c->outcome.decided = true;
    c->outcome.rc = rc;
    zkr__count_outcome_locked(c);
    zkr__claim_tell_observer_locked(c);
    zkr__role_tell_locked(c, ZKR__ROLE_DECIDED, rc);
    if (c->observer != NULL && c->observer->decided != NULL)
        c->observer->decided(c->observer, c);
}
