/* SPDX-License-Identifier: Apache-2.0 */
/* The first request: finds out whether a new session is served. */
#include "session/first_request.h"

#include <stdio.h>

#include "base/clock.h"
#include "session/connector.h"
#include "session/session.h"
#include "session/timer_thread.h"
#include "zk/probe.h"

/* How long a probe waits for the servers; with TLS, which takes them some
 * work. */
#define PROBE_MS     250
#define PROBE_TLS_MS 2000
/* With ZKR_SESSION_ONE_ROUND: how long the client has for its first attempts
 * before they are examined. Servers that are there are not disturbed so. */
#define ROUND_MS 100
/* How long to wait with the next probe, when a server has refused a handshake
 * again; twice as long each time. */
#define PAUSE_MS 1000

static int probe_ms(const struct zkr_session *s)
{
    return s->opts.tls_ca != NULL ? PROBE_TLS_MS : PROBE_MS;
}

/* How long the open waits for the probe. A server that says nothing takes all
 * the time of one with TLS. */
static int limit_ms(const struct zkr_session *s)
{
    return s->opts.tls_ca != NULL ? PROBE_TLS_MS + PROBE_MS : PROBE_MS;
}

static void run_notice(struct zkr__notice *notice)
{
    struct zkr__first_request *g =
        ZKR__CONTAINER(notice, struct zkr__first_request, notice);

    zkr__error_set_detail(g->detail);
    g->fn(g->rc, g->user);
}

void zkr__first_request_init(struct zkr_session *s)
{
    struct zkr__first_request *g = &s->first_request;

    zkr__op_init(&g->hello, s, NULL);
    g->hello.class = ZKR__OP_CHECKS;
    zkr__notice_init(&g->notice, run_notice);
    g->probe_at = ZKR__NEVER;
}

static void tell_locked(struct zkr_session *s) ZKR__LOCKED
{
    if (s->first_request.fn != NULL)
        zkr__dispatch_post_locked(s, &s->first_request.notice);
    zkr__cond_wake(&s->changed);
}

void zkr__first_request_end_locked(struct zkr_session *s, int rc)
{
    struct zkr__first_request *g = &s->first_request;

    if (g->done)
        return;
    if (rc != ZKR_OK)
        (void)snprintf(g->detail, sizeof(g->detail), "%s", zkr_error_detail());
    g->done = true;
    g->rc = rc;
    g->probe_at = ZKR__NEVER;
    zkr__timer_thread_disarm_locked(s, &g->limit);
    if (rc != ZKR_OK && s->over == 0)
        zkr__session_end_locked(s, rc, ZKR_SESSION_CLOSED, "open failed");
    tell_locked(s);
}

static void greet_locked(struct zkr_session *s) ZKR__LOCKED;

static int judge_locked(struct zkr_session *s, int rc) ZKR__LOCKED
{
    const char *servers = s->hosts.servers;

    if (s->over != 0)
        return zkr__reason_explain_locked(
            s, zkr__fail(s->over, "session to %s: %s", servers,
                         s->over == ZKR_ECLOSED ? "closed" : "refused"));
    if (rc == ZKR_ZNONODE)
        return zkr__fail(ZKR_ENOCHROOT,
                         "session to %s: the chroot '%s' does not exist "
                         "(ZooKeeper -101, ZNONODE)",
                         servers, zkr__session_root(s));
    /* The servers tell everybody that a node is missing (ZOOKEEPER-2590). */
    if (rc == ZKR_OK || rc == ZKR_ZNOAUTH)
        return ZKR_OK;
    return zkr__fail(rc, "session to %s: first request", servers);
}

/* A session may end before it is open; then the next one is used. */
static void on_answer(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr_session *s = op->session;

    zkr__session_assert_locked(s);
    if (s->first_request.done)
        return;
    if (s->over == 0 && reply->rc == ZKR_ZSESSIONEXPIRED)
        greet_locked(s);
    else
        zkr__first_request_end_locked(s, judge_locked(s, reply->rc));
}

/* The answer tells whether the server serves, and whether the chroot exists. */
static void greet_locked(struct zkr_session *s)
{
    zkr__op_start_locked(&s->first_request.hello, ZKR__ZK_EXISTS,
                         zkr__session_root(s), ZKR__RETRY_ALWAYS, on_answer);
}

