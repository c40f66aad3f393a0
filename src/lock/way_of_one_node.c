/* SPDX-License-Identifier: Apache-2.0 */
/* The way of the unfair mutex: one node, which a claim creates, or watches.
 *
 * The name says nothing about the owner. A node is ours if our session made it
 * and its data has the number of our claim. After an unknown outcome it is also
 * ours if somebody else has replaced its data, or we may not read them, and no
 * claim of the session knows the node. Who takes it first has it. */
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "lock/line.h"
#include "lock/rival.h"
#include "lock/steps.h"

/* -- whose node it is ----------------------------------------------------- */

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

static bool has_made(const struct zkr__claim *c,
                     const struct zkr__zk_reply *node)
{
    return has_data(node, c->node->record->data, c->node->record->len);
}

/* Tells whether the claim has taken the node for its own. One that leaves, and
 * could not delete it, has. */
static bool has_taken(const struct zkr__claim *c,
                      const struct zkr__zk_reply *node)
{
    return (c->node->path[0] != '\0' && c->node->czxid == node->stat.czxid) ||
           left_as(c) == node->stat.czxid;
}

/* Tells whether `has` is true of any claim of this session. All claims that use
 * this path are in one line. */
static bool any_locked(const struct zkr__line *line,
                       bool (*has)(const struct zkr__claim *,
                                   const struct zkr__zk_reply *),
                       const struct zkr__zk_reply *node) ZKR__LOCKED
{
    const struct zkr__list *claims = &line->claims;

    for (struct zkr__list *l = claims->next; l != claims; l = l->next) {
        if (has(ZKR__CONTAINER(l, struct zkr__claim, of_line), node))
            return true;
    }
    return false;
}

/* Tells whether a claim may take it: one that has made it or, if it may have,
 * one that finds a node which no claim of the session has made. */
static bool may_take_locked(const struct zkr__line *line, bool made,
                            bool perhaps,
                            const struct zkr__zk_reply *node) ZKR__LOCKED
{
    return !any_locked(line, has_taken, node) &&
           (made || (perhaps && !any_locked(line, has_made, node)));
}

static bool is_ours_locked(const struct zkr__claim *c,
                           const struct zkr__zk_reply *node) ZKR__LOCKED
{
    return may_take_locked(c->lock->line, has_made(c, node),
                           c->node->may_be_more, node);
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
    return may_take_locked(search->line,
                           has_data(node, search->data, search->data_len),
                           search->czxid == 0, node);
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

/* -- the steps ------------------------------------------------------------- */

/* A try waits, too, when the node may be its own. */
static void exists(struct zkr__claim *c, const struct zkr__news *news)
{
    zkr__session_assert_locked(c->session);
    if (c->intent != ZKR__WAIT && !c->node->may_be_more)
        zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held by '%s'",
                                  c->node->request_path);
    else
        zkr__claim_event_locked(c, ZKR__ON_AHEAD, news->why);
}

static void take(struct zkr__claim *c, const struct zkr__news *news)
{
    (void)news;
    zkr__session_assert_locked(c->session);
    c->node->complete = true;
    (void)strcpy(c->node->name, ZKR__UNFAIR_NAME);
    zkr__claim_create_locked(c);
}

static void busy_locked(struct zkr__claim *c) ZKR__LOCKED
{
    char text[ZKR__RIVAL_MAX];

    zkr__rival_describe(c->wait.rival, text);
    zkr__claim_give_up_locked(c, ZKR_EBUSY, "is held by '%s'%s",
                              c->node->request_path, text);
}

static void read(struct zkr__claim *c, const struct zkr__news *news)
{
    zkr__session_assert_locked(c->session);
    if (is_ours_locked(c, news->node) &&
        zkr__claim_adopt(c, c->node->request_path, news->node) == ZKR_OK)
        zkr__claim_event_locked(c, ZKR__ON_UNPROVEN, "found, and ours");
    else if (c->intent != ZKR__WAIT)
        busy_locked(c);
}

/* clang-format off */
static const struct zkr__reaction reactions[ZKR__CLAIM_STATES][ZKR__EVENTS] = {
    ZKR__MOVES(IDLE,      ACQUIRE,   ENROLLING, take),
    ZKR__MOVES(IDLE,      TRY,       ENROLLING, take),

    ZKR__CALLS(ENROLLING, CREATED,   zkr__claim_turn),
    ZKR__MOVES(ENROLLING, PROVEN,    HELD,      zkr__claim_hold),
    ZKR__MOVES(ENROLLING, UNPROVEN,  PROVING,   zkr__claim_prove),
    ZKR__MOVES(ENROLLING, UNKNOWN,   WAITING,   zkr__claim_watch_rival),
    ZKR__CALLS(ENROLLING, EXISTS,    exists),
    ZKR__MOVES(ENROLLING, AHEAD,     WAITING,   zkr__claim_watch_rival),

    ZKR__MOVES(WAITING,   CHANGED,   ENROLLING, take),
    ZKR__CALLS(WAITING,   READ,      read),
    ZKR__CALLS(WAITING,   DUE,       zkr__claim_relist),

    ZKR__WITH_A_NODE(take),
};
/* clang-format on */

const struct zkr__way zkr__by_creating_it = {
    .seek = seek,
    .reactions = reactions,
    .exits = { [ZKR__CLAIM_WAITING] = zkr__claim_stop_waiting,
               [ZKR__CLAIM_PROVING] = zkr__claim_stop_proving,
               [ZKR__CLAIM_HELD] = zkr__claim_stop_holding },
};
