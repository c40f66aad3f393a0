/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a line: one request for all claims that need to know who is in
 * the queue. Those that wait for any contender to come or go share a watch,
 * too. */
#include "base/error.h"
#include "lock/claim.h"
#include "lock/line.h"
#include "session/session.h"
#include "session/watch.h"

static void on_list(struct zkr__op *op, const struct zkr__zk_reply *reply);

/* It is sent after the creates of all claims that it serves, on the same
 * connection, so it is answered after them, and shows their nodes. */
static void send_locked(struct zkr__line *line) ZKR__LOCKED
{
    if (line->session->over != 0)
        return; /* all claims are about to end */
    zkr__list_splice(&line->served, &line->next);
    line->list.request.watch = line->watched ? NULL : line->watch;
    zkr__op_start_locked(&line->list, ZKR__ZK_CHILDREN, line->dir,
                         ZKR__RETRY_POLICY, on_list);
}

static bool is_busy(const struct zkr__line *line)
{
    return line->list.where != ZKR__OP_IDLE || line->serving;
}

void zkr__line_ask_locked(struct zkr__claim *c)
{
    struct zkr__line *line = c->lock->line;
    bool more = c->more;

    c->more = false;
    zkr__list_remove(&c->place.ask);
    zkr__list_append(&line->next, &c->place.ask);
    if (!more && !is_busy(line))
        send_locked(line);
}

/* Nobody waits any more. The watch fires at the latest when the node of the
 * last one goes. */
static void look_away_locked(struct zkr__line *line) ZKR__LOCKED
{
    if (line->watch == NULL || is_busy(line) || !zkr__list_empty(&line->idle) ||
        !zkr__list_empty(&line->next))
        return;
    if (line->watched)
        zkr__watch_forget_locked(line->watch);
    else
        zkr__watch_drop_locked(line->watch);
    line->watch = NULL;
    line->watched = false;
}

/* A claim that has ended does not ask, and its line may have gone. */
void zkr__line_unask_locked(struct zkr__claim *c)
{
    if (!zkr__line_is_asked_locked(c))
        return;
    zkr__list_remove(&c->place.ask);
    look_away_locked(c->lock->line);
}

/* -- the watch ------------------------------------------------------------ */

static void on_changed(void *owner, bool deleted)
{
    struct zkr__line *line = owner;

    (void)deleted;
    zkr__session_assert_locked(line->session);
    line->watch = NULL;
    line->watched = false;
    zkr__line_wake_locked(line);
}

static bool make_watch_locked(struct zkr__line *line) ZKR__LOCKED
{
    if (line->watch != NULL)
        return true;
    line->watch =
        zkr__watch_new_locked(line->session, line->dir, true, line, on_changed);
    return line->watch != NULL;
}

/* A list that has not set the watch shows what was before: another one sets it.
 */
bool zkr__line_wait_locked(struct zkr__claim *c, bool listed)
{
    struct zkr__line *line = c->lock->line;

    if (!make_watch_locked(line))
        return false;
    if (listed && line->watched) {
        zkr__list_remove(&c->place.ask);
        zkr__list_append(&line->idle, &c->place.ask);
    } else {
        zkr__line_ask_locked(c);
    }
    return true;
}

/* Without memory for a watch zkr__line_wait_locked() tells them. */
void zkr__line_wake_locked(struct zkr__line *line)
{
    if (zkr__list_empty(&line->idle))
        return;
    (void)make_watch_locked(line);
    zkr__list_splice(&line->next, &line->idle);
    if (!is_busy(line))
        send_locked(line);
}

/* Tells whether the list has set it. */
static void watched_locked(struct zkr__line *line, int rc) ZKR__LOCKED
{
    struct zkr__watch *watch = line->list.request.watch;

    if (watch == NULL || line->watch != watch)
        return;
    line->watched = rc == ZKR_OK;
    if (line->watched)
        return;
    line->watch = NULL;
    zkr__watch_drop_locked(watch);
}

/* ------------------------------------------------------------------------- */

bool zkr__line_is_asked_locked(const struct zkr__claim *c)
{
    return !zkr__list_empty(&c->place.ask);
}

static void serve_locked(struct zkr__line *line, int rc,
                         struct zkr__queue *queue) ZKR__LOCKED
{
    struct zkr__news news = { .why = "listed", .rc = rc, .queue = queue };
    struct zkr__list *link;

    while ((link = zkr__list_pop(&line->served)) != NULL) {
        struct zkr__claim *c =
            ZKR__CONTAINER(link, struct zkr__claim, place.ask);

        zkr__claim_news_locked(c, ZKR__ON_LISTED, &news);
    }
}

static void on_list(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__line *line = ZKR__CONTAINER(op, struct zkr__line, list);
    struct zkr__queue queue = { .count = 0 };
    int rc = reply->rc;

    zkr__session_assert_locked(op->session);
    line->serving = true;
    watched_locked(line, rc);
    if (rc == ZKR_OK)
        rc = zkr__queue_parse(&queue, reply->names, reply->name_count,
                              line->markers);
    if (rc == ZKR_OK)
        zkr__line_see_locked(line, &reply->stat, &queue);
    serve_locked(line, rc, &queue);
    zkr__queue_done(&queue);
    line->serving = false;
    if (!zkr__list_empty(&line->next))
        send_locked(line);
    look_away_locked(line);
    zkr__line_advance_locked(line);
}
