/* SPDX-License-Identifier: Apache-2.0 */
/* A revoke: asks the owner of a node to give the lock back. */
#include <zkrecipes/participants.h>

#include <string.h>

#include "base/error.h"
#include "inspect/check.h"
#include "protocol/owner.h"
#include "session/call.h"
#include "session/session.h"

struct revoke {
    struct zkr__call call; /* first: see call.h */
    struct zkr__ask ask;
};

static const struct zkr__call_type type = {
    .noun = "revoke",
    .size = sizeof(struct revoke),
};

static void on_set(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    zkr__session_assert_locked(ask->call->session);
    zkr__call_end_locked(ask->call, reply->rc,
                         reply->rc == ZKR_ZNONODE ? "the node has gone"
                                                  : "cannot write the data");
}

static void write_locked(struct zkr__call *call) ZKR__LOCKED
{
    struct revoke *r = ZKR__CONTAINER(call, struct revoke, call);

    zkr__session_assert_locked(call->session);
    r->ask.op.request.data = ZKR__REVOKE_MESSAGE;
    r->ask.op.request.data_len = strlen(ZKR__REVOKE_MESSAGE);
    zkr__call_ask_locked(&r->ask, ZKR__ZK_SET, call->full_path, on_set);
}

enum zkr_error zkr_participants_revoke(zkr_session *session, const char *node)
{
    struct revoke *r;
    int rc = zkr__session_check(session, "session");

    if (rc == ZKR_OK)
        rc = zkr__check_contender(session, type.noun, node);
    if (rc != ZKR_OK)
        return rc;
    r = zkr__call_new(&type, session, node, 0);
    if (r == NULL)
        return ZKR_ENOMEM;
    zkr__ask_init(&r->ask, &r->call);
    rc = zkr__call_run(&r->call, write_locked);
    zkr__call_unref(&r->call);
    return rc;
}
