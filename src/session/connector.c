/* SPDX-License-Identifier: Apache-2.0 */
/* The connector: the session's thread that opens and closes handles. */
#include "session/connector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "session/rank.h"
#include "session/scout.h"
#include "session/timer_thread.h"
#include "session/watch.h"

/* The time that a close waits for answers. For a dead handle they come at once,
 * or, in a race of the client, never (ZOOKEEPER-2802). */
#define DRAIN_MS      1000
#define DRAIN_DEAD_MS 50
/* The time that the client may take to close a handle: 3 s until it has sent
 * the request, and 1.5 s for the answer. Then the handle is left behind. */
#define CLOSE_MS 4750
/* How often a handle without a connection is asked why, and whether it is
 * refused: often where a server may refuse what it is shown. */
#define WHY_MS     1000
#define REFUSED_MS 100

static const struct zkr__zk_upcalls upcalls = {
    .on_event = zkr__session_on_event,
    .on_reply = zkr__op_on_reply,
    .on_watch = zkr__watch_on_event,
};

static void fail_to_open_locked(struct zkr_session *s, int rc) ZKR__LOCKED
{
    char why[ZKR__DETAIL_MAX];

    (void)snprintf(why, sizeof(why), "%s", zkr_error_detail());
    zkr__log(ZKR_LOG_WARNING, "session to %s: cannot make a handle: %s",
             s->hosts.servers, why);
    s->open_at = zkr__clock_deadline(s->opts.retry.cap_ms);
    zkr__first_request_end_locked(
        s, zkr__fail(rc, "session to %s: %s", s->hosts.servers, why));
}

static void open_handle_unlocks(struct zkr_session *s,
                                const char *servers) ZKR__UNLOCKS
{
    char *rotated = zkr__attempt_take_locked(s);
    const struct zkr__zk_config config = {
        .servers = rotated != NULL ? rotated : servers,
        .in_order = rotated != NULL,
        .timeout_ms = (int)s->opts.session_timeout_ms,
        .opts = &s->opts,
        .credentials = zkr__credentials_ref(s->credentials),
        .acl = &s->acl,
    };
    struct zkr__zk *zk = NULL;

    s->early = false;
    s->opened_at = zkr__clock_boot();
    zkr__session_unlock(s);
    int rc = zkr__zk_open(&config, &upcalls, s, &zk);
    zkr__session_lock(s);
    s->zk = zk;
    if (rc == ZKR_OK && config.credentials != s->credentials)
        zkr__zk_renew(zk, s->credentials);
    zkr__credentials_unref(config.credentials);
    if (rc == ZKR_OK && strcmp(servers, s->hosts.plain) != 0)
        (void)zkr__zk_move(zk, s->hosts.plain);
    free(rotated);
    zkr__attempt_begin_locked(s);
    if (rc != ZKR_OK) {
        fail_to_open_locked(s, rc);
    } else if (s->early) {
        zkr__session_handle_locked(s, s->early_event);
    }
}

/* Waits for the answers to requests under way: requests that are not answered
 * when the handle is closed are lost inside the client, with their memory
 * (ZOOKEEPER-3868). */
static void drain_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    int64_t deadline =
        zkr__clock_deadline(s->over == ZKR_ECLOSED ? DRAIN_MS : DRAIN_DEAD_MS);

    while (!zkr__list_empty(&s->in_flight) && zkr__clock_now() < deadline)
        (void)zkr__cond_wait(&s->connector_wake, &s->lock, deadline);
}

/* After zkr__zk_close() no answer comes any more, so the library ends the
 * requests that still wait for one. */
void zkr__connector_close_handle_unlocks(struct zkr_session *s)
{
    struct zkr__zk *zk;

    while (s->closing)
        (void)zkr__cond_wait(&s->changed, &s->lock, ZKR__NEVER);
    s->closing = true;
    zk = s->zk;
    if (zk != NULL) {
        drain_unlocks(s);
        while (s->borrowers > 0)
            (void)zkr__cond_wait(&s->connector_wake, &s->lock, ZKR__NEVER);
        s->zk = NULL;
        zkr__session_unlock(s);
        s->told_server = zkr__zk_close(zk, zkr__clock_deadline(CLOSE_MS));
        zkr__session_lock(s);
    }
    s->handle_dead = false;
    zkr__session_flush_locked(s);
    s->closing = false;
    zkr__cond_wake(&s->changed);
}

