/* SPDX-License-Identifier: Apache-2.0 */
/* The contention of a cohort: whether other contenders are in the queue. A list
 * says so, and a watch on the children of the directory tells when that may
 * have changed. Only a process that keeps a node to itself asks. */
#include "lock/cohort.h"

#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "lock/claim.h"

static void on_children_changed(void *owner, bool deleted)
{
    struct zkr__cohort *h = owner;

    (void)deleted;
    zkr__session_assert_locked(h->lock->session);
    h->watch = NULL;
    if (h->contention == ZKR__CONTENTION_NONE)
        h->contention = ZKR__CONTENTION_UNKNOWN;
    if (zkr__cohort_has_node(h))
        zkr__cohort_watch_dir_locked(h);
}

static enum zkr__contention judge(const struct zkr__claim *delegate,
                                  const struct zkr__zk_reply *list)
{
    const char *own = zkr__path_name(delegate->node->path);
    int64_t seq;

    for (size_t i = 0; i < list->name_count; i++) {
        if (zkr__node_name_parse(list->names[i], delegate->recipe->markers,
                                 &seq) != ZKR__FOREIGN &&
            strcmp(list->names[i], own) != 0)
            return ZKR__CONTENTION_SEEN;
    }
    return ZKR__CONTENTION_NONE;
}

static void seen_locked(struct zkr__cohort *h,
                        const struct zkr__zk_reply *list) ZKR__LOCKED
{
    if (!zkr__cohort_has_node(h)) {
        zkr__cohort_look_away_locked(h);
        return;
    }
    h->contention = judge(h->delegate, list);
    if (h->contention == ZKR__CONTENTION_NONE)
        h->passed = 0;
}

/* The list may have been asked for when the cohort had another delegate. It
 * counts all the same: had the node of this one come after it, the watch would
 * have told that first. */
static void on_looked(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__cohort *h = ZKR__CONTAINER(op, struct zkr__cohort, look);
    struct zkr__watch *w = h->watch;

    zkr__session_assert_locked(op->session);
    if (reply->rc == ZKR_OK) {
        seen_locked(h, reply);
    } else {
        h->watch = NULL;
        zkr__watch_not_set_locked(w, ZKR__ZK_CHILDREN, reply->rc);
        if (zkr__error_outcome(reply->rc) == ZKR__DONE)
            h->contention = ZKR__CONTENTION_SEEN; /* for all that we can see */
    }
    zkr__cohort_go_on_locked(h);
}

void zkr__cohort_watch_dir_locked(struct zkr__cohort *h)
{
    if (h->watch != NULL || h->contention == ZKR__CONTENTION_SEEN)
        return;
    h->watch = zkr__watch_new_locked(h->lock->session, h->lock->dir, h,
                                     on_children_changed);
    if (h->watch == NULL) {
        h->contention = ZKR__CONTENTION_SEEN; /* for all that we can see */
        return;
    }
    h->look.request.watch = h->watch;
    zkr__op_start_locked(&h->look, ZKR__ZK_CHILDREN, h->lock->dir,
                         ZKR__RETRY_ALWAYS, on_looked);
}

/* The delete of our own node uses up a watch that has been set. */
void zkr__cohort_look_away_locked(struct zkr__cohort *h)
{
    if (h->watch == NULL || h->look.where != ZKR__OP_IDLE)
        return; /* on_looked() */
    zkr__watch_forget_locked(h->watch);
    h->watch = NULL;
}
