/* SPDX-License-Identifier: Apache-2.0 */
/* A condition: a request of a caller who waits for a state of a node. */
#include "request/condition.h"

#include "base/error.h"
#include "request/client.h"
#include "request/look.h"
#include "session/session.h"

struct until {
    struct zkr__request request;
    struct zkr__look look;
    const struct zkr__condition *condition;
    void *user;
    bool once; /* the first result decides */
};

static int explain(const struct zkr__request *r)
{
    const struct until *u = ZKR__CONTAINER(r, struct until, request);

    return zkr__fail(r->rc, "%s '%.300s': %s", u->condition->noun, r->path,
                     r->why);
}

static const struct zkr__request_kind kind = {
    .noun = "wait",
    .size = sizeof(struct until),
    .explain = explain,
};

int zkr__condition_absent(const struct zkr__zk_reply *reply, void *unused)
{
    (void)unused;
    if (reply->rc == ZKR_ZNONODE)
        return ZKR_OK;
    return reply->rc == ZKR_OK ? ZKR_EBUSY : reply->rc;
}

int zkr__condition_present(const struct zkr__zk_reply *reply, void *unused)
{
    (void)unused;
    return reply->rc == ZKR_ZNONODE ? ZKR_EBUSY : reply->rc;
}

struct zkr__time_limit zkr__time_limit(const struct zkr_session *s,
                                       int64_t timeout_ms)
{
    return (struct zkr__time_limit){ zkr__session_deadline(s, timeout_ms),
                                     timeout_ms == 0 };
}

static void judged_locked(struct until *u, int rc) ZKR__LOCKED
{
    if (rc != ZKR_EBUSY || u->once)
        zkr__request_end_locked(
            &u->request, rc, rc == ZKR_EBUSY ? u->condition->why : "refused");
}

/* From the first result on it is the others who are late. */
static bool on_seen(struct zkr__look *look, const struct zkr__zk_reply *reply)
{
    struct until *u = ZKR__CONTAINER(look, struct until, look);

    zkr__session_assert_locked(u->request.session);
    u->request.late = ZKR_ETIMEDOUT;
    u->request.late_why = u->condition->why;
    judged_locked(u, u->condition->judge(reply, u->user));
    return true;
}

static void on_created(struct zkr__look *look)
{
    struct until *u = ZKR__CONTAINER(look, struct until, look);

    zkr__session_assert_locked(u->request.session);
    judged_locked(u, u->condition->created(u->user));
}

static void look_locked(struct zkr__request *r)
{
    zkr__session_assert_locked(r->session);
    zkr__look_start_locked(&ZKR__CONTAINER(r, struct until, request)->look);
}

int zkr__condition_begin(const struct zkr__condition *condition,
                         struct zkr_session *s, const char *path, void *user,
                         const struct zkr__time_limit *limit,
                         struct zkr__request **ret_request)
{
    struct until *u = zkr__request_new(&kind, s, path, limit->deadline);

    if (u == NULL)
        return ZKR_ENOMEM;
    zkr__look_init(&u->look, s, &u->request.ref, u->request.full_path,
                   condition->what, on_seen);
    if (condition->created != NULL)
        u->look.created = on_created;
    u->condition = condition;
    u->user = user;
    u->once = limit->for_servers_only;
    int rc = zkr__request_begin(&u->request, look_locked);
    if (rc == ZKR_OK)
        *ret_request = &u->request;
    else
        zkr__condition_end(&u->request);
    return rc;
}

void zkr__condition_end(struct zkr__request *r)
{
    zkr__session_lock(r->session);
    zkr__look_stop_locked(&ZKR__CONTAINER(r, struct until, request)->look);
    zkr__request_end_locked(r, ZKR_ECANCELED, "nobody waits any more");
    zkr__session_unlock(r->session);
    zkr__request_unref(r);
}

/* No look is behind a sync that the session has seen answered: a new session
 * begins with a transaction, which its server has applied. */
int zkr__condition_await(const struct zkr__condition *condition,
                         struct zkr_session *s, const char *path, void *user,
                         const struct zkr__time_limit *limit)
{
    struct zkr__request *r;
    int rc = zkr__session_catch_up(s, condition->noun, path, limit->deadline);

    if (rc == ZKR_OK)
        rc = zkr__condition_begin(condition, s, path, user, limit, &r);
    if (rc != ZKR_OK)
        return rc;
    rc = zkr__request_wait(r);
    zkr__condition_end(r);
    return rc;
}
