/* SPDX-License-Identifier: Apache-2.0 */
/* The scout: finds out whether the servers serve others. */
#include "session/scout.h"

#include "base/clock.h"
#include "base/log.h"
#include "session/connector.h"

/* How long the client may take to close a scout, which a server has just
 * served, or which has no connection. */
#define CLOSE_MS 1000

static int64_t timeout(const struct zkr_session *s)
{
    return s->timeout_ms * ZKR__MS;
}

void zkr__scout_wait_locked(struct zkr_session *s)
{
    s->scout.due = zkr__clock_now() + timeout(s);
    s->scout.served_since = 0;
    s->scout.lost++;
    zkr__connector_wake_locked(s);
}

void zkr__scout_rest_locked(struct zkr_session *s)
{
    s->scout.due = ZKR__NEVER;
    zkr__connector_wake_locked(s);
}

int64_t zkr__scout_due(const struct zkr_session *s)
{
    return s->zk == NULL || s->over != 0 ? ZKR__NEVER : s->scout.due;
}

static void on_event(struct zkr_session *s, enum zkr__zk_event event)
{
    if (event != ZKR__ZK_CONNECTED)
        return;
    zkr__session_lock(s);
    s->scout.served = true;
    zkr__connector_wake_locked(s);
    zkr__session_unlock(s);
}

static const struct zkr__zk_upcalls upcalls = { .on_event = on_event };

/* Tells whether it is still the same loss of the connection. */
static bool is_needed(const struct zkr_session *s, unsigned lost)
{
    return s->over == 0 && !s->handle_dead && s->scout.lost == lost &&
           s->scout.due != ZKR__NEVER;
}

/* We wait for it as long as for a session. */
static void send_unlocks(struct zkr_session *s, const char *servers,
                         unsigned lost) ZKR__UNLOCKS
{
    const struct zkr__zk_config config = {
        .servers = servers,
        .timeout_ms = (int)s->opts.session_timeout_ms,
        .opts = &s->opts,
        .credentials = zkr__credentials_ref(s->credentials),
    };
    int64_t deadline = zkr__clock_now() + timeout(s);
    struct zkr__zk *zk = NULL;

    zkr__session_unlock(s);
    int rc = zkr__zk_open(&config, &upcalls, s, &zk);
    zkr__session_lock(s);
    zkr__credentials_unref(config.credentials);
    if (rc != ZKR_OK)
        return;
    while (!s->scout.served && is_needed(s, lost) &&
           zkr__cond_wait(&s->connector_wake, &s->lock, deadline))
        ;
    zkr__session_unlock(s);
    (void)zkr__zk_close(zk, zkr__clock_deadline(CLOSE_MS));
    zkr__session_lock(s);
}

void zkr__scout_send_unlocks(struct zkr_session *s, const char *servers)
{
    unsigned lost = s->scout.lost;

    if ((s->reason.told & ZKR__BIT(ZKR_CAUSE_CREDENTIALS)) != 0) {
        zkr__session_give_up_locked(s, ZKR_CAUSE_CREDENTIALS, "");
        return;
    }
    s->scout.served = false;
    send_unlocks(s, servers, lost);
    if (!is_needed(s, lost))
        return;
    int64_t now = zkr__clock_now();
    s->scout.due = now + timeout(s);
    zkr__log(ZKR_LOG_DEBUG, "session to %s: suspended; a scout is %s",
             s->hosts.servers, s->scout.served ? "served" : "not served");
    if (!s->scout.served)
        s->scout.served_since = 0;
    else if (s->scout.served_since == 0)
        s->scout.served_since = now;
    else if (now - s->scout.served_since >= timeout(s))
        zkr__session_give_up_locked(s, ZKR_CAUSE_RESTORED, "");
}
