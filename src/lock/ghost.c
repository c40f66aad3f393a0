/* SPDX-License-Identifier: Apache-2.0 */
/* Ghosts: nodes that the server shows, and the ensemble does not have.
 *
 * A server can keep the ephemeral node of a session that is over
 * (ZOOKEEPER-4541 and -5010; we have seen it after a full disk). A claim that
 * waits for such a node through that server waits for ever. So a claim that has
 * waited for one node for long asks the leader, by a transaction of one `check`
 * of that path. It does not ask often, so this exception from "a claim that
 * holds nothing writes nothing" costs little.
 *
 * The answer "no such node" is given by the leader, for all that was committed
 * before it, and the answers of our server from then on are not older. When a
 * list still has the node, it is left out, and for good:
 *
 * - A node with a sequence number does not come back under its name while the
 *   directory lives: new ones get numbers above ours. The directory lives as
 *   long as our node, which is in it. So an answer counts only for the node of
 *   ours that we had when we asked; and a claim that left out a node is granted
 *   the lock only when the leader has found our node once more, after that
 *   answer and the list. This holds for names without a UUID, too.
 * - A reader that replaces a writer creates its node under a complete name,
 *   with the writer's number, so this name may come again. The reader is
 *   granted nothing without the writer's node, which we wait for before
 *   (queue.h). So when we ask about the reader's node, the ensemble has no
 *   writer's node.
 *
 * Only that answer of the leader proves anything here: no list and no read
 * does.
 *
 * Invariants. The timer is armed only while the claim is WAITING for a node of
 * another session (`waited`); leaving that state disarms it. A question may be
 * answered later: is_the_question() tells whether it is still that of this
 * wait. Then it is that of this node of ours, too: the answers of a session
 * come in order, and no question outlives its session. Ghosts are forgotten
 * with our node.
 *
 * Callers. wait.c, when a wait begins or ends; survey.c, which leaves ghosts
 * out of a list; adopt.c, when our node is another one. When the answer denies
 * the node, the claim is told CHANGED, and lists again. */
#include "lock/ghost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "base/random.h"
#include "lock/claim.h"
#include "session/timer_thread.h"

/* How many session timeouts a claim waits before it asks. Within one timeout
 * the servers notice that a session is over. */
#define PATIENCE  2
#define DELAY_MAX (INT64_C(3600) * 1000 * ZKR__MS)

struct zkr__ghost {
    struct zkr__ghost *next;
    bool seen; /* in a list, after the leader had denied it */
    char name[];
};

/* The last question. Most claims that wait ask none. */
struct ghost_question {
    struct zkr__op op;
    struct zkr__ghosts *ghosts;
    char path[];
};

/* Under the session lock. */
struct zkr__ghosts {
    struct zkr__claim *claim;
    char *waited;  /* the node that is waited for; NULL when out of memory */
    int64_t delay; /* from one question about `waited` to the next */
    int64_t due;   /* when the next question is asked */
    struct zkr__timer timer;
    struct ghost_question *question; /* NULL: none so far */

    struct zkr__ghost *first; /* ghosts found since we have this node */
};

void zkr__ghosts_forget(struct zkr__ghosts *g)
{
    struct zkr__ghost *ghost;

    while (g != NULL && (ghost = g->first) != NULL) {
        g->first = ghost->next;
        free(ghost);
    }
}

void zkr__ghosts_free(struct zkr__ghosts *g)
{
    if (g == NULL)
        return;
    zkr__ghosts_forget(g);
    free(g->waited);
    free(g->question);
    free(g);
}

static bool add(struct zkr__ghosts *g, const char *name)
{
    size_t size = strlen(name) + 1;
    struct zkr__ghost *ghost = calloc(1, sizeof(*ghost) + size);

    if (ghost == NULL)
        return false;
    memcpy(ghost->name, name, size);
    ghost->next = g->first;
    g->first = ghost;
    return true;
}

static bool is_waiting(const struct zkr__claim *c)
{
    return zkr__claim_acts_in(c, ZKR__CLAIM_WAITING) &&
           c->ghosts->waited != NULL;
}

static void on_due(struct zkr__timer *timer);

static void arm_locked(struct zkr__ghosts *g) ZKR__LOCKED
{
    zkr__timer_thread_disarm_locked(g->claim->session, &g->timer);
    zkr__timer_thread_arm_locked(g->claim->session, &g->timer, g->due, on_due);
}

/* It asks a little later than that, so that claims that came together ask
 * apart. */
static void put_off(struct zkr__ghosts *g)
{
    int64_t spread = (int64_t)(zkr__random() % (uint64_t)(g->delay / 8 + 1));

    g->due = zkr__clock_now() + g->delay + spread;
}

