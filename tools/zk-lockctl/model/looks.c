/* SPDX-License-Identifier: Apache-2.0 */
/* Watches locks, and compares each change with what was there before. */
#include "model/looks.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/lockctl.h"
#include "common/now.h"
#include "model/mirror.h"

enum { NOTES_MAX = 100 };

/* --- what was told last --- */

static int by_path(const void *a, const void *b)
{
    const struct view *x = a;
    const struct view *y = b;

    return strcmp(x->lock.path, y->lock.path);
}

static void free_view(struct view *view)
{
    lock_done(&view->lock);
    free(view->known);
    free(view);
}

static struct view *find(const struct looks *l, const struct view *like)
{
    struct view *const *found = tfind(like, &l->views, by_path);

    return found == NULL ? NULL : *found;
}

static void forget(struct looks *l, struct view *view)
{
    if (view == NULL)
        return;
    (void)tdelete(view, &l->views, by_path);
    free_view(view);
}

/* A lock without contenders need not be kept: it is like one that was never
 * seen. */
static bool keep(struct looks *l, struct view *view)
{
    if (view->lock.count == 0) {
        free_view(view);
        return true;
    }
    return tsearch(view, &l->views, by_path) != NULL;
}

/* --- one change --- */

/* Events that are no change of a contender. */
static void tell(const struct looks *l, struct event event)
{
    event.waited_ms = event.held_ms = -1;
    l->tell(&event, l->user);
}

static void tell_missed(const struct looks *l, const struct news *news)
{
    if (news->lost || news->missed > 0)
        tell(l, (struct event){ .kind = EVENT_MISSED,
                                .at_ms = news->lock.at_ms,
                                .lock = &news->lock,
                                .missed =
                                    news->lost ? -1 : (int64_t)news->missed });
}

/* Takes over the lock. A lock that was not kept was free before; with `first`
 * nothing is known of before. Returns false when out of memory. */
static bool take_news(struct looks *l, struct news *news, bool first)
{
    struct view none = { .lock = { .at_ms = news->before_ms } };
    struct view *after = calloc(1, sizeof(*after));
    struct view *before;
    bool told;

    if (after == NULL) {
        lock_done(&news->lock);
        return false;
    }
    after->lock = news->lock;
    before = first ? NULL : find(l, after);
    if (before != NULL && news->lock.error != ZKR_OK) {
        free_view(after); /* it may still be as it was */
        return true;
    }
    if (before != NULL)
        before->lock.at_ms = news->before_ms;
    if (!first)
        tell_missed(l, news);
    told =
        events_between(first            ? NULL
                       : before == NULL ? &none
                                        : before,
                       after, first && !l->initial ? NULL : l->tell, l->user);
    forget(l, before);
    if (told)
        return keep(l, after);
    free_view(after);
    return false;
}

/* --- the first look --- */

static int news_by_path(const void *a, const void *b)
{
    const struct news *x = a;
    const struct news *y = b;

    return strcmp(x->lock.path, y->lock.path);
}

/* Takes what is told as a first look. Ends before a lock that has changed since
 * its own: *ret_next, if *ret_more. Returns an error of the library. */
static int take_first(struct looks *l, struct news **ret_news,
                      size_t *ret_count, struct news *ret_next, bool *ret_more)
{
    struct news *added;
    int rc;

    while ((*ret_more = mirror_take(l->mirror, ret_next, &rc)) &&
           ret_next->first) {
        added = grow_array(ret_news, ret_count, sizeof(*added));
        if (added == NULL) {
            lock_done(&ret_next->lock);
            *ret_more = false;
            return ZKR_ENOMEM;
        }
        *added = *ret_next;
    }
    return rc;
}

/* The events of the first look are in the order of the paths. */
static int begin(struct looks *l)
{
    struct news *news = NULL;
    struct news next;
    size_t count = 0;
    bool more;
    int rc = take_first(l, &news, &count, &next, &more);

    if (rc == ZKR_OK)
        tell(l,
             (struct event){ .kind = EVENT_BEGIN, .at_ms = clock_wall_ms() });
    if (count > 0)
        qsort(news, count, sizeof(*news), news_by_path);
    for (size_t i = 0; i < count; i++) {
        if (!take_news(l, &news[i], true))
            rc = ZKR_ENOMEM;
    }
    free(news);
    if (more && !take_news(l, &next, false))
        rc = ZKR_ENOMEM;
    l->begun = true;
    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, "");
}

/* --- look after look --- */

/* A directory that was busy during the first look has its own, later. */
static int go_on(struct looks *l)
{
    struct news news;
    int64_t since_ms;
    int rc;

    if (mirror_take_break(l->mirror, &since_ms))
        tell(l, (struct event){ .kind = EVENT_RESYNC,
                                .at_ms = clock_wall_ms(),
                                .since_ms = since_ms });
    while (mirror_take(l->mirror, &news, &rc)) {
        if (!take_news(l, &news, news.first)) {
            rc = ZKR_ENOMEM;
            break; /* the next call would set it anew */
        }
    }
    return rc == ZKR_OK ? 0 : lockctl_fail_error(rc, "");
}

/* Each once. */
static void say_notes(struct looks *l)
{
    struct notes now = { .texts = NULL };

    mirror_note(l->mirror, &now);
    for (size_t i = 0; i < now.count && l->notes.count < NOTES_MAX; i++) {
        size_t before = l->notes.count;

        notes_add(&l->notes, "%s", now.texts[i]);
        if (l->notes.count > before)
            lockctl_say(l->ctl, "note: %s", now.texts[i]);
    }
    notes_done(&now);
}

int looks_next(struct looks *l)
{
    char detail[SCAN_DETAIL_MAX];
    int code = 0;
    int rc;

    if (!l->begun &&
        (!lockctl_is_connected(l->ctl) ||
         !mirror_is_ready(l->mirror, l->ctl->timeout_ms, &rc, detail)))
        return 0;
    if (!l->begun)
        code = rc == ZKR_OK ? begin(l) : lockctl_fail_error(rc, detail);
    if (code == 0)
        code = go_on(l);
    if (mirror_tick(l->mirror) && code == 0)
        say_notes(l);
    return code;
}

int looks_start(struct looks *l, void (*wake)(void *user))
{
    static const char *const all[] = { "/" };
    struct mirror_opts opts = { .session = l->ctl->session,
                                .paths = l->paths == NULL ? all : l->paths,
                                .path_count =
                                    l->paths == NULL ? 1 : l->path_count,
                                .below = l->paths == NULL,
                                .reads = SCAN_ALL,
                                .pause_ms = l->pause_ms,
                                .chroot_len = lockctl_chroot_len(l->ctl),
                                .wake = wake };
    int rc = mirror_start(&opts, &l->mirror);

    return rc == ZKR_OK ? 0 : lockctl_fail_zkr(rc);
}

void looks_done(struct looks *l)
{
    while (l->views != NULL)
        forget(l, *(struct view **)l->views);
    mirror_end(l->mirror);
    notes_done(&l->notes);
    *l = (struct looks){ .ctl = NULL };
}
