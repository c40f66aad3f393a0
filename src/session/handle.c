/* SPDX-License-Identifier: Apache-2.0 */
/* The client's own handle, lent to a function of the user. */
#include <zkrecipes/zhandle.h>

#include "base/error.h"
#include "base/thread.h"
#include "session/connector.h"
#include "session/session.h"

/* While it is borrowed, the connector does not close it. */
static int borrow_locked(struct zkr_session *s, struct zkr__zk **zk) ZKR__LOCKED
{
    int rc = zkr__session_check_connected_locked(s);

    if (rc != ZKR_OK)
        return rc;
    zkr__session_ref(s); /* a close may only wait for us */
    s->borrowers++;
    *zk = s->zk;
    return ZKR_OK;
}

static void give_back_locked(struct zkr_session *s) ZKR__LOCKED
{
    s->borrowers--;
    zkr__connector_wake_locked(s);
}

/* The function runs without the lock, and may wait no more than a callback. */
static int lend(struct zkr_session *s, zkr_zhandle_fn fn, void *user)
{
    struct zkr__visit visit;
    struct zkr__zk *zk = NULL;
    int rc;

    zkr__session_lock(s);
    rc = borrow_locked(s, &zk);
    zkr__session_unlock(s);
    if (rc != ZKR_OK)
        return rc;
    zkr__dispatch_enter(s, &visit);
    rc = fn == NULL ? ZKR_OK : fn(zkr__zk_raw(zk), user);
    zkr__dispatch_leave(&visit);
    zkr__session_lock(s);
    give_back_locked(s);
    zkr__session_unlock(s);
    zkr__session_unref(s);
    return rc;
}

int zkr_session_with_handle(zkr_session *s, zkr_zhandle_fn fn, void *user)
{
    int rc = zkr__session_check(s, "session");
    ZKR__NOT_CANCELLED;

    if (rc != ZKR_OK)
        return rc;
    return lend(s, fn, user);
}
