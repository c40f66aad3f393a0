/* SPDX-License-Identifier: Apache-2.0 */
/* A revoke: asks the owner of a node to give the lock back. */
#include <zkrecipes/participants.h>

#include <string.h>

#include "base/error.h"
#include "inspect/check.h"
#include "protocol/owner.h"
#include "request/request.h"
#include "session/session.h"

static const struct zkr__request_kind kind = {
    .noun = "revoke",
    .size = sizeof(struct zkr__request),
};

static void on_set(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    zkr__session_assert_locked(ask->request->session);
    zkr__request_end_locked(ask->request, reply->rc,
                            reply->rc == ZKR_ZNONODE ? "the node has gone"
                                                     : "cannot write the data");
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
    struct zkr__request *r;
    int rc = zkr__session_check(session, "session");

    if (rc == ZKR_OK)
        rc = zkr__check_contender(session, kind.noun, node);
    if (rc != ZKR_OK)
        return rc;
    r = zkr__request_new(&kind, session, node,
                         zkr__session_deadline(session, 0),
                         ZKR_ZOPERATIONTIMEOUT);
    if (r == NULL)
        return ZKR_ENOMEM;
    rc = zkr__request_run(r, write_locked);
    zkr__request_unref(r);
    return rc;
}
