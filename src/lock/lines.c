/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a session: finds them by path, and frees those that nobody
 * uses. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "lock/line.h"
#include "lock/locks.h"
#include "session/watch.h"

static int compare(const void *a, const void *b)
{
    const struct zkr__line *x = a;
    const struct zkr__line *y = b;
    int order = strcmp(x->dir, y->dir);

    return order != 0 ? order
                      : (x->markers > y->markers) - (x->markers < y->markers);
}

/* Without a connection the handle may be about to be closed, and its watches
 * freed. */
static void look_away_locked(struct zkr__line *line) ZKR__LOCKED
{
    if (line->look.watch == NULL)
        return;
    if (zkr__session_connected(line->session))
        zkr__watch_remove_locked(line->look.watch);
    else
        zkr__watch_forget_locked(line->look.watch);
}

/* Under the session lock. */
static void free_line(struct zkr__ref *ref)
{
    struct zkr__line *line = ZKR__CONTAINER(ref, struct zkr__line, ref);

    zkr__session_assert_locked(line->session);
    look_away_locked(line);
    zkr__list_remove(&line->link);
    (void)tdelete(line, &zkr__locks_of(line->session)->lines, compare);
    free(line);
}

static struct zkr__line *make_locked(struct zkr_session *s, const char *dir,
                                     uint32_t markers) ZKR__LOCKED
{
    struct zkr__line *line = calloc(1, sizeof(*line) + strlen(dir) + 1);

    if (line == NULL)
        return NULL;
    line->dir = strcpy(line->text, dir);
    line->session = s;
    line->markers = markers;
    zkr__list_init(&line->claims);
    zkr__list_init(&line->counted);
    zkr__list_init(&line->gone);
    zkr__list_init(&line->stuck);
    zkr__list_init(&line->served);
    zkr__list_init(&line->next);
    zkr__list_init(&line->idle);
    zkr__ref_init(&line->ref, free_line);
    zkr__op_init(&line->list, s, &line->ref);
    zkr__op_init(&line->look.op, s, &line->ref);
    zkr__line_forget_locked(line);
    if (tsearch(line, &zkr__locks_of(s)->lines, compare) == NULL) {
        free(line);
        return NULL;
    }
    zkr__list_append(&zkr__locks_of(s)->each_line, &line->link);
    return line;
}

struct zkr__line *zkr__line_use_locked(struct zkr_session *s, const char *dir,
                                       uint32_t markers)
{
    const struct zkr__line like = { .dir = dir, .markers = markers };
    struct zkr__line **place = tfind(&like, &zkr__locks_of(s)->lines, compare);

    if (place == NULL)
        return make_locked(s, dir, markers);
    zkr__ref_take(&(*place)->ref);
    return *place;
}

static void each_locked(struct zkr_session *s,
                        void (*fn)(struct zkr__line *)) ZKR__LOCKED
{
    const struct zkr__list *all = &zkr__locks_of(s)->each_line;

    for (struct zkr__list *l = all->next; l != all; l = l->next)
        fn(ZKR__CONTAINER(l, struct zkr__line, link));
}

void zkr__lines_forget_locked(struct zkr_session *s)
{
    each_locked(s, zkr__line_forget_locked);
}

static void flushed(struct zkr__line *line)
{
    zkr__session_assert_locked(line->session);
    line->watch = NULL;
    line->watched = false;
    line->list.request.watch = NULL; /* of a list that waits for the next one */
    line->look.watch = NULL;
    line->entered = false;
    zkr__line_forget_locked(line);
}

void zkr__lines_flushed_locked(struct zkr_session *s)
{
    each_locked(s, flushed);
}
