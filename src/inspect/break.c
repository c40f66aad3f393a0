/* Deleting the node of a contender, if it is the one that was seen. */
#include <zkrecipes/participants.h>

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "inspect/contender_path.h"
#include "session/call.h"
#include "session/session.h"

struct breaking {
    struct zkr__call call; /* first: see call.h */
    struct zkr__ask ask;
    int64_t token;
    bool sent; /* a delete whose answer has not come */
    char *node;
    char *path; /* with the chroot */
};

static void free_breaking(struct zkr__call *call)
{
    struct breaking *b = ZKR__CONTAINER(call, struct breaking, call);

    free(b->node);
    free(b->path);
    free(b);
}

static struct breaking *new_breaking(struct zkr_session *s, const char *node,
                                     int64_t token)
{
    struct breaking *b = calloc(1, sizeof(*b));

    if (b == NULL)
        return NULL;
    zkr__call_init(&b->call, s, free_breaking);
    zkr__ask_init(&b->ask, &b->call);
    b->token = token;
    b->node = strdup(node);
    b->path = zkr__path_join(s->hosts.chroot, node + 1);
    if (b->node == NULL || b->path == NULL) {
        zkr__call_unref(&b->call);
        return NULL;
    }
    b->call.noun = "break";
    b->call.path = b->node;
    return b;
}

static void look_locked(struct breaking *b);

/* What was lost on the way, or belongs to a session that is over, may have been
 * done. */
static bool is_unsure(int rc)
{
    enum zkr__outcome outcome = zkr__error_outcome(rc);

    return outcome == ZKR__UNKNOWN || outcome == ZKR__OVER;
}

static void on_delete(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct breaking *b = ZKR__CONTAINER(ask, struct breaking, ask);
    bool unsure = is_unsure(reply->rc);

    if (unsure || zkr__error_outcome(reply->rc) == ZKR__NOT_DONE) {
        b->sent = b->sent || unsure;
        look_locked(b);
        return;
    }
    if (reply->rc == ZKR__ZNONODE && b->sent)
        zkr__call_end_locked(ask->call, ZKR_OK, "");
    else
        zkr__call_end_locked(ask->call, reply->rc,
                             reply->rc == ZKR__ZNONODE
                                 ? "the node has gone"
                                 : "cannot delete the node");
}

static void on_exists(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct breaking *b = ZKR__CONTAINER(ask, struct breaking, ask);
    bool gone = reply->rc == ZKR__ZNONODE ||
                (reply->rc == ZKR_OK && reply->czxid != b->token);

    if (gone && b->sent)
        zkr__call_end_locked(ask->call, ZKR_OK, "");
    else if (reply->rc == ZKR__ZNONODE)
        zkr__call_end_locked(ask->call, reply->rc, "the node has gone");
    else if (reply->rc != ZKR_OK)
        zkr__call_end_locked(ask->call, reply->rc, "cannot look at the node");
    else if (gone)
        zkr__call_end_locked(ask->call, ZKR_ENOTHELD,
                             "another node has that name now");
    else
        zkr__call_ask_once_locked(ask, ZKR__ZK_DELETE, b->path, on_delete);
}

static void on_sync(struct zkr__ask *ask, const struct zkr__zk_reply *reply)
{
    struct breaking *b = ZKR__CONTAINER(ask, struct breaking, ask);

    /* Sync of a missing node succeeds on some servers, not on others. */
    if (reply->rc == ZKR_OK || reply->rc == ZKR__ZNONODE)
        zkr__call_ask_locked(ask, ZKR__ZK_EXISTS, b->path, on_exists);
    else
        zkr__call_end_locked(ask->call, reply->rc, "cannot catch up");
}

static void look_locked(struct breaking *b)
{
    zkr__call_ask_locked(&b->ask, ZKR__ZK_SYNC, b->path, on_sync);
}

static int break_unlocks(struct breaking *b, int64_t deadline)
{
    int rc = zkr__call_begin_locked(&b->call, deadline);

    if (rc != ZKR_OK)
        return rc;
    look_locked(b);
    return zkr__call_wait_unlocks(&b->call);
}

int zkr_participants_break(zkr_session *session, const char *node,
                           int64_t token, uint32_t timeout_ms)
{
    struct breaking *b;
    int rc = zkr__session_check(session, "session");

    if (rc == ZKR_OK)
        rc = zkr__contender_path_check(session, "break", node);
    if (rc == ZKR_OK && token == 0)
        rc = zkr__fail(ZKR_EINVAL, "break '%.300s': no node has the token 0",
                       node);
    if (rc != ZKR_OK)
        return rc;
    if (timeout_ms == 0)
        timeout_ms = session->opts.reply_timeout_ms;
    b = new_breaking(session, node, token);
    if (b == NULL)
        return zkr__fail(ZKR_ENOMEM, "break: out of memory");
    zkr__mtx_lock(&session->lock);
    rc = break_unlocks(b, zkr__clock_deadline(timeout_ms));
    zkr__call_leave_locked(&b->call);
    zkr__mtx_unlock(&session->lock);
    zkr__call_unref(&b->call);
    return rc;
}
