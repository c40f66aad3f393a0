/* SPDX-License-Identifier: Apache-2.0 */
/* The line: which claims of the session count in the queue of a lock, in what
 * order, and whose turn has come.
 *
 * Purpose. Claims of one session know of each other, so one that waits behind
 * another of the session need not ask the servers when that one is given back:
 * it is granted the lock without a request. The theorem in docs/design.md, "The
 * line", says when, by five conditions; the lines that check them, here and in
 * line_known.c, grant_watch.c, wait.c, prove.c and leave.c, name them by their
 * numbers.
 *
 * Invariants. A claim is in `counted` from the answer to its create (beside a
 * grant: from its start) until it is given back or gives up; the list is in the
 * order of the queue. Then it is in `gone` until its node is deleted, because
 * lists may show that node for a while; or in `stuck`, when the servers refuse
 * the delete: then it is a stranger's node to all, and the generation ends.
 * `place.behind` is true only while the claim is WAITING for another of
 * `counted`; it has no watch then, and nothing but this file wakes it.
 *
 * Callers. The steps, when a claim joins, leaves, sticks or drops out;
 * grant_watch.c, when a node that a waiting claim watches has answered;
 * line_list.c, after a list. Each of these may let others advance.
 *
 * Objections. Advancing grants the lock, and a grant advances: so no advance
 * begins inside of another one, or while a list is handed out. Who is told of a
 * grant in the middle of that step ends no claim there, so no claim leaves the
 * list inside of a walk. Walking over all of them would be quadratic: only the
 * first WATCHED behind an exclusive one can be next. */
#include "lock/line.h"

#include <assert.h>

#include "base/path.h"
#include "lock/claim.h"

/* So many claims behind the first one watch their own nodes: each of them can
 * be granted the lock at once. The watch takes a round trip, in which several
 * may be given back. */
#define WATCHED 16

static struct zkr__claim *of(struct zkr__list *link)
{
    return ZKR__CONTAINER(link, struct zkr__claim, place.link);
}

/* -- in and out ----------------------------------------------------------- */

static const char *node_name(const struct zkr__claim *c)
{
    return c->node->path[0] == '\0' ? c->node->name
                                    : zkr__path_name(c->node->path);
}

static bool is_ahead(const struct zkr__claim *a, const struct zkr__claim *b)
{
    struct zkr__contender x = { node_name(a), .seq = a->place.seq,
                                .kind = a->place.kind };
    struct zkr__contender y = { node_name(b), .seq = b->place.seq,
                                .kind = b->place.kind };

    return zkr__queue_compare(&x, &y) < 0;
}

/* Mostly it is the last. */
static void insert_locked(struct zkr__line *line,
                          struct zkr__claim *c) ZKR__LOCKED
{
    struct zkr__list *before = line->counted.prev;

    while (before != &line->counted && !is_ahead(of(before), c))
        before = before->prev;
    zkr__list_append(before->next, &c->place.link);
}

void zkr__line_join_locked(struct zkr__claim *c)
{
    struct zkr__line *line = c->lock->line;

    zkr__list_remove(&c->place.link);
    c->place.kind =
        zkr__node_name_parse(node_name(c), c->recipe->markers, &c->place.seq);
    c->place.counts = true;
    c->place.generation = ZKR__NEVER_SEEN;
    insert_locked(line, c);
}

/* Returns true when it may be the turn of another claim now. A reader that is
 * not the first keeps nobody waiting by itself: who waits for it waits for a
 * node before it, too. */
static bool count_out_locked(struct zkr__claim *c) ZKR__LOCKED
{
    bool first = c->lock->line->counted.next == &c->place.link;
    bool matters =
        c->place.counts && (first || c->place.kind == ZKR__EXCLUSIVE);

    zkr__list_remove(&c->place.link);
    c->place.counts = false;
    c->place.stuck = false;
    return matters;
}

void zkr__line_leave_locked(struct zkr__claim *c)
{
    bool matters = count_out_locked(c);

    zkr__list_append(&c->lock->line->gone, &c->place.link);
    if (matters)
        zkr__line_advance_locked(c->lock->line);
}

