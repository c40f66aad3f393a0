/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a session, and the effects of each change on the objects that
 * were opened on it. */
#include "session/session.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "session/connector.h"
#include "session/rank.h"
#include "session/scout.h"
#include "session/upcalls.h"
#include "session/watch.h"

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

/* `why` is for debugging; people are told the reason. */
static void move_locked(struct zkr_session *s,
                        enum zkr_session_state_kind state,
                        const char *why) ZKR__LOCKED
{
    bool is_quiet =
        state == ZKR_SESSION_CONNECTED || state == ZKR_SESSION_CLOSED;

    s->counters.reconnects += s->sm.state == ZKR_SESSION_SUSPENDED &&
                              state == ZKR_SESSION_RECONNECTED;
    s->counters.expiries += state == ZKR_SESSION_LOST;
    zkr__sm_move(&s->sm, (int)state, why);
    if (zkr__reason_of_state_locked(s) != ZKR_CAUSE_NONE)
        why = s->reason.last.text;
    zkr__log(is_quiet ? ZKR_LOG_INFO : ZKR_LOG_WARNING, "session to %s: %s: %s",
             s->hosts.servers, zkr_session_state_name(state), why);
    zkr__listeners_tell_locked(s);
    zkr__cond_wake(&s->changed);
}

static void reset_lease(struct zkr_session *s)
{
    zkr__lease_reset(&s->lease, s->opts.lease_ping_gap_ms * ZKR__MS,
                     (int)s->opts.lease_hops,
                     s->opts.lease_margin_ms * ZKR__MS);
}

void zkr__session_init_states(struct zkr_session *s)
{
    s->epoch = 1;
    s->scout.due = ZKR__NEVER;
    s->rank_due = ZKR__NEVER;
    reset_lease(s);
    s->sm = (struct zkr__sm){ ZKR_SESSION_CONNECTING, table, "session", "-" };
}

/* Timers without a delay would never release the lock. */
static uint32_t granted_timeout_ms(struct zkr_session *s)
{
    uint32_t timeout_ms = zkr__zk_timeout_ms(s->zk);

    return timeout_ms == 0 ? 1 : timeout_ms;
}

static void connected_locked(struct zkr_session *s) ZKR__LOCKED
{
    if (zkr__session_connected(s))
        return;
    if (!zkr__zk_log_in(s->zk)) /* it is gone again; the next one will do */
        return;
    if (s->id == 0)
        zkr__lease_begin(&s->lease, s->opened_at);
    s->id = zkr__zk_session_id(s->zk);
    s->timeout_ms = granted_timeout_ms(s); /* may differ every time */
    zkr__lease_connected(&s->lease, zkr__clock_boot(), s->timeout_ms * ZKR__MS);
    zkr__rank_ask_locked(s);
    zkr__window_begin(&s->window, s->timeout_ms * ZKR__MS);
    move_locked(s,
                s->sm.state == ZKR_SESSION_CONNECTING ? ZKR_SESSION_CONNECTED
                                                      : ZKR_SESSION_RECONNECTED,
                "established");
    (void)zkr__reason_look_locked(s); /* that is past now */
    s->reason.told = 0;
    s->reason.count = 0;
    zkr__scout_rest_locked(s);
    s->answered_at = zkr__clock_boot();
    if (s->observer != NULL)
        s->observer->upcalls->resumed(s);
    zkr__op_pump_locked(s);
    zkr__keepalive_start_locked(s);
}

static void disconnected_locked(struct zkr_session *s) ZKR__LOCKED
{
    if (!zkr__session_connected(s))
        return;
    if (!zkr__reason_take_locked(s))
        zkr__reason_set_locked(s, ZKR_CAUSE_HUNG_UP, "", "");
    s->reason.told |= ZKR__BIT(s->reason.last.cause);
    move_locked(s, ZKR_SESSION_SUSPENDED, "connection lost");
    zkr__scout_wait_locked(s);
    if (s->observer != NULL)
        s->observer->upcalls->suspended(s);
}

/* Every held lock is lost at once. Waiting claims enter the queue again when
 * the connector has closed the handle. */
