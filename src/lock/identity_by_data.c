/* SPDX-License-Identifier: Apache-2.0 */
/* An identity by data: the node is known by its data, or its czxid, because
 * others use the same name. */
#include <string.h>

#include "base/path.h"
#include "lock/claim.h"
#include "lock/line.h"

static bool has_data(const struct zkr__zk_reply *node, const char *data,
                     size_t len)
{
    return node->data_len == len && memcmp(node->data, data, len) == 0;
}

/* Returns the czxid of the node that a claim leaves, once it is known; else
 * 0. */
static int64_t left_as(const struct zkr__claim *c)
{
    return zkr__claim_in_state(c, ZKR__CLAIM_LEAVING)
               ? c->own.sweep.search.czxid
               : 0;
}

static bool knows(const struct zkr__claim *c, const struct zkr__zk_reply *node)
{
    return (c->node->path[0] != '\0' && c->node->czxid == node->stat.czxid) ||
           left_as(c) == node->stat.czxid ||
           has_data(node, c->node->record->data, c->node->record->len);
}

/* Tells whether it belongs to a claim of this session, also to one that has
 * left and could not delete it. All that use its name are in one line. */
static bool is_known_locked(const struct zkr__line *line,
                            const struct zkr__zk_reply *node) ZKR__LOCKED
{
    const struct zkr__list *claims = &line->claims;

    for (struct zkr__list *l = claims->next; l != claims; l = l->next) {
        if (knows(ZKR__CONTAINER(l, struct zkr__claim, of_line), node))
            return true;
    }
    return false;
}

/* After an unknown outcome it may be ours with data of somebody else, if no
 * claim of the session knows it. */
bool zkr__by_data_is_ours_locked(const struct zkr__claim *c,
                                 const struct zkr__zk_reply *node)
{
    return has_data(node, c->node->record->data, c->node->record->len) ||
           (c->node->thorough && !is_known_locked(c->lock->line, node));
}

/* Somebody else has written to a node of our session that no claim knows. If it
 * is not ours, it belongs to another claim that searches for it; that claim had
 * better lose the node than wait for ever. */
static bool matches(const struct zkr__search *search,
                    const struct zkr__zk_reply *node) ZKR__LOCKED
{
    if (search->czxid != 0 && node->stat.czxid == search->czxid)
        return true;
    if (node->stat.ephemeral_owner != search->op.session->id)
        return false;
    return has_data(node, search->data, search->data_len) ||
           (search->czxid == 0 && !is_known_locked(search->line, node));
}

static const char *find_ours(struct zkr__search *search,
                             const struct zkr__zk_reply *node)
{
    zkr__session_assert_locked(search->op.session);
    if (!matches(search, node))
        return NULL;
    search->czxid = node->stat.czxid; /* and no other claim's from now on */
    return zkr__path_name(search->path);
}

static void seek(const struct zkr__claim *c, struct zkr__search *search)
{
    search->dir = c->lock->dir;
    search->read = ZKR__ZK_GET;
    search->path = c->node->request_path;
    search->find = find_ours;
    search->czxid = c->node->path[0] == '\0' ? 0 : c->node->czxid;
    search->data = c->node->record->data;
    search->data_len = c->node->record->len;
    search->line = c->lock->line;
}

const struct zkr__identity zkr__by_data = { .seek = seek };
