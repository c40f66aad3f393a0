/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes a session. */
#include "session/session.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/process.h"
#include "base/thread.h"
#include "session/connector.h"
#include "session/retry.h"
#include "session/timer_thread.h"
#include "session/upcalls.h"
#include "zk/security.h"

#define DEFAULT_SESSION_TIMEOUT_MS 10000
#define DEFAULT_CONNECT_TIMEOUT_MS 15000
#define DEFAULT_REPLY_TIMEOUT_MS   5000
#define DEFAULT_LEASE_MARGIN_MS    50
#define LEASE_HOPS_MAX             2u
/* The time after an open that failed for the threads to end. */
#define AFTERMATH_MS 250
/* The time that a close waits for the connector, which takes less, unless it
 * waits for a name server. */
#define CLOSE_MS 6000

/* The strings of the options. Some are secret, so all are wiped. */
static const size_t strings[] = {
#define STRING(name) offsetof(struct zkr_session_opts, name)
    STRING(chroot),       STRING(auth_scheme),   STRING(auth),
    STRING(acl),          STRING(tls_ca),        STRING(tls_cert),
    STRING(tls_key),      STRING(tls_password),  STRING(sasl_mechanism),
    STRING(sasl_service), STRING(sasl_host),     STRING(sasl_realm),
    STRING(sasl_user),    STRING(sasl_password), STRING(sasl_password_file),
    STRING(lease_beacon),
};

static char **string_of(struct zkr_session_opts *o, size_t i)
{
    return (char **)(void *)((char *)o + strings[i]);
}

static int copy_strings(struct zkr_session_opts *o)
{
    int rc = ZKR_OK;

    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        char **string = string_of(o, i);

        if (*string != NULL && (*string = strdup(*string)) == NULL)
            rc = zkr__no_memory("session", NULL);
    }
    return rc;
}

static void wipe_strings(struct zkr_session_opts *o)
{
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        zkr__credentials_wipe(*string_of(o, i));
}

/* ZooKeeper's servers call themselves zookeeper/zk-sasl-md5 to DIGEST-MD5. */
static void set_default_strings(struct zkr_session_opts *o)
{
    if (o->acl == NULL)
        o->acl = o->auth == NULL ? "world:anyone:cdrwa" : "auth::cdrwa";
    if (o->sasl_mechanism == NULL)
        return;
    if (o->sasl_service == NULL)
        o->sasl_service = "zookeeper";
    if (o->sasl_host == NULL && strcmp(o->sasl_mechanism, "DIGEST-MD5") == 0)
        o->sasl_host = "zk-sasl-md5";
}

static int load_opts(struct zkr_session_opts *o,
                     const struct zkr_session_opts *opts)
{
    const uint32_t flags = ZKR_SESSION_OWN_LOOP | ZKR_SESSION_NO_LEASE |
                           ZKR_SESSION_ONE_ROUND | ZKR_SESSION_NOT_ON_LEADER;
    int rc = zkr__opts_load(o, sizeof(*o), sizeof(*o), opts, "session options");

    if (rc != ZKR_OK)
        return rc;
    set_default_strings(o);
    rc = copy_strings(o);
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
    if (o->reserved != 0)
        return zkr__fail(ZKR_EINVAL, "session options: reserved is not 0");
    if (o->lease_hops > LEASE_HOPS_MAX)
        return zkr__fail(ZKR_EINVAL,
                         "session options: lease_hops is %u, and not 1 or %u",
                         o->lease_hops, LEASE_HOPS_MAX);
    if (o->log_level > ZKR_LOG_DEBUG)
        return zkr__fail(ZKR_EINVAL, "session options: log_level is %u",
                         o->log_level);
    if ((o->auth_scheme == NULL) != (o->auth == NULL))
        return zkr__fail(ZKR_EINVAL, "session options: auth and auth_scheme "
                                     "need each other");
    if (o->log_level == 0)
        o->log_level = ZKR_LOG_WARNING;
    if (o->connect_timeout_ms == 0)
        o->connect_timeout_ms = DEFAULT_CONNECT_TIMEOUT_MS;
    if (o->reply_timeout_ms == 0)
        o->reply_timeout_ms = DEFAULT_REPLY_TIMEOUT_MS;
    if (o->lease_hops == 0)
        o->lease_hops = 1;
    if (o->lease_margin_ms == 0)
        o->lease_margin_ms = DEFAULT_LEASE_MARGIN_MS;
    return zkr__retry_load(&o->retry);
}

static void init_lists(struct zkr_session *s)
{
    for (int class = 0; class < ZKR__OP_CLASSES; class ++)
        zkr__list_init(&s->queued[class]);
    zkr__list_init(&s->delayed);
    zkr__list_init(&s->in_flight);
    zkr__list_init(&s->refused);
    zkr__list_init(&s->waiters);
    zkr__list_init(&s->watches);
    zkr__list_init(&s->listeners);
}

static void free_session(struct zkr__ref *ref)
{
    struct zkr_session *s = ZKR__CONTAINER(ref, struct zkr_session, ref);

    assert(zkr__list_empty(&s->watches));
    assert(zkr__list_empty(&s->in_flight));
    for (int class = 0; class < ZKR__OP_CLASSES; class ++)
        assert(zkr__list_empty(&s->queued[class]));
    if (s->observer != NULL)
        s->observer->upcalls->freed(s);
    zkr__dispatch_done(&s->dispatch);
    zkr__mtx_done(&s->lock);
    zkr__hosts_done(&s->hosts);
    free(s->attempt.servers);
    zkr__acl_done(&s->acl);
    zkr__credentials_unref(s->credentials);
    wipe_strings(&s->opts);
    free(s);
}

