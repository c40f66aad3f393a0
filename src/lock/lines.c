/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a session: finds them by path, and frees those that nobody
 * uses. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "lock/line.h"
#include "lock/locks.h"
#include "session/watch.h"

static struct zkr__list *row_of(struct zkr_session *s, const char *dir)
{
    return &zkr__locks_of(s)->lines[zkr__hash(dir) % ZKR__LINE_ROWS];
}

static struct zkr__line *of(struct zkr__list *link)
{
    return ZKR__CONTAINER(link, struct zkr__line, link);
}

static struct zkr__line *find_locked(struct zkr_session *s, const char *dir,
                                     uint32_t markers) ZKR__LOCKED
{
    struct zkr__list *row = row_of(s, dir);

    for (struct zkr__list *l = row->next; l != row; l = l->next) {
        if (of(l)->markers == markers && strcmp(of(l)->dir, dir) == 0)
            return of(l);
    }
    return NULL;
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
    zkr__list_init(&line->members);
    zkr__list_init(&line->gone);
    zkr__list_init(&line->stuck);
    zkr__list_init(&line->served);
    zkr__list_init(&line->next);
    zkr__list_init(&line->idle);
    zkr__op_init(&line->list, s);
    zkr__op_init(&line->look.op, s);
    zkr__line_forget_locked(line);
    zkr__list_append(row_of(s, dir), &line->link);
    return line;
}

struct zkr__line *zkr__line_use_locked(struct zkr_session *s, const char *dir,
                                       uint32_t markers)
{
    struct zkr__line *line = find_locked(s, dir, markers);

    if (line == NULL)
        line = make_locked(s, dir, markers);
    if (line != NULL)
        line->users++;
    return line;
}

void zkr__line_ref_locked(struct zkr__line *line)
{
    line->users++;
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

void zkr__line_unref_locked(struct zkr__line *line)
{
    if (--line->users > 0)
        return;
    look_away_locked(line);
    zkr__list_remove(&line->link);
    free(line);
}

static void each_locked(struct zkr_session *s,
                        void (*fn)(struct zkr__line *)) ZKR__LOCKED
{
    struct zkr__list *rows = zkr__locks_of(s)->lines;

    for (int i = 0; i < ZKR__LINE_ROWS; i++) {
        for (struct zkr__list *l = rows[i].next; l != &rows[i]; l = l->next)
            fn(of(l));
    }
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
    line->look.watch = NULL;
    line->look.refused = false;
    line->entered = false;
    zkr__line_forget_locked(line);
}

void zkr__lines_flushed_locked(struct zkr_session *s)
{
    each_locked(s, flushed);
}