static void lost_locked(struct zkr_session *s, const char *why) ZKR__LOCKED
{
    s->epoch++;
    s->answers_before = s->answers;
    s->answers = 0;
    s->id = 0;
    s->promised_until =
        zkr__session_has_lease(s) ? zkr__lease_promised(&s->lease) : 0;
    reset_lease(s);
    zkr__scout_rest_locked(s);
    move_locked(s, ZKR_SESSION_LOST, why);
    if (s->observer != NULL)
        s->observer->upcalls->lost(s);
}

static void handle_dead_locked(struct zkr_session *s) ZKR__LOCKED
{
    s->handle_dead = true;
    zkr__connector_wake_locked(s);
}

static void tell_waiter(struct zkr__list *link, void *unused)
{
    struct zkr__waiter *w = ZKR__CONTAINER(link, struct zkr__waiter, link);

    (void)unused;
    w->over(w);
}

void zkr__session_end_locked(struct zkr_session *s, int code,
                             enum zkr_session_state_kind state, const char *why)
{
    s->over = code;
    if (s->sm.state != (int)state) /* an open that failed is closed later */
        move_locked(s, state, why);
    if (s->observer != NULL) {
        s->observer->upcalls->lost(s);
        s->observer->upcalls->failed(s, code, why);
    }
    zkr__list_each(&s->waiters, tell_waiter, NULL);
    handle_dead_locked(s);
}

void zkr__session_lost_locked(struct zkr_session *s, int code)
{
    if (s->handle_dead || s->over != 0 || s->zk == NULL)
        return;
    if (code == ZKR_ZAUTHFAILED) {
        if (zkr__reason_look_locked(s) != ZKR_CAUSE_CREDENTIALS) {
            struct zkr_session_error last = s->reason.last;

            zkr__reason_set_locked(s, ZKR_CAUSE_CREDENTIALS, last.server, "");
        }
        zkr__session_end_locked(s, code, ZKR_SESSION_AUTH_FAILED,
                                "authentication failed");
        return;
    }
    zkr__reason_set_locked(s, ZKR_CAUSE_EXPIRED, "", "");
    lost_locked(s, "expired");
    handle_dead_locked(s);
}

void zkr__session_give_up_locked(struct zkr_session *s, enum zkr_cause cause,
                                 const char *text)
{
    zkr__reason_set_locked(s, cause, "", text);
    lost_locked(s, "given up");
    handle_dead_locked(s);
}

/* The same error may come again, so the next handle is made after a pause. */
static void read_only_locked(struct zkr_session *s) ZKR__LOCKED
{
    s->open_at = zkr__clock_deadline(s->opts.retry.cap_ms);
    zkr__session_give_up_locked(s, ZKR_CAUSE_READ_ONLY, "");
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
        zkr__session_lost_locked(s, ZKR_ZSESSIONEXPIRED);
        break;
    case ZKR__ZK_AUTH_FAILED:
        zkr__session_lost_locked(s, ZKR_ZAUTHFAILED);
        break;
    case ZKR__ZK_READ_ONLY:
        read_only_locked(s);
        break;
    }
}

void zkr__session_on_event(struct zkr_session *s, enum zkr__zk_event event)
{
    zkr__session_lock(s);
    if (s->zk != NULL) {
        zkr__session_handle_locked(s, event);
    } else { /* the connector has not got the handle yet */
        s->early = true;
        s->early_event = event;
    }
    zkr__session_unlock(s);
}

void zkr__session_flush_locked(struct zkr_session *s)
{
    int rc = s->over == 0             ? ZKR_ZSESSIONEXPIRED
             : s->over == ZKR_ECLOSED ? ZKR_ZCLOSING
                                      : s->over;

    zkr__op_flush_locked(s, rc);
    if (s->observer != NULL)
        s->observer->upcalls->flushed(s);
    zkr__watch_flush_locked(s);
}

const char *zkr_session_state_name(enum zkr_session_state_kind state)
{
    if ((unsigned)state > ZKR_SESSION_CLOSED)
        return "UNKNOWN";
    return table[state].name;
}
