/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a session: finds them by path, and frees those that nobody
 * uses. */
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "lock/line.h"
#include "lock/locks.h"
#include "session/watch.h"

static struct zkr__table *lines_of(const struct zkr_session *s)
{
    return &zkr__locks_of(s)->lines;
}

static struct zkr__line *of(struct zkr__entry *entry)
{
    return ZKR__CONTAINER(entry, struct zkr__line, entry);
}

static struct zkr__line *find_locked(struct zkr_session *s, const char *dir,
                                     uint32_t markers) ZKR__LOCKED
{
    struct zkr__entry *e = zkr__table_find(lines_of(s), zkr__hash(dir));

    for (; e != NULL; e = zkr__table_find_after(e)) {
        if (of(e)->markers == markers && strcmp(of(e)->dir, dir) == 0)
            return of(e);
    }
    return NULL;
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
    zkr__table_remove(lines_of(line->session), &line->entry);
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
    zkr__list_init(&line->members);
    zkr__list_init(&line->gone);
    zkr__list_init(&line->stuck);
    zkr__list_init(&line->served);
    zkr__list_init(&line->next);
    zkr__list_init(&line->idle);
    zkr__ref_init(&line->ref, free_line);
    zkr__op_init(&line->list, s, &line->ref);
    zkr__op_init(&line->look.op, s, &line->ref);
    zkr__line_forget_locked(line);
    zkr__table_add(lines_of(s), &line->entry, zkr__hash(dir));
    return line;
}

struct zkr__line *zkr__line_use_locked(struct zkr_session *s, const char *dir,
                                       uint32_t markers)
{
    struct zkr__line *line = find_locked(s, dir, markers);

    if (line == NULL)
        return make_locked(s, dir, markers);
    zkr__ref_take(&line->ref);
    return line;
}

static void each_locked(struct zkr_session *s,
                        void (*fn)(struct zkr__line *)) ZKR__LOCKED
{
    struct zkr__entry *e = NULL;

    while ((e = zkr__table_next(lines_of(s), e)) != NULL)
        fn(of(e));
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
