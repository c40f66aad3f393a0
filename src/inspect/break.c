/* SPDX-License-Identifier: Apache-2.0 */
/* A break: deletes the node of a contender, if it is the one that was seen. */
#include <zkrecipes/participants.h>

#include "base/error.h"
#include "inspect/check.h"
#include "request/request.h"
#include "session/session.h"

struct breaking {
    struct zkr__request request;
    int64_t token;
    bool sent; /* a delete whose answer has not come */
};

static const struct zkr__request_kind kind = {
    .noun = "break",
    .size = sizeof(struct breaking),
};

static void look_locked(struct zkr__request *r);

/* A request that was lost on the way, or belongs to a session that is over, may
 * have been carried out. */
static bool is_unsure(int rc)
{
    enum zkr__outcome outcome = zkr__error_outcome(rc);

    return outcome == ZKR__UNKNOWN || outcome == ZKR__OVER;
}

static void on_delete(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct zkr__request *r = ask->request;
    struct breaking *b = ZKR__CONTAINER(r, struct breaking, request);
    bool unsure = is_unsure(reply->rc);

    zkr__session_assert_locked(r->session);
    if (unsure || zkr__error_outcome(reply->rc) == ZKR__NOT_DONE) {
        b->sent = b->sent || unsure;
        look_locked(r);
        return;
    }
    if (reply->rc == ZKR_ZNONODE && b->sent)
        zkr__request_end_locked(r, ZKR_OK, "");
    else
        zkr__request_end_locked(r, reply->rc,
                                reply->rc == ZKR_ZNONODE
                                    ? "the node has gone"
                                    : "cannot delete the node");
}

static void on_exists(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct zkr__request *r = ask->request;
    struct breaking *b = ZKR__CONTAINER(r, struct breaking, request);
    bool gone = reply->rc == ZKR_ZNONODE ||
                (reply->rc == ZKR_OK && reply->stat.czxid != b->token);

    zkr__session_assert_locked(r->session);
    if (gone && b->sent)
        zkr__request_end_locked(r, ZKR_OK, "");
    else if (reply->rc == ZKR_ZNONODE)
        zkr__request_end_locked(r, reply->rc, "the node has gone");
    else if (reply->rc != ZKR_OK)
        zkr__request_end_locked(r, reply->rc, "cannot look at the node");
    else if (gone)
        zkr__request_end_locked(r, ZKR_ENOTHELD,
                                "another node has that name now");
    else
        zkr__ask_locked(ask, ZKR__ZK_DELETE, r->full_path, ZKR__RETRY_NEVER,
                        on_delete);
}

static void caught_up(struct zkr__request *r)
{
    zkr__session_assert_locked(r->session);
    zkr__ask_locked(&r->ask, ZKR__ZK_EXISTS, r->full_path, ZKR__RETRY_POLICY,
                    on_exists);
}

static void look_locked(struct zkr__request *r)
{
    zkr__session_assert_locked(r->session);
    zkr__request_sync_locked(r, caught_up);
}

int zkr_participants_break(zkr_session *session, const char *node,
                           int64_t token, int64_t timeout_ms)
{
    struct breaking *b;
    int rc = zkr__session_check(session, "session");

    if (rc == ZKR_OK)
        rc = zkr__check_contender(session, kind.noun, node);
    if (rc == ZKR_OK && token == 0)
        rc = zkr__fail(ZKR_EINVAL, "break '%.300s': no node has the token 0",
                       node);
    if (rc != ZKR_OK)
        return rc;
    b = zkr__request_new(&kind, session, node,
                         zkr__session_deadline(session, timeout_ms),
                         ZKR_ZOPERATIONTIMEOUT);
    if (b == NULL)
        return ZKR_ENOMEM;
    b->token = token;
    rc = zkr__request_run(&b->request, look_locked);
    zkr__request_unref(&b->request);
    return rc;
}
