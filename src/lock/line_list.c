/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a line: one request for all claims that need to know who is in
 * the queue. */
#include "base/error.h"
#include "lock/claim_steps.h"
#include "lock/line.h"
#include "session/session.h"

static void on_list(struct zkr__op *op, const struct zkr__zk_reply *reply);

/* It is sent after the creates of all claims that it serves, on the same
 * connection, so it is answered after them, and shows their nodes. */
static void send_locked(struct zkr__line *line) ZKR__LOCKED
{
    if (line->session->over != 0)
        return; /* all claims are about to end */
    zkr__list_splice(&line->served, &line->next);
    zkr__line_ref_locked(line);
    zkr__op_start_locked(&line->list, ZKR__ZK_SURVEY, line->dir,
                         ZKR__RETRY_POLICY, on_list);
}

void zkr__line_ask_locked(struct zkr__claim *c)
{
    struct zkr__line *line = c->lock->line;

    zkr__line_unask_locked(c);
    zkr__list_append(&line->next, &c->place.ask);
    if (line->list.where == ZKR__OP_IDLE && !line->serving)
        send_locked(line);
}

void zkr__line_unask_locked(struct zkr__claim *c)
{
    zkr__list_remove(&c->place.ask);
}

bool zkr__line_is_asked_locked(const struct zkr__claim *c)
{
    return !zkr__list_empty(&c->place.ask);
}

static void serve_locked(struct zkr__line *line, int rc,
                         struct zkr__queue *queue) ZKR__LOCKED
{
    struct zkr__list *link;

    while ((link = zkr__list_pop(&line->served)) != NULL)
        zkr__claim_listed_locked(
            ZKR__CONTAINER(link, struct zkr__claim, place.ask), rc, queue);
}

static void on_list(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__line *line = ZKR__CONTAINER(op, struct zkr__line, list);
    struct zkr__queue queue = { .count = 0 };
    int rc = reply->rc;

    zkr__session_assert_locked(op->session);
    line->serving = true;
    if (rc == ZKR_OK)
        rc = zkr__queue_parse(&queue, reply->names, reply->name_count,
                              line->markers);
    if (rc == ZKR_OK)
        zkr__line_see_locked(line, reply->stat.czxid, &queue);
    serve_locked(line, rc, &queue);
    zkr__queue_done(&queue);
    line->serving = false;
    if (!zkr__list_empty(&line->next))
        send_locked(line);
    zkr__line_advance_locked(line);
    zkr__line_unref_locked(line);
}
