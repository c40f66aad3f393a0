/* Opens and closes a session. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/thread_cancel.h"
#include "session/connector.h"
#include "session/retry.h"
#include "session/timer_thread.h"
#include "zk/probe.h"

#define DEFAULT_SESSION_TIMEOUT_MS 10000
#define DEFAULT_CONNECT_TIMEOUT_MS 15000
#define DEFAULT_REPLY_TIMEOUT_MS   5000
#define DEFAULT_LEASE_MARGIN_MS    50
/* The time after an open that failed, for the diagnosis, and for the threads to
 * end. */
#define AFTERMATH_MS 250
/* The time that a close waits for the connector, which takes less, unless it
 * waits for a name server. */
#define CLOSE_MS 6000

static int load_opts(struct zkr_session_opts *o,
                     const struct zkr_session_opts *opts)
{
    const uint32_t flags = ZKR_SESSION_OWN_LOOP | ZKR_SESSION_NO_LEASE;
    int rc = zkr__opts_load(o, sizeof(*o), sizeof(*o), opts, "session options");

    if (rc != ZKR_OK)
        return rc;
    if (o->session_timeout_ms == 0)
        o->session_timeout_ms = DEFAULT_SESSION_TIMEOUT_MS;
    if (o->session_timeout_ms < ZKR_SESSION_TIMEOUT_MIN_MS ||
        o->session_timeout_ms > ZKR_SESSION_TIMEOUT_MAX_MS)
        return zkr__fail(ZKR_EINVAL,
                         "session options: session_timeout_ms %u is not in "
                         "%u to %u",
                         o->session_timeout_ms, ZKR_SESSION_TIMEOUT_MIN_MS,
                         ZKR_SESSION_TIMEOUT_MAX_MS);
    if ((o->flags & ~flags) != 0)
        return zkr__fail(ZKR_EINVAL, "session options: unknown flags %#x",
                         o->flags);
    if ((o->auth_scheme == NULL) != (o->auth == NULL))
        return zkr__fail(ZKR_EINVAL, "session options: auth and auth_scheme "
                                     "need each other");
    if (o->connect_timeout_ms == 0)
        o->connect_timeout_ms = DEFAULT_CONNECT_TIMEOUT_MS;
    if (o->reply_timeout_ms == 0)
        o->reply_timeout_ms = DEFAULT_REPLY_TIMEOUT_MS;
    if (o->lease_margin_ms == 0)
        o->lease_margin_ms = DEFAULT_LEASE_MARGIN_MS;
    return zkr__retry_load(&o->retry);
}

static int copy_auth(struct zkr_session *s)
{
    const char *acl = s->opts.acl;

    if (s->opts.auth != NULL) {
        s->auth_scheme = strdup(s->opts.auth_scheme);
        s->auth = strdup(s->opts.auth);
        if (s->auth_scheme == NULL || s->auth == NULL)
            return zkr__fail(ZKR_ENOMEM, "session: out of memory");
    }
    if (acl == NULL)
        acl = s->auth == NULL ? "world:anyone:cdrwa" : "auth::cdrwa";
    return zkr__acl_parse(&s->acl, acl);
}

static void init_lists(struct zkr_session *s)
{
    zkr__list_init(&s->queued);
    zkr__list_init(&s->delayed);
    zkr__list_init(&s->in_flight);
    zkr__list_init(&s->refused);
    zkr__list_init(&s->calls);
    zkr__list_init(&s->watches);
    zkr__list_init(&s->listeners);
}

static int new_session(const char *hosts, const struct zkr_session_opts *opts,
                       struct zkr_session **ret_session)
{
    struct zkr_session *s = calloc(1, sizeof(*s));
    int rc;