static void longer(struct zkr__ghosts *g)
{
    g->delay = g->delay < DELAY_MAX / 2 ? 2 * g->delay : DELAY_MAX;
    put_off(g);
}

/* The claim has not moved on since it asked. */
static bool is_the_question(const struct zkr__ghosts *g)
{
    const struct zkr__claim *c = g->claim;

    return !zkr__claim_is_over(c) && g->waited != NULL &&
           strcmp(g->waited, zkr__path_name(g->question->path)) == 0;
}

/* The leader has denied the node that we wait for. */
static void denied_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (!is_waiting(c) || c->wait.get.where != ZKR__OP_IDLE)
        return; /* it has gone here, too; or we are about to learn that */
    if (!add(c->ghosts, c->ghosts->waited))
        return;
    zkr__claim_event_locked(c, ZKR__ON_CHANGED,
                            "the ensemble has no such node");
}

static void on_answer(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__ghosts *g =
        ZKR__CONTAINER(op, struct ghost_question, op)->ghosts;
    struct zkr__claim *c = g->claim;
    bool same = is_the_question(g);

    zkr__session_assert_locked(c->session);
    if (same && reply->rc == ZKR_ZNONODE) {
        denied_locked(c);
    } else if (same && zkr__error_outcome(reply->rc) == ZKR__DONE) {
        longer(g);
        if (is_waiting(c))
            arm_locked(g);
    }
}

static struct ghost_question *new_question(struct zkr__ghosts *g)
{
    struct zkr__claim *c = g->claim;
    size_t size = strlen(c->lock->dir) + 1 + strlen(g->waited) + 1;
    struct ghost_question *q = calloc(1, sizeof(*q) + size);

    if (q == NULL)
        return NULL;
    zkr__op_init(&q->op, c->session, &c->ref);
    q->ghosts = g;
    (void)snprintf(q->path, size, "%s/%s", c->lock->dir, g->waited);
    return q;
}

static void ask_locked(struct zkr__ghosts *g) ZKR__LOCKED
{
    struct ghost_question *q = g->question;

    if (q != NULL && q->op.where != ZKR__OP_IDLE)
        return;
    free(q);
    q = g->question = new_question(g);
    if (q == NULL)
        return;
    zkr__op_start_locked(&q->op, ZKR__ZK_CHECK, q->path, ZKR__RETRY_NEVER,
                         on_answer);
}

static void on_due(struct zkr__timer *timer)
{
    struct zkr__ghosts *g = ZKR__CONTAINER(timer, struct zkr__ghosts, timer);

    zkr__session_assert_locked(g->claim->session);
    if (!is_waiting(g->claim))
        return;
    ask_locked(g);
    put_off(g);
    arm_locked(g);
}

bool zkr__ghosts_suspect_locked(struct zkr__claim *c, const char *name)
{
    if (c->ghosts == NULL)
        c->ghosts = calloc(1, sizeof(*c->ghosts));
    struct zkr__ghosts *g = c->ghosts;
    if (g == NULL)
        return false;
    g->claim = c;
    if (g->waited == NULL || strcmp(g->waited, name) != 0) {
        free(g->waited);
        g->waited = strdup(name);
        g->delay = PATIENCE * ZKR__MS * c->session->timeout_ms;
        put_off(g);
    }
    if (g->waited != NULL)
        arm_locked(g);
    return g->waited != NULL;
}

/* A question that was not sent is dropped: the next is due anyway. */
void zkr__ghosts_rest_locked(struct zkr__claim *c)
{
    struct zkr__ghosts *g = c->ghosts;

    if (g == NULL)
        return;
    zkr__timer_thread_disarm_locked(c->session, &g->timer);
    if (g->question != NULL)
        (void)zkr__op_cancel_locked(&g->question->op);
}

static void tell(struct zkr__claim *c, struct zkr__ghost *ghost)
{
    char server[ZKR__ZK_SERVER_MAX];

    if (ghost->seen)
        return;
    ghost->seen = true;
    (void)strcpy(server, "(unknown)");
    if (c->session->zk != NULL) /* the connector has not begun to close it */
        zkr__zk_server(c->session->zk, server);
    zkr__log(ZKR_LOG_WARNING,
             "%s '%s': server %s has node '%s' that the ensemble has not; it "
             "is left out",
             c->recipe->noun, c->lock->path, server, ghost->name);
}

bool zkr__ghosts_leave_out_locked(struct zkr__claim *c,
                                  struct zkr__queue *queue, bool out)
{
    struct zkr__ghost *first = c->ghosts == NULL ? NULL : c->ghosts->first;

    for (struct zkr__ghost *g = first; g != NULL; g = g->next) {
        size_t i = zkr__queue_find(queue, g->name);

        if (i == ZKR__NOBODY)
            continue;
        queue->all[i].left_out = out;
        tell(c, g);
    }
    return first != NULL;
}
