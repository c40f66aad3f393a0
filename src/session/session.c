/* The session: states and epochs, and what each change means for all. */
#include "session/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "lock/claim.h"
#include "lock/heartbeat.h"
#include "lock/leftover.h"
#include "session/call.h"
#include "session/connector.h"
#include "session/listener.h"
#include "session/pulse.h"
#include "session/scout.h"

#define TO(state)        ZKR__BIT(ZKR_SESSION_##state)
#define ROW(state, next) [ZKR_SESSION_##state] = { #state, next }
#define TO_AN_END        (TO(LOST) | TO(AUTH_FAILED) | TO(CLOSED))

/* clang-format off */
static const struct zkr__sm_state table[] = {
    ROW(CONNECTING,  TO(CONNECTED) | TO_AN_END),
    ROW(CONNECTED,   TO(SUSPENDED) | TO_AN_END),
    ROW(SUSPENDED,   TO(RECONNECTED) | TO_AN_END),
    ROW(RECONNECTED, TO(SUSPENDED) | TO_AN_END),
    ROW(LOST,        TO(RECONNECTED) | TO_AN_END),
    ROW(AUTH_FAILED, TO(CLOSED)),
    ROW(CLOSED,      0),
};
/* clang-format on */

void zkr__session_ref(struct zkr_session *s)
{
    (void)atomic_fetch_add(&s->refs, 1);
}

void zkr__session_unref(struct zkr_session *s)
{
    if (atomic_fetch_sub(&s->refs, 1) != 1)
        return;
    assert(zkr__list_empty(&s->claims) && zkr__list_empty(&s->watches));
    assert(s->in_flight_count == 0 && zkr__list_empty(&s->queued));
    zkr__dispatch_done(&s->dispatch);
    (void)pthread_cond_destroy(&s->timers_wake);
    (void)pthread_cond_destroy(&s->connector_wake);
    (void)pthread_cond_destroy(&s->changed);
    zkr__mtx_done(&s->lock);
    zkr__hosts_done(&s->hosts);
    zkr__acl_done(&s->acl);
    free(s->auth_scheme);
    if (s->auth != NULL)
        explicit_bzero(s->auth, strlen(s->auth));
    free(s->auth);
    free(s);
}

int zkr__session_check(const struct zkr_session *s, const char *what)
{
    if (s == NULL)
        return zkr__fail(ZKR_EINVAL, "%s is NULL", what);
    if (s->pid != getpid())
        return zkr__fail(ZKR_EFORKED,
                         "%s belongs to process %d, which forked this one",
                         what, (int)s->pid);
    return ZKR_OK;
}

bool zkr__session_connected(const struct zkr_session *s)
{
    return s->sm.state == ZKR_SESSION_CONNECTED ||
           s->sm.state == ZKR_SESSION_RECONNECTED;
}

const char *zkr__session_root(const struct zkr_session *s)
{
    return s->hosts.chroot[0] == '\0' ? "/" : s->hosts.chroot;
}

static void move_locked(struct zkr_session *s, enum zkr_session_state state,
                        const char *why)
{
    zkr__sm_move(&s->sm, (int)state, why);
    zkr__listeners_tell_locked(s);
    (void)pthread_cond_broadcast(&s->changed);
}

static void reset_lease_locked(struct zkr_session *s)
{
    zkr__lease_reset(&s->lease, s->opts.lease_ping_gap_ms * ZKR__MS,
                     s->opts.lease_margin_ms * ZKR__MS);
}

void zkr__session_init_states(struct zkr_session *s)
{
    s->epoch = 1;
    s->scout.due = ZKR__NEVER;
    reset_lease_locked(s);
    s->sm = (struct zkr__sm){ ZKR_SESSION_CONNECTING, table, "session" };
}

static void each_claim_locked(struct zkr_session *s,
                              void (*fn)(struct zkr__claim *))
{
    struct zkr__list *next;

    for (struct zkr__list *l = s->claims.next; l != &s->claims; l = next) {
        next = l->next;
        fn(ZKR__CONTAINER(l, struct zkr__claim, link));
    }
}

static void suspend_claim(struct zkr__claim *c)
{
    zkr__grant_doubt_locked(&c->grant, ZKR_GRANT_SUSPENDED, "connection lost");
}

static void resume_claim(struct zkr__claim *c)
{
    zkr__grant_resume_locked(&c->grant);
}

/* What was promised of the lease of a past epoch still counts. */
static void lose_claim(struct zkr__claim *c)
{
    if (c->sm.state == ZKR__CLAIM_HELD)
        zkr__leftover_add_locked(c, c->session->promised_until);
    zkr__claim_lost_locked(c, "the session is over");
}

/* Timers of no length would never let go of the lock. */
static uint32_t granted_timeout_ms(struct zkr_session *s)
{
    uint32_t timeout_ms = zkr__zk_timeout_ms(s->zk);

    return timeout_ms == 0 ? 1 : timeout_ms;
}

static void connected_locked(struct zkr_session *s)
{
    if (zkr__session_connected(s))
        return;
    if (!zkr__zk_log_in(s->zk)) /* it is gone again; the next one will do */
        return;
    if (s->id == 0)
        zkr__lease_begin(&s->lease, s->opened_at);
    s->id = zkr__zk_session_id(s->zk);
    s->timeout_ms = granted_timeout_ms(s); /* may differ every time */
    zkr__lease_set_timeout(&s->lease, s->timeout_ms * ZKR__MS);
    zkr__heartbeat_recheck_locked(s);
    move_locked(s,
                s->sm.state == ZKR_SESSION_CONNECTING ? ZKR_SESSION_CONNECTED
                                                      : ZKR_SESSION_RECONNECTED,
                "established");
    zkr__scout_rest_locked(s);
    each_claim_locked(s, resume_claim);
    zkr__op_pump_locked(s);
    zkr__pulse_start_locked(s);
}

