/* Asking the owner of a node to give the lock back. */
#include <zkrecipes/participants.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "inspect/contender_path.h"
#include "lock/owner.h"
#include "session/call.h"
#include "session/session.h"

struct revoke {
    struct zkr__call call; /* first: see call.h */
    struct zkr__ask ask;
    char *node;
    char *path; /* with the chroot */
};

static void free_revoke(struct zkr__call *call)
{
    struct revoke *r = ZKR__CONTAINER(call, struct revoke, call);

    free(r->node);
    free(r->path);
    free(r);
}

static struct revoke *new_revoke(struct zkr_session *s, const char *node)
{
    struct revoke *r = calloc(1, sizeof(*r));

    if (r == NULL)
        return NULL;
    zkr__call_init(&r->call, s, free_revoke);
    zkr__ask_init(&r->ask, &r->call);
    r->node = strdup(node);
    r->path = zkr__path_join(s->hosts.chroot, node + 1);
    if (r->node == NULL || r->path == NULL) {
        zkr__call_unref(&r->call);
        return NULL;
    }
    r->call.noun = "revoke";
    r->call.path = r->node;
    return r;
}

static void on_set(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    zkr__call_end_locked(ask->call, reply->rc,
                         reply->rc == ZKR__ZNONODE ? "the node has gone"
                                                   : "cannot write the data");
}

static int revoke_unlocks(struct revoke *r)
{
    uint32_t timeout_ms = r->call.session->opts.reply_timeout_ms;
    int rc = zkr__call_begin_locked(&r->call, zkr__clock_deadline(timeout_ms));

    if (rc != ZKR_OK)
        return rc;
    r->ask.op.request.data = ZKR__REVOKE_MESSAGE;
    r->ask.op.request.data_len = strlen(ZKR__REVOKE_MESSAGE);
    zkr__call_ask_locked(&r->ask, ZKR__ZK_SET, r->path, on_set);
    return zkr__call_wait_unlocks(&r->call);
}

int zkr_participants_revoke(zkr_session *session, const char *node)
{
    struct revoke *r;
    int rc = zkr__session_check(session, "session");

    if (rc == ZKR_OK)
        rc = zkr__contender_path_check(session, "revoke", node);
    if (rc != ZKR_OK)
        return rc;
    r = new_revoke(session, node);
    if (r == NULL)
        return zkr__fail(ZKR_ENOMEM, "revoke: out of memory");
    zkr__mtx_lock(&session->lock);
    rc = revoke_unlocks(r);
    zkr__call_leave_locked(&r->call);
    zkr__mtx_unlock(&session->lock);
    zkr__call_unref(&r->call);
    return rc;
}
