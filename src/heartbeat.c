/* The heartbeat: writes that keep the lease of what is held proven, and what it
 * means when they do not come back. */
#include "heartbeat.h"

#include "claim.h"
#include "clock.h"
#include "grant_parts.h"
#include "keeper.h"

bool zkr__heartbeat_has_lease(const struct zkr_session *s)
{
    return (s->opts.flags & ZKR_SESSION_NO_LEASE) == 0;
}

bool zkr__heartbeat_is_proven_for(const struct zkr_session *s, int64_t ahead)
{
    return !zkr__heartbeat_has_lease(s) ||
           zkr__clock_boot() + ahead < zkr__lease_until(&s->lease);
}

bool zkr__heartbeat_is_good(const struct zkr_session *s)
{
    return zkr__heartbeat_is_proven_for(s, zkr__lease_ahead(&s->lease));
}

static int64_t late_at(const struct zkr_session *s)
{
    return s->lease.last_committed + zkr__lease_late(&s->lease);
}

bool zkr__heartbeat_is_late(const struct zkr_session *s)
{
    return zkr__heartbeat_has_lease(s) &&
           zkr__clock_boot() + zkr__lease_ahead(&s->lease) >= late_at(s);
}

static struct zkr_grant *grant_of(struct zkr__list *link)
{
    return &ZKR__CONTAINER(link, struct zkr__claim, link)->grant;
}

static struct zkr_grant *first_held_locked(struct zkr_session *s)
{
    for (struct zkr__list *l = s->claims.next; l != &s->claims; l = l->next) {
        if (zkr__grant_is_ours(grant_of(l)))
            return grant_of(l);
    }
    return NULL;
}

/* A proof needs a gap between two requests, so asking without a pause does not
 * win it back sooner. */
int64_t zkr__heartbeat_pace(const struct zkr_session *s)
{
    int64_t beat = zkr__lease_beat(&s->lease);

    return zkr__heartbeat_is_proven_for(s, beat * 3 / 2) ? beat : beat / 4;
}

bool zkr__heartbeat_wants_write(const struct zkr_session *s)
{
    int64_t beat = zkr__lease_beat(&s->lease);

    return zkr__heartbeat_has_lease(s) &&
           (!zkr__heartbeat_is_proven_for(s, beat * 3 / 2) ||
            zkr__clock_boot() + beat >= late_at(s));
}

static void on_beat(struct zkr__timer *timer)
{
    struct zkr_session *s = ZKR__CONTAINER(timer, struct zkr_session, beat);
    struct zkr_grant *g = first_held_locked(s);

    if (g == NULL) /* sessions that hold nothing send nothing */
        return;
    zkr__keeper_arm_locked(s, timer, zkr__clock_now() + zkr__heartbeat_pace(s),
                           on_beat);
    zkr__grant_ask_locked(g, ZKR__RETRY_NEVER);
    /* Another one next time: an ACL may refuse us this one. */
    zkr__list_remove(&zkr__grant_claim(g)->link);
    zkr__list_append(&s->claims, &zkr__grant_claim(g)->link);
}

/* What is held is in doubt from the one instant on, and unknown from the other.
 */
static void on_watch(struct zkr__timer *timer)
{
    struct zkr_session *s = ZKR__CONTAINER(timer, struct zkr_session, watchdog);
    int64_t now = zkr__clock_boot();
    int64_t until = zkr__lease_until(&s->lease);
    int64_t late = late_at(s);
    int64_t next = late > now ? late : until;
    bool any = false;

    for (struct zkr__list *l = s->claims.next; l != &s->claims; l = l->next) {
        if (!zkr__grant_is_ours(grant_of(l)))
            continue;
        any = true;
        if (now >= until)
            zkr__grant_doubt_locked(grant_of(l), ZKR_GRANT_UNSURE,
                                    "the lease has run out");
        else if (now >= late)
            zkr__grant_doubt_locked(grant_of(l), ZKR_GRANT_SUSPENDED,
                                    "a proof is late");
    }
    if (next > until)
        next = until;
    if (any && next > now)
        zkr__keeper_arm_locked(s, timer, zkr__clock_now() + next - now,
                               on_watch);
}

/* After a time without writes the proof is old, and the next one far. A short
 * hold is over before it. */
static int64_t first_pace(const struct zkr_session *s)
{
    int64_t beat = zkr__lease_beat(&s->lease);

    return zkr__heartbeat_is_proven_for(s, beat * 3) ? beat : beat / 4;
}

void zkr__heartbeat_start_locked(struct zkr_session *s)
{
    int64_t now = zkr__clock_now();

    if (!zkr__heartbeat_has_lease(s))
        return;
    if (!s->beat.armed)
        zkr__keeper_arm_locked(s, &s->beat, now + first_pace(s), on_beat);
    if (!s->watchdog.armed)
        zkr__keeper_arm_locked(s, &s->watchdog, now, on_watch);
}

void zkr__heartbeat_recheck_locked(struct zkr_session *s)
{
    if (!s->watchdog.armed)
        return;
    zkr__keeper_disarm_locked(s, &s->watchdog);
    zkr__keeper_arm_locked(s, &s->watchdog, zkr__clock_now(), on_watch);
}

void zkr__heartbeat_good_locked(struct zkr_session *s)
{
    zkr__heartbeat_start_locked(s);
    if (!zkr__session_connected(s) || !zkr__heartbeat_is_good(s))
        return;
    for (struct zkr__list *l = s->claims.next; l != &s->claims; l = l->next)
        zkr__grant_resume_locked(grant_of(l));
}
