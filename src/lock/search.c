/* SPDX-License-Identifier: Apache-2.0 */
/* A search for our own node, when a reply did not come. */
#include "lock/search.h"

#include <string.h>

#include "base/error.h"
#include "lock/claim.h"

void zkr__search_init(struct zkr__search *search, struct zkr_session *s,
                      struct zkr__ref *owner)
{
    *search = (struct zkr__search){ .dir = NULL };
    zkr__op_init(&search->op, s, owner);
}

static void on_read(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__search *search = ZKR__CONTAINER(op, struct zkr__search, op);
    const char *found = NULL;

    if (reply->rc == ZKR_OK)
        found = search->find(search, reply);
    search->done(search, reply->rc == ZKR_ZNONODE ? ZKR_OK : reply->rc, found);
}

/* Every answer is one that the quorum has agreed on. */
static void on_written(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__search *search = ZKR__CONTAINER(op, struct zkr__search, op);

    zkr__session_assert_locked(op->session);
    if (zkr__error_outcome(reply->rc) != ZKR__DONE || reply->rc == ZKR_ENOMEM)
        search->done(search, reply->rc, NULL);
    else
        zkr__op_start_locked(op, search->read, search->path, op->retry,
                             on_read);
}

void zkr__search_start_locked(struct zkr__search *search,
                              enum zkr__op_retry retry,
                              void (*done)(struct zkr__search *, int rc,
                                           const char *found))
{
    search->done = done;
    zkr__op_start_locked(&search->op, ZKR__ZK_CHECK, search->dir, retry,
                         on_written);
}

/* -- by name -------------------------------------------------------------- */

static bool matches(const struct zkr__search *search, const char *name,
                    int64_t *ret_seq)
{
    return strncmp(name, search->tag, search->tag_len) == 0 &&
           strlen(name) < ZKR__NODE_MAX &&
           (search->gone == NULL || strcmp(name, search->gone) != 0) &&
           zkr__node_name_parse(name, search->markers, ret_seq) != ZKR__FOREIGN;
}

static const char *find_lowest(struct zkr__search *search,
                               const struct zkr__zk_reply *list)
{
    const char *found = NULL;
    int64_t lowest = 0;

    for (size_t i = 0; i < list->name_count; i++) {
        int64_t seq;

        if (!matches(search, list->names[i], &seq) ||
            (found != NULL && seq >= lowest))
            continue;
        lowest = seq;
        found = list->names[i];
    }
    return found;
}

void zkr__seek_by_name(const struct zkr__claim *c, struct zkr__search *search)
{
    search->dir = c->lock->dir;
    search->read = ZKR__ZK_CHILDREN;
    search->path = c->lock->dir;
    search->find = find_lowest;
    search->tag = c->node->name;
    search->tag_len = zkr__node_name_tag_len(c->lock->layout);
    search->markers = c->recipe->markers;
}
