/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to one contender: its owner is asked to give the lock back
 * (revoke), or its node is deleted, if it is the one that was seen (break). */
#include <zkrecipes/participants.h>

#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "protocol/node_name.h"
#include "protocol/owner.h"
#include "request/request.h"
#include "session/session.h"

/* A lock path of ZKR_PATH_MAX and the name of a node, ours or another's. */
#define NODE_MAX (2 * ZKR_PATH_MAX)

struct deed {
    struct zkr__request request;
    int64_t token; /* of the node that is to be deleted */
    bool sent;     /* a delete whose answer has not come */
};

static const struct zkr__request_kind revoke = {
    .noun = "revoke",
    .size = sizeof(struct deed),
};

static const struct zkr__request_kind deletion = {
    .noun = "break",
    .size = sizeof(struct deed),
};

static int check(const struct zkr_session *s, const char *noun,
                 const char *node)
{
    int rc = zkr__session_check(s, "session");

    if (rc == ZKR_OK)
        rc = zkr__session_check_path(s, noun, "node", node, NODE_MAX);
    if (rc == ZKR_OK &&
        !zkr__node_name_contends(zkr__path_name(node), ZKR__ALL_MARKERS))
        rc = zkr__fail(ZKR_EPATH,
                       "%s '%.300s': the path does not end with the name of a "
                       "contender",
                       noun, node);
    return rc;
}

static int run(const struct zkr__request_kind *kind, struct zkr_session *s,
               const char *node, int64_t token, int64_t timeout_ms,
               void (*start_locked)(struct zkr__request *r))
{
    struct deed *d =
        zkr__request_new(kind, s, node, zkr__session_deadline(s, timeout_ms));

    if (d == NULL)
        return ZKR_ENOMEM;
    d->token = token;
    int rc = zkr__request_run(&d->request, start_locked);
    zkr__request_unref(&d->request);
    return rc;
}

/* Ends the request with the answer, in words if it is an error. */
static void end_locked(struct zkr__request *r, int rc,
                       const char *why) ZKR__LOCKED
{
    zkr__request_end_locked(r, rc,
                            rc == ZKR_ZNONODE ? "the node has gone" : why);
}

/* -- revoke ---------------------------------------------------------------- */

static void on_set(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    zkr__session_assert_locked(ask->request->session);
    end_locked(ask->request, reply->rc, "cannot write the data");
}

static void write_locked(struct zkr__request *r)
{
    zkr__session_assert_locked(r->session);
    r->ask.op.request.data = ZKR__REVOKE_MESSAGE;
    r->ask.op.request.data_len = strlen(ZKR__REVOKE_MESSAGE);
    zkr__ask_locked(&r->ask, ZKR__ZK_SET, r->full_path, ZKR__RETRY_POLICY,
                    on_set);
}

int zkr_participants_revoke(zkr_session *session, const char *node)
{
    int rc = check(session, revoke.noun, node);

    return rc == ZKR_OK ? run(&revoke, session, node, 0, 0, write_locked) : rc;
}

/* -- break ----------------------------------------------------------------- */

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
    struct deed *d = ZKR__CONTAINER(r, struct deed, request);
    bool unsure = is_unsure(reply->rc);

    zkr__session_assert_locked(r->session);
    if (unsure || zkr__error_outcome(reply->rc) == ZKR__NOT_DONE) {
        d->sent = d->sent || unsure;
        if (unsure)
            r->late = ZKR_EUNKNOWN;
        look_locked(r);
    } else if (reply->rc == ZKR_ZNONODE && d->sent) {
        end_locked(r, ZKR_OK, "");
    } else {
        end_locked(r, reply->rc, "cannot delete the node");
    }
}

static void on_exists(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct zkr__request *r = ask->request;
    struct deed *d = ZKR__CONTAINER(r, struct deed, request);
    bool gone = reply->rc == ZKR_ZNONODE ||
                (reply->rc == ZKR_OK && reply->stat.czxid != d->token);

    zkr__session_assert_locked(r->session);
    if (gone && d->sent)
        end_locked(r, ZKR_OK, "");
    else if (reply->rc != ZKR_OK)
        end_locked(r, reply->rc, "cannot look at the node");
    else if (gone)
        end_locked(r, ZKR_ENOTHELD, "another node has that name now");
    else
        zkr__ask_locked(ask, ZKR__ZK_DELETE, r->full_path, ZKR__RETRY_NEVER,
                        on_delete);
}

/* A sync of a missing node succeeds on some servers, and fails on others. A
 * write that is refused has come to the leader, too. */
static void on_caught_up(struct zkr__ask *ask,
                         const struct zkr__zk_reply *reply)
{
    struct zkr__request *r = ask->request;
    const struct deed *d = ZKR__CONTAINER(r, struct deed, request);

    zkr__session_assert_locked(r->session);
    if (reply->rc == ZKR_OK || reply->rc == ZKR_ZNONODE ||
        (reply->rc == ZKR_ZNOAUTH && d->sent))
        zkr__ask_locked(ask, ZKR__ZK_EXISTS, r->full_path, ZKR__RETRY_POLICY,
                        on_exists);
    else
        end_locked(r, reply->rc, "cannot catch up");
}

/* The server catches up with the leader first. After a delete that may be under
 * way that takes a write: a leader may answer a sync before a write that the
 * session has sent through another server. */
static void look_locked(struct zkr__request *r)
{
    const struct deed *d = ZKR__CONTAINER(r, struct deed, request);

    zkr__session_assert_locked(r->session);
    zkr__ask_locked(&r->ask, d->sent ? ZKR__ZK_CHECK : ZKR__ZK_SYNC,
                    r->full_path, ZKR__RETRY_POLICY, on_caught_up);
}

int zkr_participants_break(zkr_session *session, const char *node,
                           int64_t token, int64_t timeout_ms)
{
    int rc = check(session, deletion.noun, node);

    if (rc == ZKR_OK && token == 0)
        rc = zkr__fail(ZKR_EINVAL, "break '%.300s': no node has the token 0",
                       node);
    return rc == ZKR_OK
               ? run(&deletion, session, node, token, timeout_ms, look_locked)
               : rc;
}