static void disconnected_locked(struct zkr_session *s)
{
    if (!zkr__session_connected(s))
        return;
    move_locked(s, ZKR_SESSION_SUSPENDED, "connection lost");
    zkr__scout_wait_locked(s);
    each_claim_locked(s, suspend_claim);
}

/* Whatever was held is lost at once. Those who wait enter again when the
 * connector has closed the handle. */
static void lost_locked(struct zkr_session *s, const char *why)
{
    s->epoch++;
    s->id = 0;
    s->promised_until =
        zkr__heartbeat_has_lease(s) ? zkr__lease_until(&s->lease) : 0;
    reset_lease_locked(s);
    zkr__scout_rest_locked(s);
    move_locked(s, ZKR_SESSION_LOST, why);
    each_claim_locked(s, lose_claim);
}

void zkr__session_end_locked(struct zkr_session *s, int code,
                             enum zkr_session_state state, const char *why)
{
    s->over = code;
    move_locked(s, state, why);
    each_claim_locked(s, lose_claim);
    zkr__claims_fail_locked(s, code, why);
    zkr__calls_wake_locked(s);
}

static void handle_dead_locked(struct zkr_session *s)
{
    s->handle_dead = true;
    zkr__connector_wake_locked(s);
}

void zkr__session_lost_locked(struct zkr_session *s, int code)
{
    if (s->handle_dead || s->over != 0 || s->zk == NULL)
        return;
    if (code == ZKR__ZAUTHFAILED)
        zkr__session_end_locked(s, code, ZKR_SESSION_AUTH_FAILED,
                                "authentication failed");
    else
        lost_locked(s, "expired");
    handle_dead_locked(s);
}

void zkr__session_give_up_locked(struct zkr_session *s, const char *why)
{
    zkr__log(ZKR_LOG_WARNING, "session to %s: given up: %s", s->hosts.servers,
             why);
    lost_locked(s, why);
    handle_dead_locked(s);
}

/* Whatever is wrong may be so again: the next handle is made after a pause. */
static void read_only_locked(struct zkr_session *s)
{
    s->open_at = zkr__clock_deadline(s->opts.retry.cap_ms);
    zkr__session_give_up_locked(s, "a server says that it is read-only");
}

void zkr__session_handle_locked(struct zkr_session *s, enum zkr__zk_event event)
{
    if (s->handle_dead || s->over != 0)
        return;
    switch (event) {
    case ZKR__ZK_CONNECTED:
        connected_locked(s);
        break;
    case ZKR__ZK_DISCONNECTED:
        disconnected_locked(s);
        break;
    case ZKR__ZK_EXPIRED:
        zkr__session_lost_locked(s, ZKR__ZSESSIONEXPIRED);
        break;
    case ZKR__ZK_AUTH_FAILED:
        zkr__session_lost_locked(s, ZKR__ZAUTHFAILED);
        break;
    case ZKR__ZK_READ_ONLY:
        read_only_locked(s);
        break;
    }
}

void zkr__session_on_event(struct zkr_session *s, enum zkr__zk_event event)
{
    zkr__mtx_lock(&s->lock);
    if (s->zk != NULL) {
        zkr__session_handle_locked(s, event);
    } else if (s->opening) { /* the connector has not got the handle yet */
        s->early = true;
        s->early_event = event;
    }
    zkr__mtx_unlock(&s->lock);
}

static void end_claim_of_past_epoch(struct zkr__claim *c)
{
    if (c->epoch != c->session->epoch || c->session->over != 0)
        zkr__claim_epoch_over_locked(c);
}

void zkr__session_flush_locked(struct zkr_session *s)
{
    int rc = s->over == 0             ? ZKR__ZSESSIONEXPIRED
             : s->over == ZKR_ECLOSED ? ZKR__ZCLOSING
                                      : s->over;

    zkr__op_flush_locked(s, s->over != 0, rc);
    if (s->over != 0)
        zkr__leftovers_end_locked(s);
    each_claim_locked(s, end_claim_of_past_epoch);
    zkr__watch_flush_locked(s);
}

enum zkr_session_state zkr_session_state(zkr_session *s)
{
    enum zkr_session_state state;

    if (zkr__session_check(s, "session") != ZKR_OK)
        return ZKR_SESSION_CLOSED;
    zkr__mtx_lock(&s->lock);
    state = (enum zkr_session_state)s->sm.state;
    zkr__mtx_unlock(&s->lock);
    return state;
}

int64_t zkr_session_id(zkr_session *s)
{
    int64_t id;

    if (zkr__session_check(s, "session") != ZKR_OK)
        return 0;
    zkr__mtx_lock(&s->lock);
    id = s->id;
    zkr__mtx_unlock(&s->lock);
    return id;
}

uint32_t zkr_session_timeout_ms(zkr_session *s)
{
    uint32_t timeout_ms;

    if (zkr__session_check(s, "session") != ZKR_OK)
        return 0;
    zkr__mtx_lock(&s->lock);
    timeout_ms = s->timeout_ms;
    zkr__mtx_unlock(&s->lock);
    return timeout_ms;
}

uint64_t zkr_session_epoch(zkr_session *s)
{
    uint64_t epoch;

    if (zkr__session_check(s, "session") != ZKR_OK)
        return 0;
    zkr__mtx_lock(&s->lock);
    epoch = s->epoch;
    zkr__mtx_unlock(&s->lock);
    return epoch;
}

const char *zkr_session_state_name(enum zkr_session_state state)
{
    if ((unsigned)state > ZKR_SESSION_CLOSED)
        return "UNKNOWN";
    return table[state].name;
}
