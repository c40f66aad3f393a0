/* SPDX-License-Identifier: Apache-2.0 */
/* The rank: finds out whether the server of this connection leads, for shared
 * evidence. */
#include "session/rank.h"

#include "base/clock.h"
#include "base/log.h"
#include "session/connector.h"
#include "zk/probe.h"

/* How long the connector waits for the answer. */
#define ANSWER_MS 500

void zkr__rank_ask_locked(struct zkr_session *s)
{
    if (s->opts.lease_beacon == NULL || !zkr__session_has_lease(s))
        return;
    if ((s->opts.flags & ZKR_SESSION_NOT_ON_LEADER) != 0) {
        zkr__lease_follows(&s->lease, s->lease.connected);
    } else if (s->opts.tls_ca == NULL) {
        s->rank_due = zkr__clock_now();
        zkr__connector_wake_locked(s);
    }
}

int64_t zkr__rank_due(const struct zkr_session *s)
{
    return s->zk != NULL && s->over == 0 && zkr__session_connected(s)
               ? s->rank_due
               : ZKR__NEVER;
}

void zkr__rank_ask_unlocks(struct zkr_session *s, const char *servers)
{
    int64_t connected = s->lease.connected;
    char server[ZKR__ZK_SERVER_MAX];

    (void)servers;
    s->rank_due = ZKR__NEVER;
    zkr__zk_server(s->zk, server);
    zkr__session_unlock(s);
    bool follows = zkr__probe_follows(server, ANSWER_MS);
    zkr__session_lock(s);
    if (!zkr__session_connected(s) || s->lease.connected != connected)
        return; /* it is asked again */
    if (follows)
        zkr__lease_follows(&s->lease, zkr__clock_boot());
    zkr__log(ZKR_LOG_DEBUG, "session to %s: server %s %s", s->hosts.servers,
             server,
             follows ? "follows" : "leads, or does not say that it follows");
}
