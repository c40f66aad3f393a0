/* SPDX-License-Identifier: Apache-2.0 */
/* Awaiting: a caller who waits until a node, or the list of its children, is as
 * it should be. */
#include "session/await.h"

#include "base/error.h"
#include "session/call.h"
#include "session/client.h"
#include "session/look.h"
#include "session/session.h"

struct zkr__awaiting {
    struct zkr__call call;
    struct zkr__look *look;
    const struct zkr__await *await;
    void *user;
    bool once; /* the first result decides */
    bool seen; /* there was one */
};

static const struct zkr__call_type awaiting_type = {
    .noun = "wait for",
    .size = sizeof(struct zkr__awaiting),
};

int zkr__await_absence(const struct zkr__zk_reply *reply, void *unused)
{
    (void)unused;
    if (reply->rc == ZKR_ZNONODE)
        return ZKR_OK;
    return reply->rc == ZKR_OK ? ZKR_EBUSY : reply->rc;
}

int zkr__await_presence(const struct zkr__zk_reply *reply, void *unused)
{
    (void)unused;
    return reply->rc == ZKR_ZNONODE ? ZKR_EBUSY : reply->rc;
}

struct zkr__patience zkr__patience(const struct zkr_session *s,
                                   int64_t timeout_ms)
{
    return (struct zkr__patience){ zkr__session_deadline(s, timeout_ms),
                                   timeout_ms == 0 };
}

static void judged_locked(struct zkr__awaiting *a, int rc) ZKR__LOCKED
{
    if (rc != ZKR_EBUSY || a->once)
        zkr__call_end_locked(&a->call, rc,
                             rc == ZKR_EBUSY ? a->await->why : "refused");
}

static bool on_seen(void *owner, const struct zkr__zk_reply *reply)
{
    struct zkr__awaiting *a = owner;

    zkr__session_assert_locked(a->call.session);
    a->seen = true;
    judged_locked(a, a->await->judge(reply, a->user));
    return true;
}

static void on_created(void *owner)
{
    struct zkr__awaiting *a = owner;

    zkr__session_assert_locked(a->call.session);
    judged_locked(a, a->await->created(a->user));
}

int zkr__await_begin(const struct zkr__await *await, struct zkr_session *s,
                     const char *path, void *user,
                     const struct zkr__patience *until,
                     struct zkr__awaiting **ret_awaiting)
{
    struct zkr__awaiting *a = zkr__call_new(&awaiting_type, s, path, 0);

    if (a == NULL)
        return ZKR_ENOMEM;
    a->call.deadline = until->deadline;
    a->await = await;
    a->user = user;
    a->once = until->for_servers_only;
    a->look = zkr__look_new(s, path, await->what, a, on_seen);
    if (a->look == NULL) {
        zkr__call_unref(&a->call);
        return zkr__fail(ZKR_ENOMEM, "%s '%.300s': out of memory", await->noun,
                         path);
    }
    if (await->created != NULL)
        zkr__look_hear(a->look, on_created);
    zkr__session_lock(s);
    zkr__look_start_locked(a->look);
    zkr__session_unlock(s);
    *ret_awaiting = a;
    return ZKR_OK;
}

bool zkr__await_has_come(struct zkr__awaiting *a)
{
    bool has_come;

    zkr__session_lock(a->call.session);
    has_come = a->call.ended && a->call.rc == ZKR_OK;
    zkr__session_unlock(a->call.session);
    return has_come;
}

/* It is being read already. */
static void nothing(struct zkr__call *call)
{
    (void)call;
}

int zkr__await_rest(struct zkr__awaiting *a)
{
    int rc = zkr__call_run(&a->call, nothing);

    if (rc != ZKR_EBUSY && rc != ZKR_ZOPERATIONTIMEOUT)
        return rc;
    if (rc == ZKR_ZOPERATIONTIMEOUT)
        rc = a->seen ? ZKR_ETIMEDOUT : ZKR_EUNREACHABLE;
    return zkr__fail(rc, "%s '%.300s': %s", a->await->noun, a->call.path,
                     a->seen ? a->await->why : "no answer before the deadline");
}

void zkr__await_end(struct zkr__awaiting *a)
{
    zkr__session_lock(a->call.session);
    zkr__look_stop_locked(a->look);
    zkr__session_unlock(a->call.session);
    zkr__call_unref(&a->call);
}

/* No look is behind a sync that the session has seen answered: a new session
 * begins with a transaction, which its server has applied. */
int zkr__await(const struct zkr__await *await, struct zkr_session *s,
               const char *path, void *user, const struct zkr__patience *until)
{
    struct zkr__awaiting *a;
    int rc = zkr__session_catch_up(s, await->noun, path, until->deadline);

    if (rc == ZKR_OK)
        rc = zkr__await_begin(await, s, path, user, until, &a);
    if (rc != ZKR_OK)
        return rc;
    rc = zkr__await_rest(a);
    zkr__await_end(a);
    return rc;
}
