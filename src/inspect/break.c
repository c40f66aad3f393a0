/* SPDX-License-Identifier: Apache-2.0 */
/* A break: deletes the node of a contender, if it is the one that was seen. */
#include <zkrecipes/participants.h>

#include "base/error.h"
#include "inspect/check.h"
#include "session/call.h"
#include "session/session.h"

struct breaking {
    struct zkr__call call; /* first: see call.h */
    struct zkr__ask ask;
    int64_t token;
    bool sent; /* a delete whose answer has not come */
};

static const struct zkr__call_type type = {
    .noun = "break",
    .size = sizeof(struct breaking),
};

static void look_locked(struct zkr__call *call) ZKR__LOCKED;

/* A request that was lost on the way, or belongs to a session that is over, may
 * have been carried out. */
static bool is_unsure(int rc)
{
    enum zkr__outcome outcome = zkr__error_outcome(rc);

    return outcome == ZKR__UNKNOWN || outcome == ZKR__OVER;
}

static void on_delete(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct breaking *b = ZKR__CONTAINER(ask, struct breaking, ask);
    bool unsure = is_unsure(reply->rc);

    zkr__session_assert_locked(ask->call->session);
    if (unsure || zkr__error_outcome(reply->rc) == ZKR__NOT_DONE) {
        b->sent = b->sent || unsure;
        look_locked(ask->call);
        return;
    }
    if (reply->rc == ZKR_ZNONODE && b->sent)
        zkr__call_end_locked(ask->call, ZKR_OK, "");
    else
        zkr__call_end_locked(ask->call, reply->rc,
                             reply->rc == ZKR_ZNONODE
                                 ? "the node has gone"
                                 : "cannot delete the node");
}

static void on_exists(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct breaking *b = ZKR__CONTAINER(ask, struct breaking, ask);
    bool gone = reply->rc == ZKR_ZNONODE ||
                (reply->rc == ZKR_OK && reply->stat.czxid != b->token);

    zkr__session_assert_locked(ask->call->session);
    if (gone && b->sent)
        zkr__call_end_locked(ask->call, ZKR_OK, "");
    else if (reply->rc == ZKR_ZNONODE)
        zkr__call_end_locked(ask->call, reply->rc, "the node has gone");
    else if (reply->rc != ZKR_OK)
        zkr__call_end_locked(ask->call, reply->rc, "cannot look at the node");
    else if (gone)
        zkr__call_end_locked(ask->call, ZKR_ENOTHELD,
                             "another node has that name now");
    else
        zkr__call_ask_once_locked(ask, ZKR__ZK_DELETE, b->call.full_path,
                                  on_delete);
}

static void caught_up(struct zkr__ask *ask)
{
    zkr__session_assert_locked(ask->call->session);
    zkr__call_ask_locked(ask, ZKR__ZK_EXISTS, ask->call->full_path, on_exists);
}

static void look_locked(struct zkr__call *call) ZKR__LOCKED
{
    struct breaking *b = ZKR__CONTAINER(call, struct breaking, call);

    zkr__session_assert_locked(call->session);
    zkr__call_sync_locked(&b->ask, caught_up);
}

enum zkr_error zkr_participants_break(zkr_session *session, const char *node,
                                      int64_t token, int64_t timeout_ms)
{
    struct breaking *b;
    int rc = zkr__session_check(session, "session");

    if (rc == ZKR_OK)
        rc = zkr__check_contender(session, type.noun, node);
    if (rc == ZKR_OK && token == 0)
        rc = zkr__fail(ZKR_EINVAL, "break '%.300s': no node has the token 0",
                       node);
    if (rc != ZKR_OK)
        return rc;
    b = zkr__call_new(&type, session, node, timeout_ms);
    if (b == NULL)
        return ZKR_ENOMEM;
    zkr__ask_init(&b->ask, &b->call);
    b->token = token;
    rc = zkr__call_run(&b->call, look_locked);
    zkr__call_unref(&b->call);
    return rc;
}
