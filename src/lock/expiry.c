/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a session, and its effect on claims. A held lock is lost at once.
 * When the handle is closed, and no request is under way any more, a waiting
 * claim enters the queue of the next session. */
#include "lock/claim.h"

#include "base/error.h"
#include "lock/leftover.h"
#include "lock/locks.h"

/* The promised lease of a past epoch still counts. A member of a cohort and its
 * delegate are lost together, whichever comes first. */
static void expire(struct zkr__list *link, void *unused)
{
    struct zkr__claim *c = ZKR__CONTAINER(link, struct zkr__claim, link);

    (void)unused;
    zkr__session_assert_locked(c->session);
    if (c->sm.state == ZKR__CLAIM_HELD)
        zkr__leftover_add_locked(zkr__claim_with_node(c),
                                 c->session->promised_until);
    zkr__claim_lost_locked(c, c->session->over == 0 ? ZKR_LOSS_EXPIRED
                                                    : ZKR_LOSS_CLOSED);
}

struct cause {
    int rc;
    const char *why;
};

static void fail(struct zkr__list *link, void *arg)
{
    struct zkr__claim *c = ZKR__CONTAINER(link, struct zkr__claim, link);
    const struct cause *failure = arg;

    zkr__session_assert_locked(c->session);
    if (!c->outcome.decided)
        zkr__claim_fail_locked(c, failure->rc, failure->why);
}

static bool fails_with_its_session(const struct zkr__claim *c)
{
    return c->intent != ZKR__WAIT || c->lock->fail_on_session_loss ||
           (c->observer != NULL && c->observer->begins_again);
}

static void flush(struct zkr__list *link, void *unused)
{
    struct zkr__claim *c = ZKR__CONTAINER(link, struct zkr__claim, link);
    struct zkr_session *s = c->session;

    (void)unused;
    zkr__session_assert_locked(s);
    if (!zkr__claim_is_over(c))
        return;
    zkr__line_drop_locked(c);
    c->wait.watch = NULL; /* all watches of the handle are freed */
    zkr__grant_watch_flushed_locked(&c->grant);
    zkr__leftover_add_locked(c, 0);
    if (!c->outcome.decided && s->over != 0)
        zkr__claim_fail_locked(c, s->over, "the session is over");
    else if (!c->outcome.decided && fails_with_its_session(c))
        zkr__claim_fail_locked(c, ZKR_ELOST, "the session ended");
    if (c->outcome.decided) {
        zkr__claim_event_locked(c, ZKR__ON_END, "the session ended");
        return;
    }
    c->epoch = s->epoch;
    c->node->may_be_more = false;
    zkr__claim_event_locked(c, ZKR__ON_AGAIN, "new session");
}

void zkr__claims_expired_locked(struct zkr_session *s)
{
    zkr__list_each(&zkr__locks_of(s)->claims, expire, NULL);
}

void zkr__claims_fail_locked(struct zkr_session *s, int rc, const char *why)
{
    zkr__list_each(&zkr__locks_of(s)->claims, fail, &(struct cause){ rc, why });
}

void zkr__claims_flushed_locked(struct zkr_session *s)
{
    zkr__list_each(&zkr__locks_of(s)->claims, flush, NULL);
}
