/* SPDX-License-Identifier: Apache-2.0 */
/* The reason: why the session has no connection, or had none last. */
#include "session/reason.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "session/session.h"

/* The words stand behind the server, if it is one server's. */
static const struct {
    const char *name;
    bool of_server;
    const char *words;
} causes[] = {
    [ZKR_CAUSE_NONE] = { "NONE", false, "no reason is known" },
    [ZKR_CAUSE_REFUSED] = { "REFUSED", true, "refuses the connection" },
    [ZKR_CAUSE_SILENT] = { "SILENT", true, "does not answer" },
    [ZKR_CAUSE_HUNG_UP] = { "HUNG_UP", true, "has broken the connection" },
    [ZKR_CAUSE_UNREACHABLE] = { "UNREACHABLE", true, "cannot be reached" },
    [ZKR_CAUSE_NAME] = { "NAME", false, "no host name can be resolved" },
    [ZKR_CAUSE_TLS] = { "TLS", true,
                        "and we do not agree: the TLS handshake failed" },
    [ZKR_CAUSE_CERTIFICATE_EXPIRED] = { "CERTIFICATE_EXPIRED", true,
                                        "shows a certificate that has "
                                        "expired" },
    [ZKR_CAUSE_CERTIFICATE_HOST] = { "CERTIFICATE_HOST", true,
                                     "shows a certificate for another host" },
    [ZKR_CAUSE_CREDENTIALS] = { "CREDENTIALS", true,
                                "refuses our credentials" },
    [ZKR_CAUSE_READ_ONLY] = { "READ_ONLY", true, "is read-only" },
    [ZKR_CAUSE_EXPIRED] = { "EXPIRED", false,
                            "the servers have ended the session" },
    [ZKR_CAUSE_RESTORED] = { "RESTORED", false,
                             "the servers serve others, and not this session; "
                             "they may have been restored from an older copy" },
};

/* Keeps the last fault, in place of an earlier one of the same server. */
static void keep(struct zkr__reason *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->each[i].server, r->last.server) != 0)
            r->each[n++] = r->each[i];
    }
    if (n == ZKR__REASONS)
        memmove(r->each, r->each + 1, --n * sizeof(r->each[0]));
    r->each[n] = r->last;
    r->count = n + 1;
}

void zkr__reason_set_locked(struct zkr_session *s, enum zkr_cause cause,
                            const char *server, const char *text)
{
    struct zkr_session_error *e = &s->reason.last;
    bool named = causes[cause].of_server && server[0] != '\0';

    s->counters.causes[cause]++;
    e->cause = cause;
    (void)snprintf(e->server, sizeof(e->server), "%s", named ? server : "");
    (void)snprintf(e->text, sizeof(e->text), "%s%s%s%s%s%s",
                   !causes[cause].of_server ? ""
                   : named                  ? "server "
                                            : "a server",
                   e->server, causes[cause].of_server ? " " : "",
                   causes[cause].words, text[0] != '\0' ? ": " : "", text);
    s->reason.at = zkr__clock_boot();
    keep(&s->reason);
}

bool zkr__reason_take_locked(struct zkr_session *s)
{
    struct zkr__zk_fault fault = { .cause = ZKR_CAUSE_NONE };

    if (s->zk != NULL)
        zkr__zk_take_fault(s->zk, &fault);
    if (fault.cause == ZKR_CAUSE_NONE)
        return false;
    zkr__reason_set_locked(s, fault.cause, fault.server, fault.text);
    s->reason.at = fault.at;
    if (!zkr__session_connected(s) &&
        (s->reason.told & ZKR__BIT(fault.cause)) == 0) {
        s->reason.told |= ZKR__BIT(fault.cause);
        zkr__log(ZKR_LOG_WARNING, "session to %s: no connection: %s",
                 s->hosts.servers, s->reason.last.text);
    }
    return true;
}

enum zkr_cause zkr__reason_look_locked(struct zkr_session *s)
{
    enum zkr_cause cause = ZKR_CAUSE_NONE;

    while (zkr__reason_take_locked(s))
        cause = s->reason.last.cause;
    return cause;
}

const char *zkr__reason_all_locked(const struct zkr_session *s,
                                   char text[ZKR__WHY_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < s->reason.count && used < ZKR__WHY_MAX; i++)
        used += (size_t)snprintf(text + used, ZKR__WHY_MAX - used, "%s%s",
                                 i == 0 ? "" : "; ", s->reason.each[i].text);
    return text;
}

const char *zkr__reason_text_locked(struct zkr_session *s,
                                    char text[ZKR__WHY_MAX])
{
    bool connected = zkr__session_connected(s);
    char server[ZKR__ZK_SERVER_MAX];
    char all[ZKR__WHY_MAX];
    int64_t at = s->answered_at;

    text[0] = '\0';
    if (connected) {
        zkr__zk_server(s->zk, server);
    } else {
        (void)zkr__reason_look_locked(s);
        at = s->reason.at;
    }
    if (connected || s->reason.count > 0)
        (void)snprintf(text, ZKR__WHY_MAX, "; %s%s, %lld ms ago",
                       connected ? "the last answer was of server " : "",
                       connected ? server : zkr__reason_all_locked(s, all),
                       (long long)((zkr__clock_boot() - at) / ZKR__MS));
    return text;
}

int zkr__reason_explain_locked(struct zkr_session *s, int rc)
{
    char text[ZKR__WHY_MAX];

    zkr__error_append(zkr__reason_text_locked(s, text));
    return rc;
}

int zkr__reason_explain(struct zkr_session *s, int rc)
{
    zkr__session_lock(s);
    (void)zkr__reason_explain_locked(s, rc);
    zkr__session_unlock(s);
    return rc;
}

enum zkr_cause zkr__reason_of_state_locked(const struct zkr_session *s)
{
    return s->sm.state == ZKR_SESSION_SUSPENDED ||
                   s->sm.state == ZKR_SESSION_LOST ||
                   s->sm.state == ZKR_SESSION_AUTH_FAILED
               ? s->reason.last.cause
               : ZKR_CAUSE_NONE;
}

int zkr_session_last_error(zkr_session *s, struct zkr_session_error *ret_error)
{
    int rc = zkr__answer_begin(ret_error, sizeof(*ret_error), "session");

    if (rc == ZKR_OK)
        rc = zkr__session_check(s, "session");
    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(s);
    (void)zkr__reason_look_locked(s);
    s->reason.last.age_ms = (zkr__clock_boot() - s->reason.at) / ZKR__MS;
    if (s->reason.last.cause != ZKR_CAUSE_NONE)
        zkr__answer_fill(ret_error, &s->reason.last, sizeof(s->reason.last));
    zkr__session_unlock(s);
    return ZKR_OK;
}

const char *zkr_cause_name(enum zkr_cause cause)
{
    return (unsigned)cause < ZKR_CAUSES ? causes[cause].name : "UNKNOWN";
}
