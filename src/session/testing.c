/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a session on the servers, made on purpose by a test. */
#include <zkrecipes/testing.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include "session/session.h"

static int check_locked(struct zkr_session *s) ZKR__LOCKED
{
    int rc = zkr__session_check_connected_locked(s);

    if (rc == ZKR_OK && zkr__dispatch_inside_locked(s))
        rc = zkr__fail(ZKR_EDEADLK, "a callback cannot wait for the end of "
                                    "its session");
    return rc;
}

/* The connector closes the handle, and so the servers end the session. */
static int expire_unlocks(struct zkr_session *s) ZKR__UNLOCKS
{
    int64_t deadline = zkr__clock_deadline(s->opts.reply_timeout_ms);
    int rc = check_locked(s);

    if (rc != ZKR_OK)
        return rc;
    zkr__session_give_up_locked(s, ZKR_CAUSE_EXPIRED, "for a test");
    while (s->handle_dead || s->closing) {
        if (!zkr__cond_wait(&s->changed, &s->lock, deadline))
            return zkr__reason_explain_locked(
                s, zkr__fail(ZKR_ETIMEDOUT,
                             "session to %s: given up, but the client has not "
                             "closed it yet",
                             s->hosts.servers));
    }
    if (!s->told_server)
        return zkr__reason_explain_locked(
            s, zkr__fail(ZKR_EUNREACHABLE,
                         "session to %s: given up, but the server was not told",
                         s->hosts.servers));
    return zkr__session_check_open_locked(s);
}

int zkr_test_expire_session(zkr_session *s)
{
    int rc = zkr__session_check(s, "session");
    ZKR__NOT_CANCELLED;

    if (rc != ZKR_OK)
        return rc;
    zkr__session_ref(s); /* a close ends the wait */
    zkr__session_lock(s);
    rc = expire_unlocks(s);
    zkr__session_unlock(s);
    zkr__session_unref(s);
    return rc;
}