/* Here the connector has had its time for a probe, too: a name server keeps
 * it. */
static void on_limit(struct zkr__timer *timer)
{
    struct zkr_session *s =
        ZKR__CONTAINER(timer, struct zkr_session, first_request.limit);

    zkr__session_assert_locked(s);
    int rc = zkr__fail(s->over != 0 ? s->over : ZKR_EUNREACHABLE,
                       "session to %s: %sno answer in %u ms", s->hosts.servers,
                       zkr__session_connected(s) ? "connected, but " : "",
                       s->opts.connect_timeout_ms);
    zkr__first_request_end_locked(s, zkr__reason_explain_locked(s, rc));
}

void zkr__first_request_begin_locked(struct zkr_session *s, zkr_open_fn fn,
                                     void *user)
{
    struct zkr__first_request *g = &s->first_request;
    int64_t deadline = zkr__clock_deadline(s->opts.connect_timeout_ms);
    int64_t round = zkr__clock_deadline(ROUND_MS);
    bool one_round = (s->opts.flags & ZKR_SESSION_ONE_ROUND) != 0;

    g->fn = fn;
    g->user = user;
    if (s->over != 0) { /* there was no handle, or we are refused already */
        zkr__first_request_end_locked(s, judge_locked(s, ZKR_OK));
        tell_locked(s);
        return;
    }
    g->probe_at = one_round && round < deadline ? round : deadline;
    zkr__timer_thread_arm_locked(s, &g->limit, deadline + limit_ms(s) * ZKR__MS,
                                 on_limit);
    zkr__connector_wake_locked(s);
    greet_locked(s);
}

void zkr__first_request_hurry_locked(struct zkr_session *s)
{
    struct zkr__first_request *g = &s->first_request;

    if (zkr__timer_is_armed(&g->limit) && g->probe_again < g->probe_at)
        g->probe_at = g->probe_again;
}

/* The error when servers accept connections, and none serves the session. */
static int refused_locked(struct zkr_session *s) ZKR__LOCKED
{
    char why[ZKR__WHY_MAX];

    if (zkr__reason_is_tls(s->reason.last.cause))
        return zkr__fail(ZKR_ZSSLCONNECTIONERROR, "no TLS connection: %s",
                         zkr__reason_all_locked(s, why));
    if ((s->reason.told & ZKR__BIT(ZKR_CAUSE_CREDENTIALS)) != 0)
        return zkr__fail(ZKR_ZAUTHFAILED,
                         "session to %s: a server refuses our credentials; %s",
                         s->hosts.servers, zkr_error_detail());
    return ZKR_ENOTZK;
}

/* Before the deadline only a refusal by all is an end, and only without a
 * connection. One of the connection is so for one round only: a server may just
 * be starting. */
void zkr__first_request_probe_unlocks(struct zkr_session *s,
                                      const char *servers)
{
    struct zkr__first_request *g = &s->first_request;
    int64_t deadline = g->limit.instant - limit_ms(s) * ZKR__MS;
    int64_t now = zkr__clock_now();
    bool last = now >= deadline;
    enum zkr__verdict verdict;
    enum zkr__verdict enough = (s->opts.flags & ZKR_SESSION_ONE_ROUND) != 0
                                   ? ZKR__ALL_REFUSE
                                   : ZKR__ALL_REFUSE_TLS;

    g->pause_ms = g->pause_ms == 0 ? PAUSE_MS : 2 * g->pause_ms;
    g->probe_again = now + g->pause_ms * ZKR__MS;
    g->probe_at = last ? ZKR__NEVER : deadline;
    zkr__session_unlock(s);
    int rc = zkr__probe(servers, &s->opts, probe_ms(s), &verdict);
    zkr__session_lock(s);
    if (rc == ZKR_ENOTZK) /* the probe checks less */
        rc = refused_locked(s);
    if (last || (verdict >= enough && !zkr__session_connected(s)))
        zkr__first_request_end_locked(s, rc);
}

int zkr__first_request_await_unlocks(struct zkr_session *s)
{
    struct zkr__first_request *g = &s->first_request;

    while (!g->done)
        (void)zkr__cond_wait(&s->changed, &s->lock, ZKR__NEVER);
    if (g->rc != ZKR_OK)
        zkr__error_set_detail(g->detail);
    return g->rc;
}