static int new_session(const char *hosts, const struct zkr_session_opts *opts,
                       struct zkr_session **ret_session)
{
    struct zkr_session *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return zkr__no_memory("session", NULL);
    zkr__ref_init(&s->ref, free_session);
    s->pid = getpid();
    s->process = zkr__process_number();
    init_lists(s);
    zkr__first_request_init(s);
    zkr__op_init(&s->touch, s, NULL);
    s->touch.class = ZKR__OP_CHECKS;
    (void)zkr__mtx_init(&s->lock);
    int rc = load_opts(&s->opts, opts);
    s->log = (struct zkr__log_hook){ s->opts.log, s->opts.log_user,
                                     (int)s->opts.log_level };
    zkr__session_init_states(s);
    if (zkr__dispatch_init(&s->dispatch,
                           rc == ZKR_OK &&
                               (s->opts.flags & ZKR_SESSION_OWN_LOOP) != 0) !=
        ZKR_OK)
        rc = ZKR_ESYSTEM;
    if (rc == ZKR_OK)
        rc = zkr__hosts_parse(&s->hosts, hosts, s->opts.chroot);
    if (rc == ZKR_OK)
        rc = zkr__acl_parse(&s->acl, s->opts.acl);
    if (rc == ZKR_OK && s->opts.lease_beacon != NULL)
        rc = zkr__session_check_path(s, "session options", "lease_beacon",
                                     s->opts.lease_beacon, ZKR_PATH_MAX);
    if (rc == ZKR_OK)
        rc = zkr__security_load(&s->opts);
    if (rc == ZKR_OK &&
        (s->credentials = zkr__credentials_new(&s->opts)) == NULL)
        rc = zkr__no_memory("session", NULL);
    if (rc != ZKR_OK) {
        zkr__session_unref(s);
        return rc;
    }
    *ret_session = s;
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

static int start_session(const char *hosts, const struct zkr_session_opts *opts,
                         zkr_open_fn fn, void *user, zkr_session **ret_session)
{
    struct zkr_session *s = NULL;
    int rc = new_session(hosts, opts, &s);

    if (rc != ZKR_OK)
        return rc;
    rc = zkr__dispatch_start(s);
    if (rc == ZKR_OK) {
        rc = start_threads(s);
        if (rc != ZKR_OK)
            zkr__dispatch_stop(s);
    }
    if (rc != ZKR_OK) {
        zkr__session_unref(s);
        return rc;
    }
    zkr__session_lock(s);
    *ret_session = s;
    zkr__first_request_begin_locked(s, fn, user);
    zkr__session_unlock(s);
    return ZKR_OK;
}

/* Threads that are left behind, and objects of the user that outlive the
 * session, do not call its log hook: the program may have freed log_user. */
static void finish(struct zkr_session *s)
{
    zkr__dispatch_stop(s);
    zkr__session_lock(s);
    zkr__log_hook_end(&s->log);
    zkr__session_unlock(s);
    zkr__session_unref(s);
}

/* A session that does not open is closed, and freed. */
static int await_session(zkr_session *s)
{
    zkr__session_lock(s);
    int rc = zkr__first_request_await_unlocks(s);
    if (rc != ZKR_OK) {
        zkr__session_end_locked(s, ZKR_ECLOSED, ZKR_SESSION_CLOSED,
                                "open failed");
        await_connector_unlocks(s, zkr__clock_deadline(AFTERMATH_MS));
        leave_threads_unlocks(s);
    }
    zkr__session_unlock(s);
    if (rc != ZKR_OK)
        finish(s);
    return rc;
}

int zkr_session_open(const char *hosts, const struct zkr_session_opts *opts,
                     zkr_session **ret_session)
{
    struct zkr_session *s = NULL;
    ZKR__NOT_CANCELLED;
    int rc = ZKR__OUTPUT(ret_session);

    if (rc != ZKR_OK)
        return rc;
    rc = start_session(hosts, opts, NULL, NULL, &s);
    if (rc == ZKR_OK)
        rc = await_session(s);
    if (rc == ZKR_OK)
        *ret_session = s;
    return rc;
}

int zkr_session_open_async(const char *hosts,
                           const struct zkr_session_opts *opts, zkr_open_fn fn,
                           void *user, zkr_session **ret_session)
{
    ZKR__NOT_CANCELLED;
    int rc = ZKR__OUTPUT(ret_session);

    return rc == ZKR_OK ? start_session(hosts, opts, fn, user, ret_session)
                        : rc;
}

/* A name server may block the connector for ever. Then this thread closes the
 * handle, if there is one, and the requests that would end with it end here. */
static void end_threads_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    int64_t deadline = zkr__clock_deadline(CLOSE_MS);

    zkr__connector_wake_locked(s); /* no scout is needed any more */
    if (s->away)
        zkr__connector_close_handle_unlocks(s);
    await_connector_unlocks(s, deadline);
    if (s->away)
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
    ZKR__NOT_CANCELLED;

    if (s == NULL)
        return ZKR_OK;
    int rc = zkr__session_check(s, "session");
    if (rc != ZKR_OK)
        return rc;
    zkr__session_lock(s);
    rc = close_unlocks(s);
    zkr__session_unlock(s);
    if (rc != ZKR_EDEADLK)
        finish(s);
    return rc;
}