    if (s == NULL)
        return zkr__fail(ZKR_ENOMEM, "session: out of memory");
    atomic_init(&s->refs, 1);
    s->pid = getpid();
    init_lists(s);
    zkr__op_init(&s->hello, s);
    zkr__op_init(&s->touch, s);
    (void)zkr__mtx_init(&s->lock);
    (void)zkr__cond_init(&s->timers_wake);
    (void)zkr__cond_init(&s->connector_wake);
    (void)zkr__cond_init(&s->changed);
    rc = load_opts(&s->opts, opts);
    zkr__session_init_states(s);
    if (zkr__dispatch_init(&s->dispatch,
                           rc == ZKR_OK &&
                               (s->opts.flags & ZKR_SESSION_OWN_LOOP) != 0) !=
        ZKR_OK)
        rc = ZKR_ESYSTEM;
    if (rc == ZKR_OK)
        rc = zkr__hosts_parse(&s->hosts, hosts, s->opts.chroot);
    if (rc == ZKR_OK)
        rc = copy_auth(s);
    if (rc == ZKR_OK)
        rc = zkr__security_load(&s->security, &s->opts);
    if (rc != ZKR_OK) {
        zkr__session_unref(s);
        return rc;
    }
    *ret_session = s;
    return ZKR_OK;
}

static int await_connection_unlocks(struct zkr_session *s,
                                    int64_t deadline) ZKR__UNLOCKS
{
    while (!zkr__session_connected(s) && s->over == 0 &&
           s->open_error == ZKR_OK &&
           zkr__cond_wait(&s->changed, &s->lock, deadline))
        ;
    if (zkr__session_connected(s))
        return ZKR_OK;
    if (s->over != 0)
        return zkr__fail(s->over, "session to %s: refused", s->hosts.servers);
    if (s->open_error != ZKR_OK)
        return zkr__fail(s->open_error, "session to %s: %s", s->hosts.servers,
                         zkr__connector_fault(s->open_error));
    return zkr__fail(ZKR_EUNREACHABLE, "session to %s: no answer in %u ms",
                     s->hosts.servers, s->opts.connect_timeout_ms);
}

static void greet_locked(struct zkr_session *s) ZKR__LOCKED;

/* A session may end before it is open; then the next one is used. */
static void on_greeting(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr_session *s = op->session;

    zkr__session_assert_locked(s);
    if (reply->rc == ZKR_ZSESSIONEXPIRED && s->over == 0) {
        greet_locked(s);
        return;
    }
    s->greeted = true;
    s->greeting = reply->rc;
    (void)pthread_cond_broadcast(&s->changed);
}

/* Sends a first request, which tells whether the server serves, and whether the
 * chroot exists. */
static void greet_locked(struct zkr_session *s) ZKR__LOCKED
{
    zkr__op_start_locked(&s->hello, ZKR__ZK_EXISTS, zkr__session_root(s),
                         ZKR__RETRY_ALWAYS, on_greeting);
}

static int greet_unlocks(struct zkr_session *s, int64_t deadline) ZKR__UNLOCKS
{
    greet_locked(s);
    while (!s->greeted && s->over == 0 &&
           zkr__cond_wait(&s->changed, &s->lock, deadline))
        ;
    if (s->over != 0)
        return zkr__fail(s->over, "session to %s: refused", s->hosts.servers);
    if (!s->greeted)
        return zkr__fail(ZKR_EUNREACHABLE,
                         "session to %s: connected, but no answer in %u ms",
                         s->hosts.servers, s->opts.connect_timeout_ms);
    if (s->greeting == ZKR_ZNONODE)
        return zkr__fail(ZKR_ENOCHROOT,
                         "session to %s: the chroot '%s' does not exist "
                         "(ZooKeeper -101, ZNONODE)",
                         s->hosts.servers, zkr__session_root(s));
    /* The servers tell everybody that a node is missing (ZOOKEEPER-2590). */
    if (s->greeting != ZKR_OK && s->greeting != ZKR_ZNOAUTH)
        return zkr__fail(s->greeting, "session to %s: first request",
                         s->hosts.servers);
    return ZKR_OK;
}

static void await_connector_unlocks(struct zkr_session *s,
                                    int64_t deadline) ZKR__UNLOCKS
{
    zkr__connector_wake_locked(s);
    while (!s->connector_done &&
           zkr__cond_wait(&s->changed, &s->lock, deadline))
        ;
}

/* If the connector is not done, it and the timer thread clean up when it is. */
static void leave_threads_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    bool done = s->connector_done;

    zkr__session_unlock(s);
    (void)(done ? pthread_join(s->connector, NULL)
                : pthread_detach(s->connector));
    (void)(done ? pthread_join(s->timer_thread, NULL)
                : pthread_detach(s->timer_thread));
    zkr__session_lock(s);
}