static int64_t open_due(const struct zkr_session *s)
{
    return s->zk == NULL && s->over == 0 ? s->open_at : ZKR__NEVER;
}

static int64_t probe_due(const struct zkr_session *s)
{
    return s->over == 0 ? s->first_request.probe_at : ZKR__NEVER;
}

/* What the connector does besides, each when it is due; the first of those that
 * are. They ask about the servers, or ask these, for as long as that takes. The
 * list of the session may change meanwhile. */
static const struct {
    int64_t (*due)(const struct zkr_session *s);
    void (*run_unlocks)(struct zkr_session *s, const char *servers);
} duties[] = {
    { open_due, open_handle_unlocks },
    { probe_due, zkr__first_request_probe_unlocks },
    { zkr__attempt_due, zkr__attempt_next_unlocks },
    { zkr__scout_due, zkr__scout_send_unlocks },
    { zkr__rank_due, zkr__rank_ask_unlocks },
};

/* Whether a new session has no hope: each server has refused it in turn, some
 * of them the login. */
static bool is_refused_locked(struct zkr_session *s) ZKR__LOCKED
{
    unsigned round = s->first_request.done ? 0 : zkr__zk_round(s->zk);
    unsigned enough = ZKR__BIT(ZKR_CAUSE_CREDENTIALS) |
                      ZKR__BIT(ZKR_CAUSE_TLS) |
                      ZKR__BIT(ZKR_CAUSE_CERTIFICATE_EXPIRED) |
                      ZKR__BIT(ZKR_CAUSE_CERTIFICATE_HOST);

    if ((s->opts.flags & ZKR_SESSION_ONE_ROUND) != 0)
        enough |= ZKR__BIT(ZKR_CAUSE_REFUSED);
    return (round & ZKR__BIT(ZKR_CAUSE_CREDENTIALS)) != 0 &&
           (round & ~enough) == 0;
}

static int64_t ask_why_locked(struct zkr_session *s) ZKR__LOCKED
{
    bool is_secure = s->opts.tls_ca != NULL || s->opts.sasl_mechanism != NULL;

    if (s->zk == NULL || s->over != 0 || zkr__session_connected(s))
        return ZKR__NEVER;
    if (zkr__reason_is_tls(zkr__reason_look_locked(s)))
        zkr__first_request_hurry_locked(s);
    if (is_refused_locked(s))
        zkr__session_lost_locked(s, ZKR_ZAUTHFAILED);
    return zkr__clock_deadline(is_secure ? REFUSED_MS : WHY_MS);
}

/* Without memory it is tried again in a moment. */
static void run_unlocks(struct zkr_session *s,
                        void (*duty_unlocks)(struct zkr_session *,
                                             const char *)) ZKR__UNLOCKS
{
    char *servers = strdup(s->hosts.plain);

    if (servers == NULL) {
        (void)zkr__cond_wait(&s->connector_wake, &s->lock,
                             zkr__clock_deadline(REFUSED_MS));
        return;
    }
    s->away = true;
    duty_unlocks(s, servers);
    s->away = false;
    free(servers);
}

static void turn_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    int64_t next = ask_why_locked(s);
    int64_t now = zkr__clock_now();

    for (size_t i = 0; i < sizeof(duties) / sizeof(duties[0]); i++) {
        int64_t due = duties[i].due(s);

        if (now >= due) {
            run_unlocks(s, duties[i].run_unlocks);
            return;
        }
        next = due < next ? due : next;
    }
    (void)zkr__cond_wait(&s->connector_wake, &s->lock, next);
}

static void *connector_main(void *arg)
{
    struct zkr_session *s = arg;

    zkr__session_lock(s);
    while (s->over != ZKR_ECLOSED) {
        if (s->handle_dead)
            zkr__connector_close_handle_unlocks(s);
        else
            turn_unlocks(s);
    }
    zkr__connector_close_handle_unlocks(s);
    s->connector_done = true;
    zkr__timer_thread_wake_locked(s); /* it ends, too */
    zkr__cond_wake(&s->changed);
    zkr__session_unlock(s);
    zkr__session_unref(s);
    return NULL;
}

int zkr__connector_start(struct zkr_session *s)
{
    zkr__session_ref(s);
    int rc =
        zkr__thread_start(&s->connector, "zkr-connector", connector_main, s);
    if (rc != ZKR_OK)
        zkr__session_unref(s);
    return rc;
}
