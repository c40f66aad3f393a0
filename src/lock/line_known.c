/* SPDX-License-Identifier: Apache-2.0 */
/* The knowledge of a line that needs no list: by the numbers that the server
 * gives out, and by which claims were granted the lock.
 *
 * The server counts every create in a directory, and no delete. So a node with
 * the number after that of our last one came right after it, if the server gave
 * out that one, too, and the directory is still the same one, which a watch
 * tells. */
#include "base/path.h"
#include "lock/claim.h"
#include "lock/line.h"
#include "session/session.h"

void zkr__line_forget_locked(struct zkr__line *line)
{
    line->generation++;
    line->directory = 0;
    line->cleared = ZKR__NO_OTHER;
    line->tail.generation = ZKR__NEVER_SEEN;
    line->contention = true;
}

/* -- the directory -------------------------------------------------------- */

static void on_directory_changed(void *owner, bool deleted)
{
    struct zkr__line *line = owner;

    (void)deleted; /* data that somebody wrote are rare: they count, too */
    zkr__session_assert_locked(line->session);
    line->look.watch = NULL;
    zkr__line_forget_locked(line);
}

static void on_look(struct zkr__op *op, const struct zkr__zk_reply *reply)
{
    struct zkr__line *line = ZKR__CONTAINER(op, struct zkr__line, look.op);

    zkr__session_assert_locked(op->session);
    if (reply->rc != ZKR_OK) {
        zkr__watch_drop_locked(line->look.watch);
        line->look.watch = NULL;
    }
}

static bool is_watched(const struct zkr__line *line)
{
    return line->look.watch != NULL && line->look.op.where == ZKR__OP_IDLE;
}

/* The first claim of a line does not watch: a program may make a lock for one
 * acquire. Without a connection the watch would belong to no handle. */
void zkr__line_watch_dir_locked(struct zkr__line *line)
{
    bool again = line->entered;

    line->entered = true;
    if (!again || !zkr__session_connected(line->session) ||
        line->look.watch != NULL || line->look.op.where != ZKR__OP_IDLE)
        return;
    line->look.watch = zkr__watch_new_locked(line->session, line->dir, false,
                                             line, on_directory_changed);
    if (line->look.watch == NULL)
        return; /* then every claim lists */
    line->look.op.request.watch = line->look.watch;
    zkr__op_start_locked(&line->look.op, ZKR__ZK_EXISTS, line->dir,
                         ZKR__RETRY_NEVER, on_look);
}

/* -- numbers -------------------------------------------------------------- */

static bool knows_tail(const struct zkr__line *line)
{
    return is_watched(line) && line->tail.generation == line->generation;
}

bool zkr__line_is_quiet_locked(const struct zkr__line *line)
{
    return knows_tail(line) && line->tail.other <= line->cleared &&
           !line->contention;
}

bool zkr__line_follows_locked(struct zkr__claim *c)
{
    struct zkr__line *line = c->lock->line;

    if (!knows_tail(line) || c->node->complete ||
        c->place.seq != line->tail.seq + 1) {
        line->contention = true;
        return false;
    }
    /* (1), by a number: nobody came in between */
    line->tail.seq = c->place.seq;
    c->place.generation = line->generation;
    c->place.other = line->tail.other;
    return true;
}

/* -- lists ---------------------------------------------------------------- */

static struct zkr__claim *of(struct zkr__list *link)
{
    return ZKR__CONTAINER(link, struct zkr__claim, place.link);
}

static size_t find(const struct zkr__queue *queue, const struct zkr__claim *c)
{
    return c->node->path[0] == '\0'
               ? ZKR__NOBODY
               : zkr__queue_find(queue, zkr__path_name(c->node->path));
}

static void mark(struct zkr__queue *queue, const struct zkr__list *claims,
                 bool left_out)
{
    for (struct zkr__list *l = claims->next; l != claims; l = l->next) {
        size_t i = find(queue, of(l));

        if (i == ZKR__NOBODY)
            continue;
        queue->all[i].ours = true;
        queue->all[i].left_out = left_out;
    }
}

static int64_t number_of(const struct zkr__queue *queue, size_t i)
{
    return i == ZKR__NOBODY ? ZKR__NO_OTHER : queue->all[i].seq;
}

void zkr__place_see_locked(struct zkr__claim *c, const struct zkr__queue *queue,
                           size_t self)
{
    c->place.generation = c->lock->line->generation;
    c->place.other = number_of(queue, zkr__queue_other(queue, self));
}

/* Others whose claims wait behind one of ours learn from this list, too: their
 * creates were answered before it, so it shows their nodes. A claim whose node
 * it does not show knows nothing from then on. */
static void refresh_locked(struct zkr__line *line,
                           const struct zkr__queue *queue) ZKR__LOCKED
{
    for (struct zkr__list *l = line->counted.next; l != &line->counted;
         l = l->next) {
        struct zkr__claim *c = of(l);
        size_t self;

        if (!c->place.behind || c->place.generation == line->generation)
            continue;
        self = find(queue, c);
        if (self == ZKR__NOBODY)
            continue;
        zkr__place_see_locked(c, queue, self);
        zkr__grant_watch_counts_locked(&c->grant);
    }
}

/* Tells whether `seq` is the number of the last create. It may not be: a reader
 * that was to be at its writer's place, or a node that a client has named, can
 * have a number that the server has yet to give out. `cversion` counts creates
 * and deletes, `children` is creates less deletes: their sum, modulo 2^32, is
 * twice the number of creates. The last one got the number of those before. */
static bool is_given_out(const struct zkr_stat *dir, int64_t seq)
{
    return (uint32_t)dir->cversion + (uint32_t)dir->children ==
           2 * (uint32_t)(seq + 1);
}

void zkr__line_see_locked(struct zkr__line *line, const struct zkr_stat *dir,
                          struct zkr__queue *queue)
{
    size_t last = queue->count - 1;

    if (dir->czxid != line->directory) {
        zkr__line_forget_locked(line);
        line->directory = dir->czxid;
    }
    mark(queue, &line->counted, false);
    mark(queue, &line->gone, true);
    zkr__queue_link(queue);
    refresh_locked(line, queue);
    line->contention = zkr__queue_other(queue, ZKR__NOBODY) != ZKR__NOBODY;
    if (queue->count == 0 || !is_watched(line) ||
        !is_given_out(dir, queue->all[last].seq))
        return;
    line->tail.generation = line->generation;
    line->tail.seq = queue->all[last].seq;
    line->tail.other = number_of(queue, zkr__queue_other(queue, ZKR__NOBODY));
}

/* -- grants --------------------------------------------------------------- */

bool zkr__place_is_clear_locked(const struct zkr__claim *c)
{
    const struct zkr__line *line = c->lock->line;

    /* (1) of the theorem: an answer of this generation has shown who is ahead,
     * and all up to `cleared` have gone. */
    return c->place.generation == line->generation &&
           c->place.other <= line->cleared;
}

/* Nobody is ahead of a claim that is granted the lock for itself, and nobody
 * will be: new nodes get higher numbers. */
void zkr__line_granted_locked(struct zkr__claim *c)
{
    struct zkr__line *line = c->lock->line;

    if (!c->place.counts || c->place.kind != ZKR__EXCLUSIVE)
        return;
    if (c->place.generation == line->generation)
        line->cleared = c->place.seq;
    zkr__line_advance_locked(line);
}
