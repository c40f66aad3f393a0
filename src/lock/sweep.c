/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep: deletes that must be carried out, and are repeated until they are,
 * or the session is over. */
#include "lock/sweep.h"

#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "session/session.h"

void zkr__sweep_init(struct zkr__sweep *sweep, struct zkr_session *s,
                     struct zkr__ref *owner)
{
    *sweep = (struct zkr__sweep){ .node = NULL };
    zkr__op_init(&sweep->search.op, s, owner);
}

static void end_locked(struct zkr__sweep *sweep, int rc) ZKR__LOCKED
{
    bool refused = rc != ZKR_OK && zkr__error_outcome(rc) == ZKR__DONE;

    if (refused && !sweep->refused)
        zkr__log(ZKR_LOG_WARNING,
                 "cannot delete our node %s: %s. Others wait for it",
                 sweep->node, zkr_strerror(rc));
    else if (rc == ZKR_OK && sweep->refused)
        zkr__log(ZKR_LOG_WARNING, "our node %s is deleted at last",
                 sweep->node);
    sweep->refused = refused;
    sweep->done(sweep, rc);
}

static void on_found(struct zkr__search *search, int rc, const char *found);

static void search_locked(struct zkr__sweep *sweep) ZKR__LOCKED
{
    if (sweep->seek != NULL)
        sweep->seek(sweep);
    sweep->seek = NULL;
    zkr__search_start_locked(&sweep->search, ZKR__RETRY_ALWAYS, on_found);
}

/* Whether the node is deleted is not known, and the client does not repeat the
 * delete (of a path that all use): a read must tell first whose node it is now.
 */
static bool is_unknown(const struct zkr__sweep *sweep, int rc)
{
    enum zkr__outcome outcome = zkr__error_outcome(rc);

    return sweep->search.op.session->over == 0 &&
           (outcome == ZKR__UNKNOWN || outcome == ZKR__NOT_DONE ||
            rc == ZKR_ENOMEM);
}

static void on_deleted(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__sweep *sweep = ZKR__CONTAINER(op, struct zkr__sweep, search.op);

    zkr__session_assert_locked(op->session);
    op->class = ZKR__OP_OF_LOCKS; /* what it had to wait for has been sent */
    sweep->deleted = sweep->deleted || reply->rc == ZKR_OK;
    if (is_unknown(sweep, reply->rc))
        search_locked(sweep);
    else if (reply->rc != ZKR_OK && reply->rc != ZKR_ZNONODE)
        end_locked(sweep, reply->rc);
    else if (sweep->may_be_more) {
        sweep->search.gone = zkr__path_name(sweep->node);
        search_locked(sweep);
    } else {
        end_locked(sweep, ZKR_OK);
    }
}

static void delete_locked(struct zkr__sweep *sweep) ZKR__LOCKED
{
    zkr__op_start_locked(&sweep->search.op, ZKR__ZK_DELETE, sweep->node,
                         sweep->retry, on_deleted);
}

static void on_found(struct zkr__search *search, int rc, const char *found)
{
    struct zkr__sweep *sweep =
        ZKR__CONTAINER(search, struct zkr__sweep, search);

    zkr__session_assert_locked(search->op.session);
    if (rc != ZKR_OK || found == NULL) {
        end_locked(sweep, rc);
        return;
    }
    (void)snprintf(sweep->node, sweep->node_size, "%s/%s", search->dir, found);
    delete_locked(sweep);
}

void zkr__sweep_start_locked(struct zkr__sweep *sweep,
                             void (*done)(struct zkr__sweep *, int rc))
{
    sweep->done = done;
    if (sweep->node[0] != '\0')
        delete_locked(sweep);
    else
        search_locked(sweep);
}

/* A name that others use, too, may be theirs by now: a read tells first. */
void zkr__sweep_again_locked(struct zkr__sweep *sweep)
{
    if (sweep->retry == ZKR__RETRY_NEVER)
        search_locked(sweep);
    else
        zkr__sweep_start_locked(sweep, sweep->done);
}
