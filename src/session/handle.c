/* SPDX-License-Identifier: Apache-2.0 */
/* The client's own handle, lent to a function of the user. */
#include <zkrecipes/zhandle.h>

#include "base/error.h"
#include "base/thread.h"
#include "session/connector.h"
#include "session/session.h"

/* The function runs without the lock, and may wait no more than a callback. As
 * long as it runs the connector does not close the handle, and a close waits.
 */
static int lend(struct zkr_session *s, zkr_zhandle_fn fn, void *user)
{
    struct zkr__visit visit;
    struct zkr__zk *zk;

    zkr__session_lock(s);
    int rc = zkr__session_check_connected_locked(s);
    if (rc == ZKR_OK && ZKR__CLIENT_INSIDE)
        rc = zkr__fail(ZKR_ENOTSUP, "session: its ZooKeeper client is inside "
                                    "the library, where no program can call "
                                    "it");
    s->borrowers += rc == ZKR_OK;
    zk = s->zk;
    zkr__session_unlock(s);
    if (rc != ZKR_OK)
        return rc;
    zkr__dispatch_enter(s, &visit);
    rc = fn == NULL ? ZKR_OK : fn(zkr__zk_raw(zk), user);
    zkr__dispatch_leave(&visit);
    zkr__session_lock(s);
    s->borrowers--;
    zkr__connector_wake_locked(s);
    zkr__session_unlock(s);
    return rc;
}

int zkr_session_with_handle(zkr_session *s, zkr_zhandle_fn fn, void *user)
{
    int rc = zkr__session_check(s, "session");
    ZKR__NOT_CANCELLED;

    if (rc != ZKR_OK)
        return rc;
    zkr__session_ref(s); /* a close may only wait for us */
    rc = lend(s, fn, user);
    zkr__session_unref(s);
    return rc;
}