static int start_threads(struct zkr_session *s)
{
    int rc = zkr__timer_thread_start(s);

    if (rc != ZKR_OK)
        return rc;
    rc = zkr__connector_start(s);
    if (rc == ZKR_OK)
        return ZKR_OK;
    zkr__session_lock(s);
    s->connector_done = true;
    zkr__timer_thread_wake_locked(s);
    zkr__session_unlock(s);
    (void)pthread_join(s->timer_thread, NULL);
    return rc;
}

static int connect_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    int64_t deadline = zkr__clock_deadline(s->opts.connect_timeout_ms);
    int rc = await_connection_unlocks(s, deadline);

    return rc == ZKR_OK ? greet_unlocks(s, deadline) : rc;
}

static void give_up_open(struct zkr_session *s)
{
    zkr__session_lock(s);
    zkr__session_end_locked(s, ZKR_ECLOSED, ZKR_SESSION_CLOSED, "open failed");
    await_connector_unlocks(s, zkr__clock_deadline(AFTERMATH_MS));
    leave_threads_unlocks(s);
    zkr__session_unlock(s);
}

static int open_session(const char *hosts, const struct zkr_session_opts *opts,
                        zkr_session **ret_session)
{
    struct zkr_session *s = NULL;
    int rc;

    rc = new_session(hosts, opts, &s);
    if (rc != ZKR_OK)
        return rc;
    rc = start_threads(s);
    if (rc == ZKR_OK) {
        zkr__session_lock(s);
        rc = connect_unlocks(s);
        zkr__session_unlock(s);
        if (rc == ZKR_OK)
            rc = zkr__dispatch_start(s);
        if (rc != ZKR_OK) {
            give_up_open(s);
            if (rc == ZKR_EUNREACHABLE)
                rc = zkr__probe(s->hosts.plain, &s->security, AFTERMATH_MS);
        }
    }
    if (rc == ZKR_OK)
        *ret_session = s;
    else
        zkr__session_unref(s);
    return rc;
}

int zkr_session_open(const char *hosts, const struct zkr_session_opts *opts,
                     zkr_session **ret_session)
{
    int cancel;
    int rc;

    if (ret_session == NULL)
        return zkr__fail(ZKR_EINVAL, "ret_session is NULL");
    cancel = zkr__thread_cancel_disable();
    rc = open_session(hosts, opts, ret_session);
    zkr__thread_cancel_restore(cancel);
    return rc;
}

/* A name server may block the connector for ever. If the connector was opening
 * the handle of the session, there is none, and the requests that would end
 * with it end here. If it was opening a scout, there may be a handle, which
 * this thread closes. */
static void end_threads_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    int64_t deadline = zkr__clock_deadline(CLOSE_MS);

    zkr__connector_wake_locked(s); /* no scout is needed any more */
    if (s->scout.away)
        zkr__connector_close_handle_unlocks(s);
    await_connector_unlocks(s, deadline);
    if (s->opening || s->scout.away)
        zkr__session_flush_locked(s);
    else
        await_connector_unlocks(s, ZKR__NEVER);
    leave_threads_unlocks(s);
}

static int close_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    bool had_session = s->id != 0;

    if (zkr__dispatch_inside_locked(s))
        return zkr__fail(ZKR_EDEADLK, "a callback cannot close its session");
    zkr__session_end_locked(s, ZKR_ECLOSED, ZKR_SESSION_CLOSED, "closed");
    end_threads_unlocks(s);
    if (had_session && !s->told_server)
        return zkr__fail(ZKR_EPENDING,
                         "session to %s: closed without a connection; the "
                         "server keeps it for up to %u ms",
                         s->hosts.servers, s->timeout_ms);
    return ZKR_OK;
}

int zkr_session_close(zkr_session *s)
{
    int cancel;
    int rc;

    if (s == NULL)
        return ZKR_OK;
    rc = zkr__session_check(s, "session");
    if (rc != ZKR_OK)
        return rc;
    cancel = zkr__thread_cancel_disable();
    zkr__session_lock(s);
    rc = close_unlocks(s);
    zkr__session_unlock(s);
    if (rc != ZKR_EDEADLK) {
        zkr__dispatch_stop(s);
        zkr__session_unref(s);
    }
    zkr__thread_cancel_restore(cancel);
    return rc;
}
