/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a session on the servers, made on purpose, by a test of a
 * program. */
#include <zkrecipes/testing.h>

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "session/session.h"
#include "zk/takeover.h"

struct victim {
    char server[ZKR__ZK_SERVER_MAX];
    int64_t id;
    char password[ZKR__PASSWORD_SIZE];
    uint64_t epoch;
};

static int find_locked(struct zkr_session *s, struct victim *v) ZKR__LOCKED
{
    int rc = zkr__session_check_connected_locked(s);

    if (rc != ZKR_OK)
        return rc;
    if (zkr__dispatch_inside_locked(s))
        return zkr__fail(ZKR_EDEADLK, "a callback cannot wait for the end of "
                                      "its session");
    if (s->opts.tls_ca != NULL)
        return zkr__fail(ZKR_ENOTSUP,
                         "session to %s: over TLS no session is ended",
                         s->hosts.servers);
    zkr__zk_server(s->zk, v->server);
    zkr__zk_password(s->zk, v->password);
    v->id = s->id;
    v->epoch = s->epoch;
    return ZKR_OK;
}

/* Waits until this process has learned that the epoch is over, too. */
static int await_end_unlocks(struct zkr_session *s, uint64_t epoch,
                             int64_t deadline) ZKR__UNLOCKS
{
    while (s->epoch == epoch && s->over == 0) {
        if (!zkr__cond_wait(&s->changed, &s->lock, deadline))
            return zkr__fail(ZKR_ETIMEDOUT,
                             "session to %s: ended by the servers, but the "
                             "client has not been told yet",
                             s->hosts.servers);
    }
    return s->epoch == epoch ? zkr__session_check_open_locked(s) : ZKR_OK;
}

static int at_most(uint32_t ms)
{
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* A session that is unknown has just ended by itself. */
static int expire(struct zkr_session *s)
{
    uint32_t timeout_ms = s->opts.reply_timeout_ms;
    struct victim v;
    int rc;
    int error;

    zkr__session_lock(s);
    rc = find_locked(s, &v);
    zkr__session_unlock(s);
    if (rc != ZKR_OK)
        return rc;
    error = zkr__takeover_end(v.server, v.id, v.password, at_most(timeout_ms));
    if (error != 0 && error != -ESRCH)
        return zkr__fail(ZKR_EUNREACHABLE, "server %s: %s", v.server,
                         strerror(-error));
    zkr__session_lock(s);
    rc = await_end_unlocks(
        s, v.epoch, zkr__clock_deadline((int64_t)timeout_ms + s->timeout_ms));
    zkr__session_unlock(s);
    return rc;
}

int zkr_test_expire_session(zkr_session *s)
{
    int rc = zkr__session_check(s, "session");
    ZKR__NOT_CANCELLED;

    if (rc != ZKR_OK)
        return rc;
    zkr__session_ref(s); /* a close ends the wait */
    rc = expire(s);
    zkr__session_unref(s);
    return rc;
}