void zkr__line_stick_locked(struct zkr__claim *c)
{
    zkr__line_drop_locked(c);
    zkr__list_append(&c->lock->line->stuck, &c->place.link);
    c->place.stuck = true;
    zkr__line_forget_locked(c->lock->line);
}

void zkr__line_unstick_locked(struct zkr__line *line)
{
    struct zkr__list *l = line->stuck.next;

    for (; l != &line->stuck; l = l->next)
        zkr__claim_event_locked(of(l), ZKR__ON_DUE, "another comes");
}

void zkr__line_drop_locked(struct zkr__claim *c)
{
    if (!zkr__list_empty(&c->place.ask))
        zkr__line_unask_locked(c);
    if (count_out_locked(c))
        zkr__line_advance_locked(c->lock->line);
}

/* -- whose turn it is ----------------------------------------------------- */

struct zkr__claim *zkr__line_ahead_locked(const struct zkr__claim *c)
{
    const struct zkr__list *counted = &c->lock->line->counted;

    for (struct zkr__list *l = c->place.link.prev; l != counted; l = l->prev) {
        struct zkr__nearest nearest = ZKR__NEAREST_INIT;

        zkr__nearest_pass(&nearest, 0, of(l)->place.kind);
        /* (2) of the theorem: none of ours is ahead */
        if (of(l) != zkr__claim_beside(c) &&
            c->recipe->waits_for(&nearest) != ZKR__NOBODY)
            return of(l);
    }
    return NULL;
}

/* A reader beside its writer counts from before its create on. So a list of a
 * claim behind it may not show it, when the writer is given back meanwhile. */
const struct zkr__claim *
zkr__line_beside_ahead_locked(const struct zkr__claim *c)
{
    const struct zkr__list *counted = &c->lock->line->counted;

    if (c->place.kind != ZKR__EXCLUSIVE)
        return NULL;
    for (struct zkr__list *l = c->place.link.prev; l != counted; l = l->prev) {
        if (of(l)->beside != NULL)
            return of(l);
    }
    return NULL;
}

/* None of ours is ahead of a claim that waited for one. Its own node must be
 * there: it is watched, or a list will tell. */
static void is_first_locked(struct zkr__claim *c) ZKR__LOCKED
{
    if (zkr__place_is_clear_locked(c)) { /* (1) of the theorem */
        /* (3): its node is there; TURN then asks for (4), the lease: prove.c */
        if (zkr__grant_node_is_there_locked(&c->grant)) {
            zkr__claim_event_locked(c, ZKR__ON_TURN,
                                    "the one before us has given it back");
            return;
        }
        if (zkr__grant_watch_ahead_locked(&c->grant))
            return; /* its answer advances the line */
    }
    zkr__claim_event_locked(c, ZKR__ON_CHANGED, "first of ours");
}

static void walk_locked(struct zkr__line *line) ZKR__LOCKED
{
    struct zkr__nearest nearest = ZKR__NEAREST_INIT;
    size_t behind = 0;
    size_t i = 0;

    for (struct zkr__list *l = line->counted.next;
         l != &line->counted && behind < WATCHED; l = l->next) {
        struct zkr__claim *c = of(l);

        behind += nearest.exclusive != ZKR__NOBODY;
        if (c->place.behind) {
            /* (2) of the theorem: none of ours is ahead; one with an unanswered
             * guarded write counts yet, which is (5): leave.c */
            if (c->recipe->waits_for(&nearest) == ZKR__NOBODY)
                is_first_locked(c);
            else
                (void)zkr__grant_watch_ahead_locked(&c->grant);
        }
        assert(c->place.counts);
        zkr__nearest_pass(&nearest, i++, c->place.kind);
    }
}

/* A claim that is granted the lock inside of this does not advance the line
 * once more: the walk goes on behind it. */
void zkr__line_advance_locked(struct zkr__line *line)
{
    if (line->advancing || line->serving)
        return;
    line->advancing = true;
    walk_locked(line);
    line->advancing = false;
}
